#include "redouble/core/store/resp/resp2_form.h"

#include <algorithm>
#include <utility>

namespace redouble::inline v0_1::store {
namespace {

// RESP3 sends pairs where RESP2 sends alternating elements.
bool SendsPairs(CommandId command) {
  switch (command) {
    case CommandId::kZRange:
    case CommandId::kZRangeByScore:
    case CommandId::kZRevRange:
    case CommandId::kZRevRangeByScore:
    case CommandId::kZDiff:
    case CommandId::kZInter:
    case CommandId::kZUnion:
    case CommandId::kZPopMin:
    case CommandId::kZPopMax:
    case CommandId::kZRandMember:
    case CommandId::kHRandField:
      return true;
    default:
      return false;
  }
}

// The elements of these commands are never arrays of two themselves, so an array of pairs can be
// recognized without looking at the options of the command.
bool IsArrayOfPairs(const Reply& reply) {
  const std::vector<Reply>& elements = reply.elements();
  return !elements.empty() && std::all_of(elements.begin(), elements.end(), [](const Reply& pair) {
    return pair.is_array() && pair.elements().size() == 2;
  });
}

Reply Flat(Reply pairs) {
  std::vector<Reply> flat;
  flat.reserve(2 * pairs.elements().size());
  for (Reply& pair : std::move(pairs).elements()) {
    for (Reply& element : std::move(pair).elements()) flat.push_back(std::move(element));
  }
  return Reply::Pairs(std::move(flat));
}

Reply InPairs(Reply map) {
  std::vector<Reply> flat = std::move(map).elements();
  std::vector<Reply> pairs;
  for (size_t i = 0; i + 1 < flat.size(); i += 2) {
    std::vector<Reply> pair;
    pair.push_back(std::move(flat[i]));
    pair.push_back(std::move(flat[i + 1]));
    pairs.push_back(Reply::Array(std::move(pair)));
  }
  return Reply::MapOfPairs(std::move(pairs));
}

void ApplyToOne(CommandId command, Reply& reply) {
  if (!reply.is_array()) return;
  if (SendsPairs(command)) {
    if (IsArrayOfPairs(reply)) reply = Flat(std::move(reply));
  } else if (command == CommandId::kXRead || command == CommandId::kXReadGroup) {
    if (reply.shape() == Reply::Shape::kMap) reply = InPairs(std::move(reply));
  }
}

}  // namespace

void Resp2Form::Apply(CommandId command, Reply& reply) {
  if (command == CommandId::kMulti) {
    Reset();
    in_transaction_ = true;
    return;
  }
  if (!in_transaction_) return ApplyToOne(command, reply);
  if (command == CommandId::kExec && reply.is_array() &&
      reply.elements().size() == queued_.size()) {
    std::vector<Reply> replies = std::move(reply).elements();
    for (size_t i = 0; i < replies.size(); ++i) ApplyToOne(queued_[i], replies[i]);
    reply = Reply::Array(std::move(replies));
  } else if (command != CommandId::kExec && command != CommandId::kDiscard &&
             command != CommandId::kReset) {
    if (reply == Reply::Status("QUEUED")) queued_.push_back(command);
    return;
  }
  Reset();
}

void Resp2Form::Reset() {
  in_transaction_ = false;
  queued_.clear();
}

}  // namespace redouble::inline v0_1::store
