// ThreescaleSession: the process of the 3scale backend in which an operation runs, and helpers that
// its operations share.
//
// Each operation of a scenario gets a new process: nothing is memoized and no job is kept. A golden
// was recorded in one process with a memoizer; its replay passes the same session to all
// operations.
//
//   base::Task<sim::OperationResult> ServiceList(std::shared_ptr<ThreescaleSession> session,
//                                                sim::OperationContext context,
//                                                const sim::Json& arguments) {
//     sim::ArgumentReader reader(arguments);
//     const std::string provider_key = Text(reader, "provider_key").value_or("");
//     threescale::Process process = session->Begin(context, reader);
//     REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
//     ...
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_OPERATIONS_THREESCALE_THREESCALE_SESSION_H_
#define REDOUBLE_SIM_OPERATIONS_THREESCALE_THREESCALE_SESSION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/threescale/hardening.h"
#include "redouble/core/threescale/http/http_contract.h"
#include "redouble/core/threescale/memoizer.h"
#include "redouble/core/threescale/model/job_queue.h"
#include "redouble/core/threescale/process.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::scenarios {

// A clock that shows the time to which it was set.
class StandingClock final : public base::Clock {
 public:
  int64_t NowMicros() const override { return now_us_; }
  // No operation of the backend sleeps.
  base::Task<void> SleepUntil(absl::Time) override { co_return; }
  void set_now(absl::Time now) { now_us_ = absl::ToUnixMicros(now); }

 private:
  int64_t now_us_ = 0;
};

struct ThreescaleSettings {
  enum class Memory { kNone, kOfOneOperation, kKept };
  Memory memory = Memory::kNone;
  threescale::StampFormat stamp_format = threescale::StampFormat::kFixedWidth;
  std::optional<std::string> master_service_id;
  int64_t notification_batch = 10000;
  // The URL that is called when there are events; nullopt: no call.
  std::optional<std::string> events_hook;
};

class ThreescaleSession {
 public:
  explicit ThreescaleSession(ThreescaleSettings settings = {});
  ThreescaleSession(const ThreescaleSession&) = delete;
  ThreescaleSession& operator=(const ThreescaleSession&) = delete;

  // Returns the process of one operation at the argument `now` (RFC 3339; default: the time of the
  // scenario). Also reads `trimmed_stamps` (true: the key format of deployed versions) and, from
  // goldens, `label`, a remark on the operation.
  threescale::Process Begin(const sim::OperationContext& context, sim::ArgumentReader& reader);

  const ThreescaleSettings& settings() const { return settings_; }
  const StandingClock& clock() const { return clock_; }
  // Jobs that listeners have enqueued and no worker has run.
  threescale::InProcessJobQueue& queue() { return queue_; }
  // The number of calls of the events hook.
  int64_t& hook_calls() { return hook_calls_; }

 private:
  const ThreescaleSettings settings_;
  StandingClock clock_;
  threescale::Memoizer memoizer_{clock_};
  threescale::InProcessJobQueue queue_;
  int64_t hook_calls_ = 0;
};

// Returns the session of the next operation.
using ThreescaleSessions = std::function<std::shared_ptr<ThreescaleSession>()>;

// An operation that runs in a session.
using ThreescaleOperation = std::function<base::Task<sim::OperationResult>(
    std::shared_ptr<ThreescaleSession> session, sim::OperationContext context,
    const sim::Json& arguments)>;
void AddThreescale(sim::OperationTable& table, const ThreescaleSessions& sessions, std::string name,
                   ThreescaleOperation operation);

// Reads the options of core/threescale/hardening.h, booleans of the same names.
threescale::Hardening ReadThreescaleHardening(sim::ArgumentReader& reader);

// Reads an argument that the original takes as text: a text, or the digits of a number. Returns
// nullopt if it is absent or null.
std::optional<std::string> Text(sim::ArgumentReader& reader, std::string_view name);
std::optional<std::string> TextOf(const sim::Json& value);

// Returns {"class": "MetricInvalid", "code": "metric_invalid", "message": ..., "http": 404}. An
// error reply of Redis has the class Redis::CommandError and no code; other failures have the class
// ArgumentError or RuntimeError.
sim::Json ThreescaleErrorResult(const absl::Status& status);

// Returns the request that the recorder's client sends. `params` is an object, nested as the
// parameters are: the form of a POST, the query of a GET.
threescale::HttpRequest RequestOf(std::string_view method, std::string_view path,
                                  const sim::Json& params, std::string_view extensions_header);

// Returns "a=1&usage[hits]=2", with values encoded as in forms.
std::string NestedQuery(const sim::Json& params);

// Returns an error as an HTTP response: {"status": 404, "body": "<?xml ...><error code=...>"}.
sim::Json ErrorAnswer(const absl::Status& status, const threescale::HttpRequest& request);

}  // namespace redouble::inline v0_1::scenarios

#endif  // REDOUBLE_SIM_OPERATIONS_THREESCALE_THREESCALE_SESSION_H_
