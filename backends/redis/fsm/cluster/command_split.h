// CommandSplit: a command over several slots of a Redis Cluster, as one command for each slot.
//
// MGET, MSET, DEL, UNLINK, EXISTS and TOUCH may be split (Options::split_commands): what they do to
// one key does not depend on the others. COMMAND DOCS marks them with the tip
// "request_policy:multi_shard". MSETNX has the tip too, but sets all its keys or none, so it is not
// split.
//
//   std::optional<CommandSplit> split = CommandSplit::Of(command);
//   if (!split) ...                         // One slot, or another command: send it as it is.
//   split->slot(i);                         // For each part: where it goes,
//   split->CommandOf(i);                    // and what is sent.
//   Reply reply = split->Merge(std::move(replies));  // One reply for each part.
//
// Each part is atomic; the whole is not: another client can see some of the keys of an MSET changed
// and others not. If a part fails, the other parts have still run.
//
// Thread-safety: one thread or strand at a time.
// Source: Redis Cluster specification, "Multi-key operations"; COMMAND DOCS, command tips.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_COMMAND_SPLIT_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_COMMAND_SPLIT_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::redis {

class CommandSplit {
 public:
  // nullopt if the command cannot be split, or if all its keys belong to one slot. `command` must
  // outlive the split.
  static std::optional<CommandSplit> Of(const store::Command& command);

  // The number of parts, at least two. Their order is the order of their first keys.
  size_t size() const { return parts_.size(); }
  int slot(size_t part) const { return parts_[part].slot; }
  // The command of one part, with the keys in the caller's order. Its words are those of the whole
  // command.
  store::Command CommandOf(size_t part) const;

  // The reply to the whole command from the replies to its parts: the first error; the values in
  // the order of the keys (MGET); the sum (DEL, UNLINK, EXISTS, TOUCH); OK (MSET).
  store::Reply Merge(std::vector<store::Reply> replies) const;

 private:
  struct Part {
    int slot;
    std::vector<size_t> keys;  // By their position among the keys of the command.
  };

  CommandSplit(const store::Command& command, std::vector<size_t> keys)
      : command_(&command), keys_(std::move(keys)) {}

  const store::Command* command_;
  std::vector<size_t> keys_;   // The indexes of the keys among the arguments.
  size_t words_of_a_key_ = 1;  // MSET: the key and its value.
  std::vector<Part> parts_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_COMMAND_SPLIT_H_
