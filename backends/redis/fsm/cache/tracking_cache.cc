#include "redouble/backends/redis/fsm/cache/tracking_cache.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command_row.h"
#include "redouble/core/store/table/command_details.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::Command;
using store::CommandId;
using store::CommandSpec;
using store::Reply;

// About what the tables need for an entry and for a key, besides their bytes.
constexpr size_t kEntryBytes = 200;
constexpr size_t kKeyBytes = 120;

bool IsScript(CommandId id) {
  return id == CommandId::kEval || id == CommandId::kEvalSha || id == CommandId::kFCall ||
         id == CommandId::kEvalRo || id == CommandId::kEvalShaRo || id == CommandId::kFCallRo;
}

bool HasRandomReply(CommandId id) {
  for (const absl::string_view tip : absl::StrSplit(base::ToAbsl(store::DetailsOf(id).tips), ' ')) {
    if (tip == "nondeterministic_output") return true;
  }
  return false;
}

bool IsCacheableRow(const CommandSpec& spec) {
  if (!spec.Has(store::command_flag::kReadOnly) || spec.Has(store::command_flag::kBlocking)) {
    return false;
  }
  if (spec.key_spec_count == 0 || spec.is_subcommand() || store::IsContainer(spec.id)) return false;
  // TOUCH is sent for its effect; SORT_RO reads keys that it does not name.
  if (spec.id == CommandId::kTouch || spec.id == CommandId::kSortRo) return false;
  return !IsScript(spec.id) && !HasRandomReply(spec.id);
}

using Rows = std::array<bool, store::kCommandCount + 1>;
Rows FindCacheable() {
  Rows rows = {};
  for (const CommandSpec& spec : store::AllCommands()) {
    rows[static_cast<size_t>(spec.id)] = IsCacheableRow(spec);
  }
  return rows;
}

// The command as one string: its id, and each argument after its length.
void WriteId(const Command& command, std::string& id) {
  const auto append_number = [&](uint64_t number, int bytes) {
    for (int i = 0; i < bytes; ++i) id.push_back(static_cast<char>(number >> (8 * i)));
  };
  id.clear();
  append_number(static_cast<uint64_t>(command.id()), 2);
  for (const std::string_view argument : command.arguments()) {
    append_number(argument.size(), 5);
    id.append(argument);
  }
}

// The keys of the command; nullopt if they are not known.
std::optional<std::vector<std::string>> KeysOf(const CommandSpec& spec, const Command& command) {
  const std::optional<std::vector<size_t>> indexes = store::KeyIndexes(spec, command.arguments());
  if (!indexes || indexes->empty()) return std::nullopt;
  std::vector<std::string> keys;
  for (const size_t index : *indexes) keys.emplace_back(command.arguments()[index]);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

template <typename T>
void Erase(absl::InlinedVector<T, 1>& from, const T& value) {
  from.erase(std::remove(from.begin(), from.end(), value), from.end());
}

size_t BytesOf(const Reply& reply) {
  size_t bytes = sizeof(Reply);
  if (reply.is_array()) {
    for (const Reply& element : reply.elements()) bytes += BytesOf(element);
  } else if (reply.is_bulk() || reply.is_status()) {
    bytes += reply.text().size();
  }
  return bytes;
}

}  // namespace

TrackingCache::Limits TrackingCache::Limits::From(const Options& options) {
  return {static_cast<size_t>(options.cache_bytes), options.cache_prefixes};
}

void TrackingCache::Start() {
  Stop();
  active_ = true;
}

void TrackingCache::Stop() {
  active_ = false;
  by_id_.clear();
  by_key_.clear();
  entries_.clear();
  pending_.clear();
  bytes_ = 0;
}

bool TrackingCache::IsCacheable(const Command& command) {
  static const Rows rows = FindCacheable();
  return rows[static_cast<size_t>(command.id())];
}

const Reply* TrackingCache::Find(const Command& command) {
  if (entries_.empty()) return nullptr;
  WriteId(command, scratch_);
  const auto found = by_id_.find(scratch_);
  if (found == by_id_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return &found->second->reply;
}

bool TrackingCache::Covers(std::string_view key) const {
  return limits_.prefixes.empty() ||
         std::any_of(limits_.prefixes.begin(), limits_.prefixes.end(),
                     [&](const std::string& prefix) { return key.starts_with(prefix); });
}

TrackingCache::Ticket TrackingCache::Begin(const Command& command) {
  if (!active_) return kNone;
  std::optional<std::vector<std::string>> keys = KeysOf(store::SpecOf(command.id()), command);
  const auto covers = [&](const std::string& key) { return Covers(key); };
  if (!keys || !std::all_of(keys->begin(), keys->end(), covers)) return kNone;
  const Ticket ticket = next_ticket_++;
  for (const std::string& key : *keys) by_key_[key].pending.push_back(ticket);
  Pending& pending = pending_[ticket];
  WriteId(command, pending.id);
  pending.keys = *std::move(keys);
  return ticket;
}

void TrackingCache::End(Ticket ticket, const Reply* reply) {
  const auto found = pending_.find(ticket);
  if (found == pending_.end()) return;
  Pending pending = std::move(found->second);
  pending_.erase(found);
  for (const std::string& key : pending.keys) {
    const auto users = by_key_.find(key);
    if (users == by_key_.end()) continue;
    Erase(users->second.pending, ticket);
    if (users->second.empty()) by_key_.erase(users);
  }
  if (!pending.valid || reply == nullptr || reply->is_error()) return;
  Insert(Entry{std::move(pending.id), std::move(pending.keys), *reply, 0});
}

void TrackingCache::Insert(Entry entry) {
  entry.bytes = kEntryBytes + 2 * entry.id.size() + redis::BytesOf(entry.reply);
  for (const std::string& key : entry.keys) entry.bytes += kKeyBytes + 2 * key.size();
  if (entry.bytes > limits_.max_bytes) return;
  const auto older = by_id_.find(entry.id);
  if (older != by_id_.end()) Remove(older->second);
  while (bytes_ + entry.bytes > limits_.max_bytes) {
    ++evictions_;
    Remove(std::prev(entries_.end()));
  }
  bytes_ += entry.bytes;
  entries_.push_front(std::move(entry));
  by_id_.emplace(entries_.front().id, entries_.begin());
  for (const std::string& key : entries_.front().keys) {
    by_key_[key].entries.push_back(entries_.begin());
  }
}

void TrackingCache::Remove(Entries::iterator entry) {
  for (const std::string& key : entry->keys) {
    const auto users = by_key_.find(key);
    Erase(users->second.entries, entry);
    if (users->second.empty()) by_key_.erase(users);
  }
  bytes_ -= entry->bytes;
  by_id_.erase(entry->id);
  entries_.erase(entry);
}

void TrackingCache::Note(const store::Request& request) {
  if (!active_) return;
  for (const Command& command : request.commands()) NoteCommand(command);
}

void TrackingCache::NoteCommand(const Command& command) {
  if (IsCacheable(command)) return;
  const CommandId id = store::RowOf(command);
  if (id == CommandId::kUnknown) return InvalidateAll();
  const CommandSpec& spec = store::SpecOf(id);
  if (spec.Has(store::command_flag::kReadOnly)) return;
  if (!spec.Has(store::command_flag::kWrite) && !IsScript(id)) return;
  const std::optional<std::vector<std::string>> keys = KeysOf(spec, command);
  if (!keys) return InvalidateAll();
  for (const std::string& key : *keys) InvalidateKey(key);
}

size_t TrackingCache::Invalidate(const Reply& push) {
  if (!push.is_array() || push.elements().size() != 2) return 0;
  if (push.elements()[0] != Reply::Bulk("invalidate")) return 0;
  const Reply& keys = push.elements()[1];
  if (!keys.is_array()) {
    InvalidateAll();
    return 1;
  }
  for (const Reply& key : keys.elements()) {
    if (key.is_bulk()) InvalidateKey(key.text());
  }
  return keys.elements().size();
}

void TrackingCache::InvalidateKey(std::string_view key) {
  const auto users = by_key_.find(base::ToAbsl(key));
  if (users == by_key_.end()) return;
  for (const Ticket ticket : users->second.pending) pending_.at(ticket).valid = false;
  // Removing the last user of a key removes `users`.
  const auto entries = users->second.entries;
  for (const Entries::iterator& entry : entries) Remove(entry);
}

void TrackingCache::InvalidateAll() {
  for (auto& [ticket, pending] : pending_) pending.valid = false;
  while (!entries_.empty()) Remove(entries_.begin());
}

}  // namespace redouble::inline v0_1::redis
