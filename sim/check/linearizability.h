// Linearizability: whether clients saw one server that does one thing at a time.
//
// A history is linearizable when each operation can be given a moment between its beginning and its
// end at which it happens at once, so that a sequential model answers what the clients were told.
// An operation without an answer may have happened at any moment since it began, or never. Lost
// acknowledged writes (a failover), reads of the past and operations applied twice all show.
//
//   const std::optional<LinearizabilityViolation> violation =
//       CheckLinearizable(history, CounterModel());
//
// Cost: exponential in how many operations on one key overlap; keys are checked apart, and states
// that were tried are remembered.
//
// Source: Wing and Gong, "Testing and Verifying Concurrent Objects" (1993); Lowe, "Testing for
// Linearizability" (2016).
//
// Thread-safety: models are constant; free functions.
#ifndef REDOUBLE_SIM_CHECK_LINEARIZABILITY_H_
#define REDOUBLE_SIM_CHECK_LINEARIZABILITY_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/store/reply.h"
#include "sim/check/history.h"

namespace redouble::sim {

// What a key does when one operation comes after another. States are texts of the model's own.
class SequentialModel {
 public:
  struct Step {
    std::string state;
    store::Reply reply;
  };

  virtual ~SequentialModel() = default;

  // The state of a key that does not exist.
  virtual std::string Initial() const { return std::string(); }
  // What the operation does in that state; none when the model does not know it, which no history
  // may have.
  virtual std::optional<Step> Apply(std::string_view state,
                                    std::span<const std::string> words) const = 0;
};

// GET, SET value, SETNX value, GETDEL, DEL, EXISTS, APPEND value, STRLEN.
const SequentialModel& RegisterModel();
// INCR, DECR, INCRBY n, DECRBY n, GET, DEL.
const SequentialModel& CounterModel();
// SADD member..., SREM member..., SISMEMBER member, SCARD, SMEMBERS (in any order).
const SequentialModel& SetModel();
// LPUSH element..., RPUSH element..., LPOP, RPOP, LLEN, LRANGE 0 -1.
const SequentialModel& ListModel();
// XADD id field value... with an explicit id, XLEN, XRANGE - +.
const SequentialModel& StreamModel();

struct LinearizabilityViolation {
  std::string key;
  // The operations on the key, a line each, with when they began and ended and what was told.
  std::string history;
};

// The first key, in the order of bytes, whose operations fit no order; none when all do. Operations
// that the model does not know are an error of the caller: the history is taken for a violation.
std::optional<LinearizabilityViolation> CheckLinearizable(const History& history,
                                                          const SequentialModel& model);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CHECK_LINEARIZABILITY_H_
