#include "redouble/core/threescale/model/usage.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "absl/strings/ascii.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/threescale/errors.h"

namespace redouble::inline v0_1::threescale {
namespace {

constexpr char kSetMark = '#';

template <typename UsageType>
auto FindEntry(UsageType& usage, std::string_view metric) {
  return std::find_if(usage.begin(), usage.end(),
                      [&](const UsageEntry& entry) { return entry.metric == metric; });
}

bool IsUsageText(std::string_view text) {
  while (!text.empty() && absl::ascii_isspace(text.front())) text.remove_prefix(1);
  while (!text.empty() && absl::ascii_isspace(text.back())) text.remove_suffix(1);
  if (text.starts_with(kSetMark)) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

}  // namespace

void PutUsage(Usage& usage, std::string_view metric, std::string_view value) {
  const auto entry = FindEntry(usage, metric);
  if (entry != usage.end()) {
    entry->value = value;
  } else {
    usage.push_back({std::string(metric), std::string(value)});
  }
}

const std::string* FindUsage(const Usage& usage, std::string_view metric) {
  const auto entry = FindEntry(usage, metric);
  return entry == usage.end() ? nullptr : &entry->value;
}

absl::Status CheckUsageValue(const UsageEntry& entry) {
  if (IsUsageText(entry.value)) return absl::OkStatus();
  return MakeError(ErrorCode::kUsageValueInvalid, entry.value, entry.metric);
}

bool IsSet(std::string_view value) { return value.starts_with(kSetMark); }

Integer AmountOf(std::string_view value) {
  return ToInteger(IsSet(value) ? value.substr(1) : value);
}

std::string AmountText(std::string_view value) {
  if (IsSet(value)) value.remove_prefix(1);
  value = base::ToStd(absl::StripLeadingAsciiWhitespace(base::ToAbsl(value)));
  const auto end = std::find_if_not(value.begin(), value.end(), absl::ascii_isdigit);
  const std::string_view digits = value.substr(0, static_cast<size_t>(end - value.begin()));
  const size_t first = digits.find_first_not_of('0');
  return first == std::string_view::npos ? "0" : std::string(digits.substr(first));
}

Integer ApplyUsage(Integer current, std::string_view value) {
  return IsSet(value) ? AmountOf(value) : current + AmountOf(value);
}

Usage WithoutZeros(const Usage& usage) {
  Usage rest;
  std::copy_if(usage.begin(), usage.end(), std::back_inserter(rest),
               [](const UsageEntry& entry) { return entry.value != "0"; });
  return rest;
}

Usage PropagateUsage(const Usage& usage, std::span<const std::vector<std::string>> ancestors) {
  assert(usage.size() == ancestors.size());
  Usage result = usage;
  for (size_t i = 0; i < usage.size(); ++i) {
    const std::string& value = usage[i].value;
    for (const std::string& ancestor : ancestors[i]) {
      if (IsSet(value)) {
        PutUsage(result, ancestor, value);
        continue;
      }
      const std::string* before = FindUsage(result, ancestor);
      const Integer sum = (before == nullptr ? Integer(0) : ToInteger(*before)) + ToInteger(value);
      PutUsage(result, ancestor, FormatInteger(sum));
    }
  }
  return result;
}

}  // namespace redouble::inline v0_1::threescale
