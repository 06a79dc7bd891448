#include "redouble/sim/check/history.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/strings/ascii.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::sim {
namespace {

// Returns the index of the command's key; nullopt if the command has no key or several.
std::optional<size_t> KeyIndex(const store::Command& command) {
  if (command.id() == store::CommandId::kUnknown) return std::nullopt;
  const auto indexes = store::KeyIndexes(store::SpecOf(command.id()), command.arguments());
  if (!indexes.has_value() || indexes->size() != 1) return std::nullopt;
  return indexes->front();
}

}  // namespace

size_t History::Begin(std::string_view client, std::string_view key,
                      std::vector<std::string> words) {
  if (observer_) observer_(/*ends=*/false);
  entries_.push_back(Entry{HistoryOperation{.client = std::string(client),
                                            .key = std::string(key),
                                            .words = std::move(words),
                                            .begun = now_++,
                                            .ended = std::nullopt,
                                            .reply = std::nullopt}});
  return entries_.size() - 1;
}

void History::End(size_t operation, store::Reply reply) {
  if (observer_) observer_(/*ends=*/true);
  HistoryOperation& ended = entries_[operation].operation;
  assert(!ended.ended.has_value());
  ended.ended = now_++;
  ended.reply = std::move(reply);
}

void History::Forget(size_t operation) { entries_[operation].forgotten = true; }

std::vector<HistoryOperation> History::operations() const {
  std::vector<HistoryOperation> operations;
  for (const Entry& entry : entries_) {
    if (!entry.forgotten) operations.push_back(entry.operation);
  }
  return operations;
}

bool HistoryStore::Intercepts(const store::Request& request) {
  return std::any_of(request.commands().begin(), request.commands().end(),
                     [](const store::Command& command) { return KeyIndex(command).has_value(); });
}

std::optional<size_t> HistoryStore::Begin(const store::Command& command) {
  const std::optional<size_t> key = KeyIndex(command);
  if (!key.has_value()) return std::nullopt;
  std::vector<std::string> words = {absl::AsciiStrToUpper(base::ToAbsl(command.name()))};
  for (size_t i = 0; i < command.arguments().size(); ++i) {
    if (i != *key) words.emplace_back(command.arguments()[i]);
  }
  return history_.Begin(client_, command.arguments()[*key], std::move(words));
}

void HistoryStore::End(size_t operation, const store::Reply& reply) {
  if (reply.is_error()) {
    history_.Forget(operation);
  } else {
    history_.End(operation, reply);
  }
}

base::Task<absl::StatusOr<store::Reply>> HistoryStore::Intercept(const store::Request& request) {
  std::vector<std::optional<size_t>> operations;
  for (const store::Command& command : request.commands()) operations.push_back(Begin(command));
  absl::StatusOr<store::Reply> result = co_await Forward(request);
  const bool is_batch = request.kind() != store::Request::Kind::kCommand;
  for (size_t i = 0; i < operations.size(); ++i) {
    if (!operations[i].has_value()) continue;
    if (result.ok() && !is_batch) {
      End(*operations[i], *result);
    } else if (result.ok() && result->is_array()) {
      End(*operations[i], result->elements()[i]);
    } else if (result.ok() || store::ErrorKindOf(result.status()) == store::ErrorKind::kNotSent) {
      // A transaction that was not executed, or a request that was not sent.
      history_.Forget(*operations[i]);
    }
  }
  co_return result;
}

}  // namespace redouble::inline v0_1::sim
