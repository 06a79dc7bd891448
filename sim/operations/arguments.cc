#include "redouble/sim/operations/arguments.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/json/json_reading.h"
#include "redouble/core/base/text/nearest_word.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/sim/json/bytes.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::Expected;

constexpr absl::string_view kPayloadUrl = "redouble/argument-error";

}  // namespace

bool IsArgumentError(const absl::Status& status) {
  return status.GetPayload(kPayloadUrl).has_value();
}

std::string ArgumentErrorPath(const absl::Status& status) {
  return std::string(status.GetPayload(kPayloadUrl).value_or(absl::Cord()));
}

ArgumentReader::ArgumentReader(const Json& arguments, std::string_view path)
    : arguments_(arguments), path_(path) {
  if (!arguments.is_object()) Refuse("", Expected("an object", arguments));
}

void ArgumentReader::AddError(std::string_view path, std::string_view reason) {
  const std::string begin = absl::StrCat(base::ToAbsl(path), ": ");
  const absl::string_view known = status_.message();
  if (absl::StartsWith(known, begin) || absl::StrContains(known, absl::StrCat("\n", begin))) {
    return;
  }
  const std::string line = absl::StrCat(begin, base::ToAbsl(reason));
  if (!status_.ok()) {
    const std::string first = ArgumentErrorPath(status_);
    status_ = absl::InvalidArgumentError(absl::StrCat(known, "\n", line));
    status_.SetPayload(kPayloadUrl, absl::Cord(first));
    return;
  }
  status_ = absl::InvalidArgumentError(line);
  status_.SetPayload(kPayloadUrl, absl::Cord(base::ToAbsl(path)));
}

void ArgumentReader::Refuse(std::string_view name, std::string_view reason) {
  AddError(absl::StrCat(path_, name.empty() ? "" : base::PointerPart(name)), reason);
}

void ArgumentReader::Add(const absl::Status& status) {
  if (status.ok()) return;
  for (const absl::string_view line : absl::StrSplit(status.message(), '\n')) {
    // A line may name its step before the path: "step 2: /steps/2/kind: is missing".
    const size_t path_begin = absl::StartsWith(line, "/") ? 0 : line.find(": /") + 2;
    const size_t path_end = std::min(line.find(": ", path_begin), line.size());
    const size_t reason_begin = std::min(path_end + 2, line.size());
    AddError(base::ToStd(line.substr(0, path_end)), base::ToStd(line.substr(reason_begin)));
  }
}

const Json* ArgumentReader::FindOrNull(std::string_view name) {
  asked_.emplace(name);
  if (!arguments_.is_object()) return nullptr;
  const auto found = arguments_.find(std::string(name));
  return found == arguments_.end() ? nullptr : &*found;
}

const Json* ArgumentReader::Find(std::string_view name) {
  const Json* value = FindOrNull(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

const Json* ArgumentReader::Require(std::string_view name) {
  const Json* value = Find(name);
  if (value == nullptr && arguments_.is_object()) Refuse(name, "is missing");
  return value;
}

std::string ArgumentReader::ReadString(std::string_view name, const Json& value) {
  if (!value.is_string()) {
    Refuse(name, Expected("a string", value));
    return {};
  }
  absl::StatusOr<std::string> bytes = DecodeBytes(value.get_ref<const std::string&>());
  if (bytes.ok()) return *std::move(bytes);
  Refuse(name, base::ToStd(bytes.status().message()));
  return {};
}

int64_t ArgumentReader::ReadInteger(std::string_view name, const Json& value) {
  if (const std::optional<int64_t> number = base::AsInt64(value)) return *number;
  Refuse(name, Expected("an integer", value));
  return 0;
}

bool ArgumentReader::ReadBool(std::string_view name, const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  Refuse(name, Expected("true or false", value));
  return false;
}

double ArgumentReader::ReadDouble(std::string_view name, const Json& value) {
  double number = 0;
  if (value.is_number()) return value.get<double>();
  if (value.is_string() && absl::SimpleAtod(value.get_ref<const std::string&>(), &number)) {
    return number;
  }
  Refuse(name, Expected("a number, or one as text (\"NaN\", \"inf\", \"1e-7\")", value));
  return 0;
}

absl::Time ArgumentReader::ReadTime(std::string_view name, const Json& value) {
  if (!value.is_string()) {
    Refuse(name, Expected("a time such as \"2026-05-09T14:03:02Z\"", value));
    return absl::UnixEpoch();
  }
  const absl::StatusOr<absl::Time> time = base::ParseRfc3339(value.get_ref<const std::string&>());
  if (time.ok()) return *time;
  const std::string& text = value.get_ref<const std::string&>();
  const bool lacks_zone = base::ParseRfc3339(text + "Z").ok();
  Refuse(name, absl::StrCat(time.status().message(),
                            lacks_zone ? absl::StrCat("; write \"", text, "Z\" for UTC") : ""));
  return absl::UnixEpoch();
}

std::string ArgumentReader::String(std::string_view name) {
  const Json* value = Require(name);
  return value == nullptr ? std::string() : ReadString(name, *value);
}

int64_t ArgumentReader::Integer(std::string_view name) {
  const Json* value = Require(name);
  return value == nullptr ? 0 : ReadInteger(name, *value);
}

bool ArgumentReader::Bool(std::string_view name) {
  const Json* value = Require(name);
  return value != nullptr && ReadBool(name, *value);
}

double ArgumentReader::Double(std::string_view name) {
  const Json* value = Require(name);
  return value == nullptr ? 0 : ReadDouble(name, *value);
}

absl::Time ArgumentReader::Time(std::string_view name) {
  const Json* value = Require(name);
  return value == nullptr ? absl::UnixEpoch() : ReadTime(name, *value);
}

std::vector<std::string> ArgumentReader::Strings(std::string_view name) {
  std::vector<std::string> strings;
  const Json* value = Require(name);
  if (value == nullptr) return strings;
  if (!value->is_array()) {
    Refuse(name, Expected("an array of strings", *value));
    return strings;
  }
  for (const Json& element : *value) strings.push_back(ReadString(name, element));
  return strings;
}

const Json& ArgumentReader::Any(std::string_view name) {
  static const Json* const kNull = new Json();
  const Json* value = Require(name);
  return value == nullptr ? *kNull : *value;
}

std::optional<std::string> ArgumentReader::OptionalString(std::string_view name) {
  const Json* value = Find(name);
  if (value == nullptr) return std::nullopt;
  return ReadString(name, *value);
}

std::optional<int64_t> ArgumentReader::OptionalInteger(std::string_view name) {
  const Json* value = Find(name);
  if (value == nullptr) return std::nullopt;
  return ReadInteger(name, *value);
}

std::optional<double> ArgumentReader::OptionalDouble(std::string_view name) {
  const Json* value = Find(name);
  if (value == nullptr) return std::nullopt;
  return ReadDouble(name, *value);
}

std::optional<absl::Time> ArgumentReader::OptionalTime(std::string_view name) {
  const Json* value = Find(name);
  if (value == nullptr) return std::nullopt;
  return ReadTime(name, *value);
}

bool ArgumentReader::BoolOr(std::string_view name, bool otherwise) {
  const Json* value = Find(name);
  return value == nullptr ? otherwise : ReadBool(name, *value);
}

int64_t ArgumentReader::IntegerOr(std::string_view name, int64_t otherwise) {
  return OptionalInteger(name).value_or(otherwise);
}

absl::Time ArgumentReader::TimeOr(std::string_view name, absl::Time otherwise) {
  return OptionalTime(name).value_or(otherwise);
}

absl::Status ArgumentReader::Finish() {
  if (arguments_.is_object()) {
    for (const auto& [name, value] : arguments_.items()) {
      if (!asked_.contains(name)) {
        const std::vector<std::string> known(asked_.begin(), asked_.end());
        Refuse(name, absl::StrCat("unknown", base::DidYouMean(name, known),
                                  "; known here: ", absl::StrJoin(known, ", ")));
      }
    }
  }
  return status_;
}

}  // namespace redouble::inline v0_1::sim
