#include "core/threescale/limit_check.h"

#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/store/decode.h"
#include "core/store/script.h"
#include "core/threescale/periods.h"

namespace redouble::threescale {
namespace {

// Lua's numbers are exact up to 2^53 only, while limits have no end and counters 63 bits: they are
// added and compared as digits. What is below zero, which only a limit that nothing can keep or a
// write by somebody else can be, is compared as a number.
//
// KEYS: the counters of the limits, then those to write. ARGV: how many limits; for each limit what
// the usage does to it and its value; the seconds that a minute lives; for each counter to write
// what to do, how much, and "1" if it is that of a minute.
constexpr std::string_view kCountWithinLimits = R"(
local function sum(a, b)
  local digits, carry = {}, 0
  for i = 0, math.max(#a, #b) - 1 do
    local digit = carry
    if i < #a then digit = digit + string.byte(a, #a - i) - 48 end
    if i < #b then digit = digit + string.byte(b, #b - i) - 48 end
    carry = digit > 9 and 1 or 0
    digits[i + 1] = digit - 10 * carry
  end
  if carry == 1 then digits[#digits + 1] = 1 end
  return string.reverse(table.concat(digits))
end
local function above(a, b)
  a, b = string.match(a, '^0*(.*)$'), string.match(b, '^0*(.*)$')
  if #a ~= #b then return #a > #b end
  return a > b
end
local function exceeds(before, effect, amount, most)
  local sign, digits = string.match(before, '^%s*([-+]?)(%d*)')
  if sign == '-' or string.sub(most, 1, 1) == '-' then
    local value = tonumber(sign .. digits) or 0
    if effect == 'add' then value = value + amount
    elseif effect ~= 'keep' then value = tonumber(amount) end
    return value > tonumber(most)
  end
  if effect == 'add' then digits = sum(digits, amount)
  elseif effect ~= 'keep' then digits = amount end
  return above(digits, most)
end
local limits = tonumber(ARGV[1])
local reply = {1}
local at = 2
for i = 1, limits do
  local before = redis.call('GET', KEYS[i]) or '0'
  reply[i + 1] = before
  if exceeds(before, ARGV[at], ARGV[at + 1], ARGV[at + 2]) then reply[1] = 0 end
  at = at + 3
end
if reply[1] == 0 then return reply end
local minute_ttl = ARGV[at]
at = at + 1
for i = limits + 1, #KEYS do
  local effect, amount, expires = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  if effect == 'add' then redis.call('INCRBY', KEYS[i], amount)
  elseif amount == '0' then redis.call('DEL', KEYS[i])
  else redis.call('SET', KEYS[i], amount) end
  if expires == '1' and not (effect == 'set' and amount == '0') then
    redis.call('EXPIRE', KEYS[i], minute_ttl)
  end
  at = at + 3
end
return reply
)";

const std::string* ValueOf(const std::optional<Usage>& usage, const LimitState& limit) {
  return usage ? FindUsage(*usage, limit.limit.metric_id) : nullptr;
}

std::string_view EffectOf(std::string_view value) { return IsSet(value) ? "set" : "add"; }

// The words of one call of the script.
class Call {
 public:
  Call(const Process& process, const std::vector<LimitState>& limits, const CountedRequest& request)
      : process_(process), request_(request) {
    arguments_.push_back(absl::StrCat(limits.size()));
    for (const LimitState& limit : limits) AddLimit(limit);
    arguments_.push_back(absl::StrCat(absl::ToInt64Seconds(MinuteCounterTtl())));
    if (!*request.usage) return;
    for (const UsageEntry& entry : **request.usage) AddWrites(entry);
  }

  const std::vector<std::string>& keys() const { return keys_; }
  const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  std::string KeyOf(const CounterSubject& subject, Granularity granularity) const {
    const Period period = PeriodAt(granularity, request_.time);
    return CounterKey(subject, period.KeySegment(process_.stamp_format));
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

base::Task<absl::StatusOr<CountedLimits>> CountWithinLimits(const Process& process,
                                                            const std::vector<LimitState>& limits,
                                                            CountedRequest request) {
  static const store::Script* const script = new store::Script(std::string(kCountWithinLimits));
  const Call call(process, limits, request);
  const std::vector<std::string_view> keys(call.keys().begin(), call.keys().end());
  const std::vector<std::string_view> arguments(call.arguments().begin(), call.arguments().end());
  absl::StatusOr<std::vector<store::Reply>> reply =
      store::DecodeArray(co_await script->Run(process.store, keys, arguments));
  if (!reply.ok()) co_return reply.status();
  CountedLimits counted;
  const absl::StatusOr<int64_t> within = store::DecodeInteger(std::move(reply->front()));
  if (!within.ok()) co_return within.status();
  counted.within = *within == 1;
  for (size_t i = 1; i < reply->size(); ++i) {
    const absl::StatusOr<std::string> before = store::DecodeString(std::move((*reply)[i]));
    if (!before.ok()) co_return before.status();
    counted.before.push_back(ToInteger(*before));
  }
  co_return counted;
}

}  // namespace redouble::threescale
