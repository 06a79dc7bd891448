#include "redouble/backends/redis/fsm/cluster/command_split.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "redouble/backends/redis/fsm/cluster/cluster_route.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/store/table/command_details.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::redis {

using store::Command;
using store::CommandId;
using store::Reply;

std::optional<CommandSplit> CommandSplit::Of(const Command& command) {
  const CommandId id = command.id();
  if (id == CommandId::kUnknown || id == CommandId::kMSetNx) return std::nullopt;
  if (!HasTip(id, "request_policy:multi_shard")) return std::nullopt;
  const store::CommandSpec& spec = store::SpecOf(id);
  std::optional<std::vector<size_t>> keys = store::KeyIndexes(spec, command.arguments());
  if (!keys || keys->empty()) return std::nullopt;
  CommandSplit split(command, *std::move(keys));
  split.words_of_a_key_ = static_cast<size_t>(spec.key_specs[0].step);
  // An MSET without its last value: a node returns the error.
  const size_t words = split.keys_.size() * split.words_of_a_key_;
  if (words != command.arguments().size()) return std::nullopt;
  std::map<int, size_t> part_of_slot;
  for (size_t key = 0; key < split.keys_.size(); ++key) {
    const int slot = base::KeySlot(command.arguments()[split.keys_[key]]);
    const auto [part, is_new] = part_of_slot.emplace(slot, split.parts_.size());
    if (is_new) split.parts_.push_back(Part{slot, {}});
    split.parts_[part->second].keys.push_back(key);
  }
  if (split.parts_.size() == 1) return std::nullopt;
  return split;
}

Command CommandSplit::CommandOf(size_t part) const {
  Command command = Command::Named(command_->name());
  for (const size_t key : parts_[part].keys) {
    command.AddAll(command_->arguments().subspan(keys_[key], words_of_a_key_));
  }
  return command;
}

Reply CommandSplit::Merge(std::vector<Reply> replies) const {
  const bool has_values = std::all_of(replies.begin(), replies.end(),
                                      [](const Reply& reply) { return reply.is_array(); });
  if (!has_values) return MergeReplies(*command_, std::move(replies));
  std::vector<Reply> values(keys_.size());
  for (size_t part = 0; part < parts_.size(); ++part) {
    std::vector<Reply> own = std::move(replies[part]).elements();
    if (own.size() != parts_[part].keys.size()) {
      return Reply::Error("ERR a node returned another number of values than it has keys");
    }
    for (size_t i = 0; i < own.size(); ++i) values[parts_[part].keys[i]] = std::move(own[i]);
  }
  return Reply::Array(std::move(values));
}

}  // namespace redouble::inline v0_1::redis
