#include "redouble/sim/world/journal.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <memory>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Command;
using store::CommandId;
using store::Reply;

// The engine replies at once, and these commands cannot fail.
Reply Ask(memory::Session& session, const Command& command) {
  absl::StatusOr<Reply> reply = base::Run(
      [](memory::Session& asked, const Command& what) -> base::Task<absl::StatusOr<Reply>> {
        co_return co_await asked.Execute(what);
      }(session, command));
  assert(reply.ok() && !reply->is_error());
  return *std::move(reply);
}

std::unique_ptr<memory::Session> ConnectTo(memory::Engine& engine, int db) {
  std::unique_ptr<memory::Session> session = engine.Connect();
  session->Select(db);
  return session;
}

}  // namespace

Journal::Journal(memory::Engine& engine) : engine_(engine) {
  engine.SetKeyspaceListener([this](const memory::KeyspaceEvent& event) {
    changed_.emplace(event.db, std::string(event.key));
  });
}

Journal::~Journal() { engine_.SetKeyspaceListener({}); }

void Journal::Note(int db, const Command& command) {
  if (command.id() == CommandId::kUnknown) return;
  const store::CommandSpec& spec = store::SpecOf(command.id());
  if (spec.Has(store::command_flag::kReadOnly)) return;
  if (command.id() == CommandId::kFlushAll || command.id() == CommandId::kFlushDb ||
      command.id() == CommandId::kSwapDb) {
    NoteAll();
    return;
  }
  const std::optional<std::vector<size_t>> indexes = store::KeyIndexes(spec, command.arguments());
  if (!indexes.has_value()) return;
  for (const size_t index : *indexes) {
    changed_.emplace(db, std::string(command.arguments()[index]));
  }
}

void Journal::NoteAll() {
  for (const Write& write : writes_) {
    for (const Change& change : write.changes) changed_.insert(change.place);
  }
  for (int db = 0; db < engine_.core().database_count(); ++db) {
    const std::unique_ptr<memory::Session> session = ConnectTo(engine_, db);
    const Reply keys = Ask(*session, Command(CommandId::kKeys, {"*"}));
    for (const Reply& key : keys.elements()) changed_.emplace(db, key.text());
  }
}

Journal::Change Journal::Look(const Place& place) const {
  const std::unique_ptr<memory::Session> session = ConnectTo(engine_, place.first);
  const Reply value = Ask(*session, Command(CommandId::kDump, {place.second}));
  if (value.is_nil()) return Change{place, std::nullopt, 0};
  const Reply deadline = Ask(*session, Command(CommandId::kPExpireTime, {place.second}));
  return Change{place, std::string(value.text()), std::max<int64_t>(deadline.integer(), 0)};
}

void Journal::Record() {
  if (changed_.empty()) return;
  Write write{.time_us = engine_.clock().NowMicros(), .changes = {}};
  for (const Place& place : changed_) write.changes.push_back(Look(place));
  changed_.clear();
  writes_.push_back(std::move(write));
}

void Journal::RestoreAt(absl::Time time) {
  Record();
  const int64_t time_us = absl::ToUnixMicros(time);
  const auto later = std::find_if(writes_.begin(), writes_.end(),
                                  [&](const Write& write) { return write.time_us > time_us; });
  RestoreFirst(static_cast<size_t>(later - writes_.begin()));
}

void Journal::RestoreBefore(int64_t count) {
  Record();
  const auto lost = std::min<size_t>(static_cast<size_t>(count), writes_.size());
  RestoreFirst(writes_.size() - lost);
}

void Journal::RestoreFirst(size_t writes) {
  writes_.resize(writes);
  std::map<Place, const Change*> last;
  for (const Write& write : writes_) {
    for (const Change& change : write.changes) last[change.place] = &change;
  }
  Ask(*engine_.Connect(), Command(CommandId::kFlushAll));
  const int64_t now_ms = engine_.clock().NowMillis();
  for (const auto& [place, change] : last) {
    if (!change->value.has_value()) continue;
    if (change->deadline_ms != 0 && change->deadline_ms < now_ms) continue;
    const std::unique_ptr<memory::Session> session = ConnectTo(engine_, place.first);
    Command restore(CommandId::kRestore, {place.second});
    restore.AddInteger(change->deadline_ms).Add(*change->value).Add("ABSTTL");
    Ask(*session, restore);
  }
  changed_.clear();
}

}  // namespace redouble::inline v0_1::sim
