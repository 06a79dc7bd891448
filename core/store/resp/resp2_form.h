// Resp2Form: gives the replies of a RESP3 connection the values that RESP2 has for them.
//
// Code that reads replies then needs to know one form only. Most replies have the same value in
// both protocols, because a map is read as an array of alternating keys and values. Two groups
// differ: members with scores and fields with values, which RESP3 sends as an array of pairs, and
// XREAD, which is an array of pairs in RESP2 and a map in RESP3.
//
//   Resp2Form form;
//   form.Apply(store::CommandId::kZPopMin, reply);  // [["a", 1]] becomes ["a", 1].
//
// It follows MULTI and EXEC, whose reply holds the replies of the queued commands. Call Apply for
// all replies of a connection, in their order.
//
// Thread-safety: one thread at a time.
// Source: Redis 7.0 t_zset.c, genericZpopCommand and zrangeResultEmitLongLongToClient; t_hash.c,
// hrandfieldWithCountCommand; t_stream.c, xreadCommand.
#ifndef REDOUBLE_CORE_STORE_RESP_RESP2_FORM_H_
#define REDOUBLE_CORE_STORE_RESP_RESP2_FORM_H_

#include <vector>

#include "redouble/core/store/reply.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::store {

class Resp2Form {
 public:
  // Changes the reply to the command. kUnknown for a command that has no row or is not known. O(1)
  // for most commands, else O(elements).
  void Apply(CommandId command, Reply& reply);

  // Forgets a transaction: the connection is a new one.
  void Reset();

 private:
  bool in_transaction_ = false;
  std::vector<CommandId> queued_;  // Between MULTI and EXEC.
};

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_RESP_RESP2_FORM_H_
