#include "redouble/core/base/time/utc.h"

#include <cassert>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/civil_time.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::base {
namespace {

template <typename Civil>
Civil CivilOf(absl::Time time) {
  return Civil(absl::ToCivilSecond(time, absl::UTCTimeZone()));
}

template <typename Civil>
absl::Time StartOf(absl::Time time) {
  return absl::FromCivil(CivilOf<Civil>(time), absl::UTCTimeZone());
}

template <typename Civil>
absl::Time StartOfNext(absl::Time time) {
  return absl::FromCivil(CivilOf<Civil>(time) + 1, absl::UTCTimeZone());
}

// Returns the nanoseconds of `time` since its last whole second.
int64_t SubsecondNanos(absl::Time time) {
  const absl::Time second = StartOf<absl::CivilSecond>(time);
  return absl::ToInt64Nanoseconds(time - second);
}

std::string FormatSeconds(absl::Time time) {
  const auto second = CivilOf<absl::CivilSecond>(time);
  return absl::StrFormat("%04d-%02d-%02dT%02d:%02d:%02d", second.year(), second.month(),
                         second.day(), second.hour(), second.minute(), second.second());
}

// Parses RFC 3339 from the front of a text, field by field. After a failure every further step
// fails.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  // Reads exactly `digits` digits with a value in [least, most].
  int Number(int digits, int least, int most) {
    int value = 0;
    for (int i = 0; i < digits; ++i) {
      if (!NextIsDigit()) return Fail();
      value = value * 10 + (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    return value >= least && value <= most ? value : Fail();
  }

  // Reads one byte of `choices`; returns '\0' if there is another byte.
  char OneOf(std::string_view choices) {
    if (rest_.empty() || choices.find(rest_.front()) == std::string_view::npos) {
      Fail();
      return '\0';
    }
    const char found = rest_.front();
    rest_.remove_prefix(1);
    return found;
  }

  // Reads a fraction such as ".5"; returns zero if there is none.
  absl::Duration Fraction() {
    if (rest_.empty() || rest_.front() != '.') return absl::ZeroDuration();
    rest_.remove_prefix(1);
    if (!NextIsDigit()) Fail();
    int64_t nanos = 0;
    for (int64_t unit = 100'000'000; NextIsDigit(); unit /= 10) {
      nanos += unit * (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    return absl::Nanoseconds(nanos);
  }

  // Reads "Z" or "+hh:mm" and returns how far local time is ahead of UTC.
  absl::Duration Offset() {
    const char sign = OneOf("Zz+-");
    if (sign != '+' && sign != '-') return absl::ZeroDuration();
    const int hours = Number(2, 0, 23);
    OneOf(":");
    const absl::Duration size = absl::Hours(hours) + absl::Minutes(Number(2, 0, 59));
    return sign == '+' ? size : -size;
  }

  bool AtEnd() const { return ok_ && rest_.empty(); }

 private:
  bool NextIsDigit() const {
    return !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9';
  }

  int Fail() {
    ok_ = false;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool ok_ = true;
};

std::optional<absl::Time> ReadRfc3339(std::string_view text) {
  Reader reader(text);
  const int year = reader.Number(4, 0, 9999);
  reader.OneOf("-");
  const int month = reader.Number(2, 1, 12);
  reader.OneOf("-");
  const int day = reader.Number(2, 1, 31);
  reader.OneOf("Tt");
  const int hour = reader.Number(2, 0, 23);
  reader.OneOf(":");
  const int minute = reader.Number(2, 0, 59);
  reader.OneOf(":");
  const int second = reader.Number(2, 0, 59);
  const absl::Duration fraction = reader.Fraction();
  const absl::Duration offset = reader.Offset();
  if (!reader.AtEnd()) return std::nullopt;
  const absl::CivilSecond civil(year, month, day, hour, minute, second);
  // absl::CivilSecond carries a day that the month does not have into the next month.
  if (civil.day() != day) return std::nullopt;
  return absl::FromCivil(civil, absl::UTCTimeZone()) + fraction - offset;
}

}  // namespace

std::string FormatUtcYear(absl::Time time) {
  return absl::StrFormat("%04d", CivilOf<absl::CivilYear>(time).year());
}

std::string FormatUtcMonth(absl::Time time) {
  const auto month = CivilOf<absl::CivilMonth>(time);
  return absl::StrFormat("%04d%02d", month.year(), month.month());
}

std::string FormatUtcDay(absl::Time time) {
  const auto day = CivilOf<absl::CivilDay>(time);
  return absl::StrFormat("%04d%02d%02d", day.year(), day.month(), day.day());
}

std::string FormatUtcHour(absl::Time time) {
  const auto hour = CivilOf<absl::CivilHour>(time);
  return absl::StrFormat("%s%02d", FormatUtcDay(time), hour.hour());
}

std::string FormatUtcMinute(absl::Time time) {
  const auto minute = CivilOf<absl::CivilMinute>(time);
  return absl::StrFormat("%s%02d%02d", FormatUtcDay(time), minute.hour(), minute.minute());
}

std::string FormatUtcSecond(absl::Time time) {
  const auto second = CivilOf<absl::CivilSecond>(time);
  return absl::StrFormat("%s%02d%02d%02d", FormatUtcDay(time), second.hour(), second.minute(),
                         second.second());
}

absl::Time StartOfUtcMinute(absl::Time time) { return StartOf<absl::CivilMinute>(time); }
absl::Time StartOfUtcHour(absl::Time time) { return StartOf<absl::CivilHour>(time); }
absl::Time StartOfUtcDay(absl::Time time) { return StartOf<absl::CivilDay>(time); }
absl::Time StartOfUtcMonth(absl::Time time) { return StartOf<absl::CivilMonth>(time); }
absl::Time StartOfUtcYear(absl::Time time) { return StartOf<absl::CivilYear>(time); }

absl::Time StartOfNextUtcMinute(absl::Time time) { return StartOfNext<absl::CivilMinute>(time); }
absl::Time StartOfNextUtcHour(absl::Time time) { return StartOfNext<absl::CivilHour>(time); }
absl::Time StartOfNextUtcDay(absl::Time time) { return StartOfNext<absl::CivilDay>(time); }
absl::Time StartOfNextUtcMonth(absl::Time time) { return StartOfNext<absl::CivilMonth>(time); }
absl::Time StartOfNextUtcYear(absl::Time time) { return StartOfNext<absl::CivilYear>(time); }

std::string FormatRfc3339(absl::Time time) {
  std::string fraction = absl::StrFormat(".%09d", SubsecondNanos(time));
  fraction.erase(fraction.find_last_not_of('0') + 1);
  if (fraction == ".") fraction.clear();
  return absl::StrCat(FormatSeconds(time), fraction, "Z");
}

std::string FormatRfc3339(absl::Time time, int digits) {
  assert(digits >= 0 && digits <= 9);
  if (digits == 0) return FormatSeconds(time) + "Z";
  std::string fraction = absl::StrFormat(".%09d", SubsecondNanos(time));
  fraction.resize(static_cast<size_t>(digits) + 1);
  return absl::StrCat(FormatSeconds(time), fraction, "Z");
}

absl::StatusOr<absl::Time> ParseRfc3339(std::string_view text) {
  const std::optional<absl::Time> time = ReadRfc3339(text);
  if (!time.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("not an RFC 3339 time: \"", ToAbsl(text), "\""));
  }
  return *time;
}

}  // namespace redouble::inline v0_1::base
