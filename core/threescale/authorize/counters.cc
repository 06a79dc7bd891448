#include "redouble/core/threescale/authorize/counters.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "redouble/core/threescale/keys.h"

namespace redouble::threescale {
namespace {

using store::Batch;
using store::CommandId;

constexpr std::array<std::string_view, 3> kCountedClasses = {"2XX", "4XX", "5XX"};
constexpr std::array<std::string_view, 5> kCountedCodes = {"200", "403", "404", "500", "503"};

template <typename Texts>
bool Contains(const Texts& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

// The last segments of a transaction's keys, which all of its counters share.
struct Segments {
  std::vector<std::string> service;
  std::vector<std::pair<Granularity, std::string>> application;
};

Segments SegmentsAt(absl::Time time, StampFormat format) {
  Segments segments;
  for (const Granularity granularity : ServiceGranularities()) {
    segments.service.push_back(PeriodAt(granularity, time).KeySegment(format));
  }
  for (const Granularity granularity : ApplicationGranularities()) {
    segments.application.emplace_back(granularity, PeriodAt(granularity, time).KeySegment(format));
  }
  return segments;
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
                const Segments& segments, Batch& batch) {
  for (const std::string& segment : segments.service) {
    AddWrite(write, CounterKey(subject, segment), batch);
  }
  subject.application_id = application_id;
  for (const auto& [granularity, segment] : segments.application) {
    std::string key = CounterKey(subject, segment);
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

void AddCounterCommands(const CountedTransaction& transaction, StampFormat format, Batch& batch) {
  const Segments segments = SegmentsAt(transaction.time, format);
  for (const std::string& code : CountedResponseCodes(transaction.response_code)) {
    AddSubject({.service_id = transaction.service_id, .response_code = code},
               transaction.application_id, {CommandId::kIncrBy, "1"}, segments, batch);
  }
  for (const UsageEntry& entry : transaction.usage) {
    AddSubject({.service_id = transaction.service_id, .metric_id = entry.metric},
               transaction.application_id, WriteOf(entry.value), segments, batch);
  }
}

}  // namespace redouble::threescale
