#include "redouble/backends/memory/migration/exchange.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/resp/command_writer.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::Command;
using Failure = MigrationResult::Failure;

// As in Redis, a MIGRATE to this database goes to the one that happens to be selected there.
constexpr int64_t kUnknownDatabase = -1;

bool IsError(std::string_view line) { return line.starts_with('-'); }

// One attempt over one connection.
class Attempt {
 public:
  Attempt(MigrationConnection& connection, const MigrationTarget& target)
      : connection_(connection), target_(target) {}

  // Errors: those of the connection.
  absl::Status Run(const RestoreWriter& append_restores);
  // True if the target has answered the RESTORE of a key: it is too late for another attempt.
  bool has_answer() const { return has_answer_; }
  MigrationResult TakeResult() { return std::move(result_); }

 private:
  // Returns the keys.
  absl::StatusOr<std::vector<std::string_view>> Send(const RestoreWriter& append_restores,
                                                     bool selects);
  // Reads the reply to AUTH or SELECT. An error is stored in `refusal`, unless an earlier one is
  // there.
  absl::Status ReadPrelude(std::optional<std::string>& refusal);
  absl::StatusOr<std::string> ReadLine() { return connection_.ReadLine(target_.timeout_ms); }

  MigrationConnection& connection_;
  const MigrationTarget& target_;
  bool has_answer_ = false;
  MigrationResult result_;
};

absl::StatusOr<std::vector<std::string_view>> Attempt::Send(const RestoreWriter& append_restores,
                                                            bool selects) {
  std::string bytes;
  if (target_.password) {
    Command auth = Command::Named("AUTH");
    if (target_.user) auth.Add(*target_.user);
    store::AppendCommand(auth.Add(*target_.password), bytes);
  }
  if (selects) {
    store::AppendCommand(Command::Named("SELECT").AddInteger(target_.database), bytes);
  }
  std::vector<std::string_view> keys = append_restores(bytes);
  result_.failure = Failure::kWriting;
  REDOUBLE_RETURN_IF_ERROR(connection_.Write(bytes, target_.timeout_ms));
  return keys;
}

absl::Status Attempt::ReadPrelude(std::optional<std::string>& refusal) {
  REDOUBLE_ASSIGN_OR_RETURN(std::string line, ReadLine());
  if (IsError(line) && !refusal) refusal = std::move(line);
  return absl::OkStatus();
}

absl::Status Attempt::Run(const RestoreWriter& append_restores) {
  const bool selects = connection_.database().value_or(kUnknownDatabase) != target_.database;
  REDOUBLE_ASSIGN_OR_RETURN(const std::vector<std::string_view> keys,
                            Send(append_restores, selects));
  result_.failure = Failure::kReading;
  std::optional<std::string> refusal;
  if (target_.password) REDOUBLE_RETURN_IF_ERROR(ReadPrelude(refusal));
  if (selects) REDOUBLE_RETURN_IF_ERROR(ReadPrelude(refusal));
  for (const std::string_view key : keys) {
    REDOUBLE_ASSIGN_OR_RETURN(const std::string line, ReadLine());
    has_answer_ = true;
    if (!refusal && !IsError(line)) {
      result_.acknowledged.push_back(key);
    } else if (!result_.target_error) {
      result_.target_error = refusal.value_or(line).substr(1);
    }
  }
  result_.failure = Failure::kNone;
  connection_.set_database(result_.target_error ? std::nullopt : std::optional(target_.database));
  return absl::OkStatus();
}

}  // namespace

MigrationResult MoveKeys(MigrationConnector& connector, const MigrationTarget& target,
                         const RestoreWriter& append_restores) {
  for (bool is_first = true;; is_first = false) {
    const absl::StatusOr<MigrationConnection*> connection =
        connector.Connect(target.host, target.port, target.timeout_ms);
    if (!connection.ok()) return {.failure = Failure::kConnecting};
    Attempt attempt(**connection, target);
    const absl::Status status = attempt.Run(append_restores);
    if (status.ok()) return attempt.TakeResult();
    connector.Forget(target.host, target.port);
    const bool may_retry = is_first && !attempt.has_answer() && !absl::IsDeadlineExceeded(status);
    if (!may_retry) return attempt.TakeResult();
  }
}

}  // namespace redouble::inline v0_1::memory
