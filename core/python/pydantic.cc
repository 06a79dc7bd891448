#include "redouble/core/python/pydantic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/python/text.h"

namespace redouble::inline v0_1::python {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kMicrosPerMilli = 1'000;
constexpr int64_t kMillisPerSecond = 1'000;
// Numbers beyond this are milliseconds.
constexpr int64_t kMostSeconds = 20'000'000'000;

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }

// Reads a text from its front.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool AtEnd() const { return rest_.empty(); }
  bool Take(std::string_view prefix) {
    if (!rest_.starts_with(prefix)) return false;
    rest_.remove_prefix(prefix.size());
    return true;
  }
  bool TakeOneOf(std::string_view characters) {
    if (rest_.empty() || characters.find(rest_.front()) == characters.npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Reads exactly `count` digits of a number that is at most `most`.
  std::optional<int> Number(size_t count, int most) {
    if (rest_.size() < count) return std::nullopt;
    int number = 0;
    for (const char c : rest_.substr(0, count)) {
      if (!IsDigit(c)) return std::nullopt;
      number = number * 10 + (c - '0');
    }
    rest_.remove_prefix(count);
    return number > most ? std::nullopt : std::optional(number);
  }
  // Reads all digits that there are.
  std::string_view Digits() {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), IsDigit);
    const std::string_view digits = rest_.substr(0, static_cast<size_t>(end - rest_.begin()));
    rest_.remove_prefix(digits.size());
    return digits;
  }

 private:
  std::string_view rest_;
};

std::optional<absl::CivilDay> TakeDay(Reader& reader) {
  constexpr int kMostYear = 9999, kMonths = 12, kDays = 31;
  const std::optional<int> year = reader.Number(4, kMostYear);
  if (!year || !reader.Take("-")) return std::nullopt;
  const std::optional<int> month = reader.Number(2, kMonths);
  if (!month || !reader.Take("-")) return std::nullopt;
  const std::optional<int> day = reader.Number(2, kDays);
  if (!day) return std::nullopt;
  const absl::CivilDay civil(*year, *month, *day);
  if (*year < 1 || civil.month() != *month || civil.day() != *day) return std::nullopt;
  return civil;
}

constexpr size_t kFractionDigits = 6;

// A fraction of a second in whole microseconds; further digits are ignored.
absl::Duration Fraction(std::string_view digits) {
  int64_t micros = 0;
  for (size_t i = 0; i < kFractionDigits; ++i) {
    micros = micros * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  }
  return absl::Microseconds(micros);
}

std::optional<absl::Duration> TakeTimeOfDay(Reader& reader) {
  constexpr int kMostHour = 23, kMostMinute = 59, kMostSecond = 59;
  const std::optional<int> hour = reader.Number(2, kMostHour);
  if (!hour || !reader.Take(":")) return std::nullopt;
  const std::optional<int> minute = reader.Number(2, kMostMinute);
  if (!minute) return std::nullopt;
  absl::Duration time = absl::Hours(*hour) + absl::Minutes(*minute);
  if (!reader.Take(":")) return time;
  const std::optional<int> second = reader.Number(2, kMostSecond);
  if (!second) return std::nullopt;
  time += absl::Seconds(*second);
  if (!reader.TakeOneOf(".,")) return time;
  const std::string_view digits = reader.Digits();
  if (digits.empty()) return std::nullopt;
  return time + Fraction(digits);
}

// Reads Z or an offset with a sign; U+2212 is a minus sign too.
std::optional<absl::Duration> TakeOffset(Reader& reader) {
  constexpr int kMostHour = 23, kMostMinute = 59;
  if (reader.TakeOneOf("Zz")) return absl::ZeroDuration();
  const bool negative = reader.Take("-") || reader.Take("\u2212");
  if (!negative && !reader.Take("+")) return std::nullopt;
  const std::optional<int> hour = reader.Number(2, kMostHour);
  if (!hour) return std::nullopt;
  reader.Take(":");
  const std::optional<int> minute = reader.Number(2, kMostMinute);
  if (!minute) return std::nullopt;
  const absl::Duration offset = absl::Hours(*hour) + absl::Minutes(*minute);
  return negative ? -offset : offset;
}

std::optional<DateTime> ParseText(std::string_view text) {
  Reader reader(text);
  const std::optional<absl::CivilDay> day = TakeDay(reader);
  if (!day) return std::nullopt;
  const absl::Time midnight = absl::FromCivil(*day, absl::UTCTimeZone());
  if (reader.AtEnd()) return DateTime(midnight, std::nullopt);
  if (!reader.TakeOneOf("Tt _")) return std::nullopt;
  const std::optional<absl::Duration> time = TakeTimeOfDay(reader);
  if (!time) return std::nullopt;
  if (reader.AtEnd()) return DateTime(midnight + *time, std::nullopt);
  const std::optional<absl::Duration> offset = TakeOffset(reader);
  if (!offset || !reader.AtEnd()) return std::nullopt;
  return DateTime(midnight + *time - *offset, *offset);
}

std::optional<DateTime> FromUnix(int64_t seconds, int64_t micros) {
  const absl::Time time = absl::FromUnixSeconds(seconds) + absl::Microseconds(micros);
  const absl::civil_year_t year = absl::ToCivilYear(time, absl::UTCTimeZone()).year();
  if (year < 1 || year > 9999) return std::nullopt;
  return DateTime(time);
}

// Rounds towards the past, as Python's divmod.
int64_t FloorOf(int64_t number, int64_t divisor) {
  return number / divisor - (number % divisor < 0 ? 1 : 0);
}

std::optional<DateTime> FromInteger(int64_t number) {
  if (number <= kMostSeconds && number >= -kMostSeconds) return FromUnix(number, 0);
  const int64_t seconds = FloorOf(number, kMillisPerSecond);
  return FromUnix(seconds, (number - seconds * kMillisPerSecond) * kMicrosPerMilli);
}

// The fraction is counted from the whole number below, also for a negative number: -1.2 is 0.2
// after -2. This is what pydantic does.
std::optional<DateTime> FromReal(double number) {
  constexpr double kBeyondAllYears = 1e15;
  if (!(std::abs(number) < kBeyondAllYears)) return std::nullopt;
  const auto whole = static_cast<int64_t>(std::floor(number));
  const double micros = std::abs(std::fmod(number, 1.0)) * kMicrosPerSecond;
  const bool beyond = std::abs(number) > static_cast<double>(kMostSeconds);
  const auto rest =
      static_cast<int64_t>(std::floor((beyond ? micros / kMicrosPerMilli : micros) + 0.5));
  if (whole <= kMostSeconds && whole >= -kMostSeconds) return FromUnix(whole, rest);
  const int64_t seconds = FloorOf(whole, kMillisPerSecond);
  return FromUnix(seconds, (whole - seconds * kMillisPerSecond) * kMicrosPerMilli + rest);
}

// A number as text: a sign, digits, and a fraction, which is rounded to microseconds. A fraction of
// a millisecond is dropped.
std::optional<DateTime> ParseNumber(std::string_view text) {
  Reader reader(text);
  const bool negative = reader.Take("-");
  if (!negative) reader.Take("+");
  std::string_view digits = reader.Digits();
  std::string_view fraction;
  if (reader.Take(".")) fraction = reader.Digits();
  if (!reader.AtEnd() || (digits.empty() && fraction.empty())) return std::nullopt;
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  const std::optional<int64_t> number = digits.empty() ? 0 : base::ParseInt64(digits);
  if (!number) return std::nullopt;
  if (*number > kMostSeconds) return FromInteger(negative ? -*number : *number);
  absl::Duration since = absl::Seconds(*number) + Fraction(fraction);
  const bool rounds_up = fraction.size() > kFractionDigits && fraction[kFractionDigits] >= '5';
  if (rounds_up) since += absl::Microseconds(1);
  return FromUnix(0, absl::ToInt64Microseconds(negative ? -since : since));
}

// Returns the integer of a text. White space is Rust's, which has no control characters from U+001C
// to U+001F, but is Python's otherwise.
std::optional<int64_t> ParseIntegerText(std::string_view text) {
  const std::string_view stripped = Strip(text);
  const auto begin = static_cast<size_t>(stripped.data() - text.data());
  const std::string around = absl::StrCat(base::ToAbsl(text.substr(0, begin)),
                                          base::ToAbsl(text.substr(begin + stripped.size())));
  if (around.find_first_of("\x1c\x1d\x1e\x1f") != around.npos) return std::nullopt;
  Reader reader(stripped);
  std::string number = reader.Take("-") ? "-" : "";
  if (number.empty()) reader.Take("+");
  std::string digits;
  do {
    const std::string_view group = reader.Digits();
    if (group.empty()) return std::nullopt;
    digits.append(group);
  } while (reader.Take("_"));
  if (reader.Take(".")) {
    const std::string_view fraction = reader.Digits();
    if (fraction.empty() || fraction.find_first_not_of('0') != fraction.npos) return std::nullopt;
  }
  if (!reader.AtEnd()) return std::nullopt;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  if (digits == "0") return 0;
  return base::ParseInt64(number.append(digits));
}

// Returns the integer of a number without a fraction.
std::optional<int64_t> IntegerOf(double number) {
  constexpr double kBeyond = 9223372036854775808.0;  // 2 to the power of 63.
  if (number != std::trunc(number) || number >= kBeyond || number < -kBeyond) return std::nullopt;
  return static_cast<int64_t>(number);
}

}  // namespace

std::optional<DateTime> PydanticDateTime(const Value& value) {
  if (value.date_time() != nullptr) return *value.date_time();
  if (value.real() != nullptr) return FromReal(*value.real());
  if (value.integer() != nullptr) {
    const std::optional<int64_t> number = value.AsInt64();
    return number ? FromInteger(*number) : std::nullopt;
  }
  if (value.text() == nullptr) return std::nullopt;
  const std::optional<DateTime> time = ParseText(*value.text());
  return time ? time : ParseNumber(*value.text());
}

std::optional<bool> PydanticBool(const Value& value) {
  constexpr std::array<std::string_view, 6> kTrue = {"1", "on", "t", "true", "y", "yes"};
  constexpr std::array<std::string_view, 6> kFalse = {"0", "off", "f", "false", "n", "no"};
  if (value.boolean() != nullptr) return *value.boolean();
  std::string text;
  if (value.text() != nullptr) {
    text = absl::AsciiStrToLower(*value.text());
  } else if (value.integer() != nullptr) {
    text = value.integer()->digits;
    if (text != "0" && text != "1") return std::nullopt;
  } else if (value.real() != nullptr && (*value.real() == 0 || *value.real() == 1)) {
    return *value.real() == 1;
  }
  if (std::find(kTrue.begin(), kTrue.end(), text) != kTrue.end()) return true;
  if (std::find(kFalse.begin(), kFalse.end(), text) != kFalse.end()) return false;
  return std::nullopt;
}

std::optional<int64_t> PydanticInteger(const Value& value) {
  if (value.boolean() != nullptr) return *value.boolean() ? 1 : 0;
  if (value.real() != nullptr) return IntegerOf(*value.real());
  return value.text() == nullptr ? value.AsInt64() : ParseIntegerText(*value.text());
}

}  // namespace redouble::inline v0_1::python
