// Script: a Lua script that runs inside the server, atomically.
//
// The server keeps scripts by the SHA-1 of their text, so a script that it knows is called by 40
// digits rather than by its text. Make a Script once, as a constant next to the code that uses it.
//
//   static const Script* const kTake = new Script("return redis.call('DECR', KEYS[1])");
//   const std::string_view keys[] = {"tokens:7"};
//   absl::StatusOr<Reply> left = co_await kTake->Run(store, keys, {});
//
// Thread-safety: constant after construction.
#ifndef REDOUBLE_CORE_STORE_SCRIPT_H_
#define REDOUBLE_CORE_STORE_SCRIPT_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/store/batch.h"
#include "core/store/command.h"
#include "core/store/command_table.h"
#include "core/store/reply.h"
#include "core/store/store.h"

namespace redouble::store {

class Script {
 public:
  // Computes the SHA-1 of `source`, the script's text.
  explicit Script(std::string source);

  const std::string& source() const { return source_; }
  // 40 lower-case hexadecimal digits.
  const std::string& sha1() const { return sha1_; }

  // Runs the script with KEYS and ARGV. One round trip (EVALSHA) when the server knows the script;
  // otherwise two, the second being EVAL, which makes the server know it. The reply is what the
  // script returned, never an error.
  //
  // Script, keys and arguments must live until the task has finished. Errors: those of the store,
  // and the server's error when the script failed or returned one (a script must not return errors
  // whose code is NOSCRIPT: that is how the server says that it does not know the script).
  // Source: Redis 7.0 EVALSHA, EVAL.
  base::Task<absl::StatusOr<Reply>> Run(Store& store, std::span<const std::string_view> keys,
                                        std::span<const std::string_view> arguments) const;

  // Appends the script to a batch, as EVAL with its whole text: a batch has no second round trip in
  // which to answer NOSCRIPT, and in a transaction the other commands would have run by then. The
  // script, keys and arguments must live until the batch has been executed. Returns the command,
  // good until the batch's next Add, for more arguments.
  Command& AddTo(Batch& batch, std::span<const std::string_view> keys,
                 std::span<const std::string_view> arguments) const;

 private:
  Command Call(CommandId id, std::string_view script, std::span<const std::string_view> keys,
               std::span<const std::string_view> arguments) const;

  std::string source_;
  std::string sha1_;
};

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_SCRIPT_H_
