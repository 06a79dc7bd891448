#include "redouble/core/threescale/authorize/counters.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "redouble/core/threescale/keys.h"

namespace redouble::inline v0_1::threescale {
namespace {

using store::Batch;
using store::CommandId;

constexpr std::array<std::string_view, 3> kCountedClasses = {"2XX", "4XX", "5XX"};
constexpr std::array<std::string_view, 5> kCountedCodes = {"200", "403", "404", "500", "503"};

template <typename Texts>
bool Contains(const Texts& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

// What the keys of a transaction's counters have in common: their builder and their last segments.
struct CounterKeys {
  const Keys& builder;
  std::vector<std::string> service_segments;
  std::vector<std::pair<Granularity, std::string>> application_segments;
};

CounterKeys KeysAt(absl::Time time, const Keys& builder, StampFormat format) {
  CounterKeys keys{builder, {}, {}};
  for (const Granularity granularity : ServiceGranularities()) {
    keys.service_segments.push_back(PeriodAt(granularity, time).KeySegment(format));
  }
  for (const Granularity granularity : ApplicationGranularities()) {
    keys.application_segments.emplace_back(granularity,
                                           PeriodAt(granularity, time).KeySegment(format));
  }
  return keys;
}

// The write to the counters of one subject.
struct Write {
  CommandId command;
  std::string amount;  // Empty for DEL.
};

Write WriteOf(std::string_view value) {
  std::string amount = AmountText(value);
  if (!IsSet(value)) return {CommandId::kIncrBy, std::move(amount)};
  if (amount == "0") return {CommandId::kDel, ""};
  return {CommandId::kSet, std::move(amount)};
}

void AddWrite(const Write& write, std::string key, Batch& batch) {
  store::Command& command = batch.Add(write.command).AddOwned(std::move(key));
  if (!write.amount.empty()) command.AddOwned(write.amount);
}

void AddSubject(CounterSubject subject, std::string_view application_id, const Write& write,
                const CounterKeys& keys, Batch& batch) {
  for (const std::string& segment : keys.service_segments) {
    AddWrite(write, keys.builder.Counter(subject, segment), batch);
  }
  subject.application_id = application_id;
  for (const auto& [granularity, segment] : keys.application_segments) {
    std::string key = keys.builder.Counter(subject, segment);
    AddWrite(write, key, batch);
    if (granularity != Granularity::kMinute || write.command == CommandId::kDel) continue;
    batch.Add(CommandId::kExpire)
        .AddOwned(std::move(key))
        .AddInteger(absl::ToInt64Seconds(MinuteCounterTtl()));
  }
}

}  // namespace

std::vector<std::string> CountedResponseCodes(std::string_view code) {
  constexpr size_t kDigits = 3;
  if (code.size() != kDigits || !std::all_of(code.begin(), code.end(), absl::ascii_isdigit)) {
    return {};
  }
  std::vector<std::string> counted;
  const std::string code_class = std::string(1, code.front()) + "XX";
  if (Contains(kCountedClasses, code_class)) counted.push_back(code_class);
  if (Contains(kCountedCodes, code)) counted.emplace_back(code);
  return counted;
}

void AddCounterCommands(const CountedTransaction& transaction, const Keys& keys, StampFormat format,
                        Batch& batch) {
  const CounterKeys shared = KeysAt(transaction.time, keys, format);
  for (const std::string& code : CountedResponseCodes(transaction.response_code)) {
    AddSubject({.service_id = transaction.service_id, .response_code = code},
               transaction.application_id, {CommandId::kIncrBy, "1"}, shared, batch);
  }
  for (const UsageEntry& entry : transaction.usage) {
    AddSubject({.service_id = transaction.service_id, .metric_id = entry.metric},
               transaction.application_id, WriteOf(entry.value), shared, batch);
  }
}

}  // namespace redouble::inline v0_1::threescale
