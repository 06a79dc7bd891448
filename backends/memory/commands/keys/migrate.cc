// MIGRATE. The target can never be reached: the engine knows no other server.
#include <string_view>

#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr size_t kKeyAt = 2;  // After host and port.
constexpr size_t kOptionsAt = 5;

// Returns an error reply, or nil if the keys are filled.
Reply ReadMigration(Arguments arguments, Arguments& keys) {
  keys = arguments.subspan(kKeyAt, 1);
  for (size_t i = kOptionsAt; i < arguments.size(); ++i) {
    const size_t behind = arguments.size() - i - 1;
    if (IsWord(arguments[i], "COPY") || IsWord(arguments[i], "REPLACE")) continue;
    if (IsWord(arguments[i], "AUTH") && behind >= 1) {
      ++i;
    } else if (IsWord(arguments[i], "AUTH2") && behind >= 2) {
      i += 2;
    } else if (IsWord(arguments[i], "KEYS")) {
      if (!arguments[kKeyAt].empty()) {
        return Reply::Error(
            "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string");
      }
      keys = arguments.subspan(i + 1);
      break;
    } else {
      return SyntaxError();
    }
  }
  const bool are_numbers = base::ParseInt64(arguments[3]) && base::ParseInt64(arguments[4]);
  return are_numbers ? Reply::Nil() : Reply::Error(error_text::kNotAnInteger);
}

}  // namespace

Reply HandleMigrate(CommandContext& context, Arguments arguments) {
  Arguments keys;
  if (Reply error = ReadMigration(arguments, keys); error.is_error()) return error;
  bool has_one = false;
  for (const std::string_view key : keys) {
    const bool exists = context.FindAny(key) != nullptr;
    if (!exists) context.Missed(key);
    has_one = has_one || exists;
  }
  if (!has_one) return Reply::Status("NOKEY");
  // As Redis replies if no server listens there.
  return Reply::Error("IOERR error or timeout writing to target instance");
}

}  // namespace redouble::inline v0_1::memory
