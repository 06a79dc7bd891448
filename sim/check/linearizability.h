// CheckLinearizable: tests whether a history could come from a server that does one thing at a
// time.
//
// A history is linearizable if each operation can be assigned a point between its start and its end
// at which it takes effect at once, such that a sequential model returns the replies that the
// clients got. An operation without a reply may take effect at any point after its start, or never.
// The check finds acknowledged writes that were lost (for example in a failover), stale reads, and
// operations that were applied twice.
//
//   const std::optional<LinearizabilityViolation> violation =
//       CheckLinearizable(history, CounterModel());
//
// Cost: exponential in the number of operations on one key that overlap. Keys are checked
// separately, and each state of the search is visited once.
//
// Source: Wing and Gong, "Testing and Verifying Concurrent Objects" (1993); Lowe, "Testing for
// Linearizability" (2016).
//
// Thread-safety: free functions; models are constant.
#ifndef REDOUBLE_SIM_CHECK_LINEARIZABILITY_H_
#define REDOUBLE_SIM_CHECK_LINEARIZABILITY_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "redouble/core/store/reply.h"
#include "redouble/sim/check/history.h"

namespace redouble::inline v0_1::sim {

// The behavior of one key under a sequence of operations. States are strings whose format is the
// model's own.
class SequentialModel {
 public:
  struct Step {
    std::string state;
    store::Reply reply;
  };

  virtual ~SequentialModel() = default;

  // Returns the state of a key that does not exist.
  virtual std::string Initial() const { return std::string(); }
  // Returns the new state and the reply of an operation in this state; nullopt if the model does
  // not know the operation, which must not occur in a history.
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
// A lock that does not expire: SET token NX, with or without a time to live; SETNX token; GET; DEL;
// and, recorded by hand (History::Begin), UNLOCK token, which returns 1 if the token held the lock.
const SequentialModel& LockModel();
// XADD id field value... with an explicit id, XLEN, XRANGE - +.
const SequentialModel& StreamModel();

struct LinearizabilityViolation {
  std::string key;
  // The operations on the key, one per line, with start, end and reply.
  std::string history;
};

// Returns the first key, in byte order, whose operations are not linearizable; nullopt if the
// history is linearizable. Only keys that match the glob are checked. An operation that the model
// does not know counts as a violation.
std::optional<LinearizabilityViolation> CheckLinearizable(const History& history,
                                                          const SequentialModel& model,
                                                          std::string_view keys = "*");

// A model and its name in world files.
struct NamedModel {
  std::string_view name;
  const SequentialModel& (*model)();
};
// "register", "counter", "lock", "set", "list", "queue" (a list) and "stream".
std::span<const NamedModel> AllModels();

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CHECK_LINEARIZABILITY_H_
