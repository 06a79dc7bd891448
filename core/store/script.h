// Script: a Lua script that runs atomically inside the server.
//
// Use it when an operation needs several commands of which one depends on the reply of another. The
// server caches scripts by the SHA-1 of their text, so that a known script is called by its hash.
// Make a Script once, as a constant beside the code that uses it.
//
//   static const Script* const kTake = new Script("return redis.call('DECR', KEYS[1])");
//   const std::string_view keys[] = {"tokens:7"};
//   absl::StatusOr<Reply> left = co_await kTake->Run(store, keys, {});
//
// Thread-safety: constant after construction; may be shared by threads.
#ifndef REDOUBLE_CORE_STORE_SCRIPT_H_
#define REDOUBLE_CORE_STORE_SCRIPT_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::store {

class Script {
 public:
  // Computes the SHA-1 of `source`, the script's text.
  explicit Script(std::string source);

  const std::string& source() const { return source_; }
  // 40 hexadecimal digits in lower case.
  const std::string& sha1() const { return sha1_; }

  // Runs the script with KEYS and ARGV and returns the value that it returned. One round trip
  // (EVALSHA) if the server has the script in its cache; otherwise a second one (EVAL), after which
  // it has.
  //
  // Store, script, keys and arguments must outlive the task. Errors: those of the store, and the
  // server's error if the script failed or returned an error. A script must not return an error
  // with the code NOSCRIPT, by which the server reports that it does not have the script.
  // Source: Redis 7.0 EVALSHA, EVAL.
  base::Task<absl::StatusOr<Reply>> Run(Store& store, std::span<const std::string_view> keys,
                                        std::span<const std::string_view> arguments) const;

  // Appends the script to a batch as EVAL with the whole text: a batch could not react to NOSCRIPT,
  // because its other commands would already have run. Script, keys and arguments must outlive the
  // execution of the batch. Returns the command for more arguments; the reference is valid until
  // the batch's next Add.
  Command& AddTo(Batch& batch, std::span<const std::string_view> keys,
                 std::span<const std::string_view> arguments) const;

 private:
  Command Call(CommandId id, std::string_view script, std::span<const std::string_view> keys,
               std::span<const std::string_view> arguments) const;

  std::string source_;
  std::string sha1_;
};

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_SCRIPT_H_
