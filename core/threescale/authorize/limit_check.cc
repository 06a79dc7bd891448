#include "redouble/core/threescale/authorize/limit_check.h"

#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/script.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/scripts/script_texts.h"
#include "redouble/core/threescale/text/periods.h"

namespace redouble::inline v0_1::threescale {
namespace {

const std::string* ValueOf(const std::optional<Usage>& usage, const LimitState& limit) {
  return usage ? FindUsage(*usage, limit.limit.metric_id) : nullptr;
}

std::string_view EffectOf(std::string_view value) { return IsSet(value) ? "set" : "add"; }

// The keys and arguments of one script call.
class Call {
 public:
  Call(const Process& process, const std::vector<LimitState>& limits, const CountedRequest& request)
      : process_(process), request_(request) {
    arguments_.push_back(absl::StrCat(limits.size()));
    for (const LimitState& limit : limits) AddLimit(limit);
    arguments_.push_back(absl::StrCat(absl::ToInt64Seconds(MinuteCounterTtl())));
    if (*request.usage) {
      for (const UsageEntry& entry : **request.usage) AddWrites(entry);
    }
    if (!request.must_exist) return;
    keys_.push_back(process.keys.Application(request.application, ApplicationAttribute::kState));
  }

  const std::vector<std::string>& keys() const { return keys_; }
  const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  std::string KeyOf(const CounterSubject& subject, Granularity granularity) const {
    const Period period = PeriodAt(granularity, request_.time);
    return process_.keys.Counter(subject, period.KeySegment(process_.stamp_format));
  }

  void AddLimit(const LimitState& limit) {
    const CounterSubject subject = {.service_id = request_.application.service_id,
                                    .application_id = request_.application.id,
                                    .metric_id = limit.limit.metric_id};
    keys_.push_back(Encode(KeyOf(subject, limit.limit.period)));
    const std::string* value = ValueOf(*request_.usage, limit);
    if (!*request_.usage) {
      AddArguments("keep", "0");
    } else if (value == nullptr) {
      AddArguments("zero", "0");
    } else {
      AddArguments(EffectOf(*value), AmountText(*value));
    }
    arguments_.push_back(FormatInteger(limit.limit.value));
  }

  void AddWrites(const UsageEntry& entry) {
    CounterSubject subject = {.service_id = request_.application.service_id,
                              .metric_id = entry.metric};
    for (const Granularity granularity : ServiceGranularities()) {
      AddWrite(subject, granularity, entry.value);
    }
    subject.application_id = request_.application.id;
    for (const Granularity granularity : ApplicationGranularities()) {
      AddWrite(subject, granularity, entry.value);
    }
  }

  void AddWrite(const CounterSubject& subject, Granularity granularity, std::string_view value) {
    keys_.push_back(KeyOf(subject, granularity));
    AddArguments(EffectOf(value), AmountText(value));
    arguments_.push_back(granularity == Granularity::kMinute ? "1" : "0");
  }

  void AddArguments(std::string_view effect, std::string amount) {
    arguments_.emplace_back(effect);
    arguments_.push_back(std::move(amount));
  }

  const Process& process_;
  const CountedRequest& request_;
  std::vector<std::string> keys_;
  std::vector<std::string> arguments_;
};

}  // namespace

bool WithinLimits(const std::vector<LimitState>& limits, const std::optional<Usage>& usage) {
  for (const LimitState& limit : limits) {
    Integer value = limit.current;
    if (usage) {
      const std::string* added = ValueOf(usage, limit);
      value = added == nullptr ? Integer(0) : ApplyUsage(limit.current, *added);
    }
    if (value > limit.limit.value) return false;
  }
  return true;
}

// Lua numbers are exact only up to 2^53, but limits have arbitrary precision and counters 63 bits.
// The script therefore adds and compares them as digits. Values below 0 are compared as numbers: a
// negative limit can never be satisfied, and only another program writes a negative counter.
//
// KEYS: the counters of the limits, the counters to write, and the application's state if it must
// exist. ARGV: the number of limits; for each limit the effect of the usage on it, the amount, and
// the limit; the TTL of a minute in seconds; for each counter to write the effect, the amount, and
// "1" for a minute.
base::Task<absl::StatusOr<CountedLimits>> CountWithinLimits(const Process& process,
                                                            const std::vector<LimitState>& limits,
                                                            CountedRequest request) {
  static const store::Script* const script = new store::Script(std::string(kCountWithinLimitsText));
  const Call call(process, limits, request);
  const std::vector<std::string_view> keys(call.keys().begin(), call.keys().end());
  const std::vector<std::string_view> arguments(call.arguments().begin(), call.arguments().end());
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      std::vector<store::Reply> reply,
      store::DecodeArray(co_await script->Run(process.store, keys, arguments)));
  CountedLimits counted;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t within,
                               store::DecodeInteger(std::move(reply.front())));
  if (within < 0) co_return MakeError(ErrorCode::kApplicationNotFound, request.application.id);
  counted.within = within == 1;
  for (size_t i = 1; i < reply.size(); ++i) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string before,
                                 store::DecodeString(std::move(reply[i])));
    counted.before.push_back(ToInteger(before));
  }
  co_return counted;
}

}  // namespace redouble::inline v0_1::threescale
