#include "redouble/sim/check/history.h"

#include <cassert>
#include <utility>

#include "absl/strings/ascii.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::sim {
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
  entries_.push_back(Entry{HistoryOperation{.client = std::string(client),
                                            .key = std::string(key),
                                            .words = std::move(words),
                                            .begun = now_++,
                                            .ended = std::nullopt,
                                            .reply = std::nullopt}});
  return entries_.size() - 1;
}

void History::End(size_t operation, store::Reply reply) {
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
  return request.kind() == store::Request::Kind::kCommand &&
         KeyIndex(request.commands().front()).has_value();
}

base::Task<absl::StatusOr<store::Reply>> HistoryStore::Intercept(const store::Request& request) {
  const store::Command& command = request.commands().front();
  const size_t key = *KeyIndex(command);
  std::vector<std::string> words = {absl::AsciiStrToUpper(base::ToAbsl(command.name()))};
  for (size_t i = 0; i < command.arguments().size(); ++i) {
    if (i != key) words.emplace_back(command.arguments()[i]);
  }
  const size_t operation = history_.Begin(client_, command.arguments()[key], std::move(words));
  absl::StatusOr<store::Reply> result = co_await Forward(request);
  if (result.ok() && !result->is_error()) {
    history_.End(operation, *result);
  } else if (result.ok() || store::ErrorKindOf(result.status()) == store::ErrorKind::kNotSent) {
    history_.Forget(operation);
  }
  co_return result;
}

}  // namespace redouble::sim
