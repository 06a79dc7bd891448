// ThreescaleSession: the process of the 3scale backend that an operation runs in, and what its
// operations have in common.
//
// A scenario's operations get a fresh process each: nothing is memoized, and no job is kept. A
// golden was recorded of one process from its first operation to its last, with a memoizer; its
// replay hands all operations the same session.
//
//   base::Task<sim::OperationResult> ServiceList(std::shared_ptr<ThreescaleSession> session,
//                                                sim::OperationContext context,
//                                                const sim::Json& arguments) {
//     sim::ArgumentReader reader(arguments);
//     const std::string provider_key = Text(reader, "provider_key").value_or("");
//     threescale::Process process = session->Begin(context, reader);
//     if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
//     ...
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SCENARIOS_OPERATIONS_THREESCALE_SESSION_H_
#define REDOUBLE_SCENARIOS_OPERATIONS_THREESCALE_SESSION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "core/base/clock.h"
#include "core/base/task.h"
#include "core/threescale/hardening.h"
#include "core/threescale/job_queue.h"
#include "core/threescale/memoizer.h"
#include "core/threescale/process.h"
#include "sim/scenario/arguments.h"
#include "sim/scenario/operation.h"

namespace redouble::scenarios {

// A clock that stands where it was put.
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
  // The URL that is called about events; none: nobody is.
  std::optional<std::string> events_hook;
};

class ThreescaleSession {
 public:
  explicit ThreescaleSession(ThreescaleSettings settings = {});
  ThreescaleSession(const ThreescaleSession&) = delete;
  ThreescaleSession& operator=(const ThreescaleSession&) = delete;

  // The process of one operation, at the argument `now` (an RFC 3339 text; the scenario's time
  // unless given). Takes `trimmed_stamps` (true: the keys of deployed versions) as well, and, from
  // goldens, `label`, which they write behind an operation's name.
  threescale::Process Begin(const sim::OperationContext& context, sim::ArgumentReader& reader);

  const ThreescaleSettings& settings() const { return settings_; }
  const StandingClock& clock() const { return clock_; }
  // Jobs that listeners enqueued and no worker has run.
  threescale::InProcessJobQueue& queue() { return queue_; }
  // How often the events hook was called.
  int64_t& hook_calls() { return hook_calls_; }

 private:
  const ThreescaleSettings settings_;
  StandingClock clock_;
  threescale::Memoizer memoizer_{clock_};
  threescale::InProcessJobQueue queue_;
  int64_t hook_calls_ = 0;
};

// Gives each operation its session.
using ThreescaleSessions = std::function<std::shared_ptr<ThreescaleSession>()>;

// An operation that runs in a session.
using ThreescaleOperation = std::function<base::Task<sim::OperationResult>(
    std::shared_ptr<ThreescaleSession> session, sim::OperationContext context,
    const sim::Json& arguments)>;
void AddThreescale(sim::OperationTable& table, const ThreescaleSessions& sessions, std::string name,
                   ThreescaleOperation operation);

// The options of core/threescale/hardening.h, as booleans of the same names.
threescale::Hardening ReadThreescaleHardening(sim::ArgumentReader& reader);

// An argument that the original takes as text: a text, or a number, whose digits it is. None when
// it is absent or null.
std::optional<std::string> Text(sim::ArgumentReader& reader, std::string_view name);
std::optional<std::string> TextOf(const sim::Json& value);

// {"class": "MetricInvalid", "code": "metric_invalid", "message": ..., "http": 404}; an error reply
// of Redis has the class Redis::CommandError and no code, another failure ArgumentError or
// RuntimeError.
sim::Json ThreescaleErrorResult(const absl::Status& status);

// What a request is known by in the errors list. `params` is an object, nested as its parameters
// are; of a POST they are the form, of a GET the query.
struct HttpRequest {
  std::string_view method = "GET";
  std::string_view path;
  const sim::Json& params;
  std::string_view extensions_header;
};
sim::Json RequestInfo(const HttpRequest& request);

// "a=1&usage[hits]=2": values encoded as forms are.
std::string NestedQuery(const sim::Json& params);

// An error as an HTTP answer: {"status": 404, "body": "<?xml ...><error code=...>"}.
sim::Json ErrorAnswer(const absl::Status& status);
// `text` with &, < and > as entities.
std::string XmlText(std::string_view text);

}  // namespace redouble::scenarios

#endif  // REDOUBLE_SCENARIOS_OPERATIONS_THREESCALE_SESSION_H_
