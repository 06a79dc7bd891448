#include "redouble/core/python/iso_time.h"

#include <array>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/str_format.h"
#include "absl/time/civil_time.h"
#include "redouble/core/python/text.h"

namespace redouble::inline v0_1::python {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Reads a text from its front. After its end it sees NUL, as CPython's parser does.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  char At(size_t offset) const {
    return position_ + offset < text_.size() ? text_[position_ + offset] : '\0';
  }
  char Peek() const { return At(0); }
  bool AtEnd() const { return position_ >= text_.size(); }
  size_t left() const { return AtEnd() ? 0 : text_.size() - position_; }
  void Skip(size_t count = 1) { position_ += count; }
  void Back() { --position_; }

  // Reads exactly `count` digits; returns nullopt if there is anything else.
  std::optional<int> Digits(size_t count) {
    int number = 0;
    for (size_t i = 0; i < count; ++i) {
      if (!IsDigit(At(i))) return std::nullopt;
      number = number * 10 + (At(i) - '0');
    }
    Skip(count);
    return number;
  }

 private:
  std::string_view text_;
  size_t position_ = 0;
};

// Returns the position of the separator between date and time. Characters 4 and 5 decide the format
// of the date. In a week date, "2026-W01-12" has the separator "-" before an hour, and "2026W0112"
// is decided by whether the number of digits is even.
std::optional<size_t> SeparatorOf(std::string_view text) {
  constexpr size_t kWeek = 7, kBasic = 8, kExtended = 10;
  if (text.size() == kWeek) return kWeek;
  if (text[4] == '-') {
    if (text[5] != 'W') return kExtended;
    if (text.size() <= kBasic || text[8] != '-') return kBasic;
    if (text.size() == kBasic + 1) return std::nullopt;
    return text.size() > kExtended && IsDigit(text[10]) ? kBasic : kExtended;
  }
  if (text[4] != 'W') return kBasic;
  size_t digits_end = kWeek;
  while (digits_end < text.size() && IsDigit(text[digits_end])) ++digits_end;
  if (digits_end < kBasic + 1) return digits_end;
  return digits_end % 2 == 0 ? kWeek : kBasic;
}

std::optional<absl::CivilDay> DayOf(int year, int month, int day) {
  const absl::CivilDay civil(year, month, day);
  if (year < 1 || civil.month() != month || civil.day() != day) return std::nullopt;
  return civil;
}

// Returns the Monday of the year's first ISO week, which contains January 4.
absl::CivilDay FirstMonday(int year) {
  return absl::PrevWeekday(absl::CivilDay(year, 1, 5), absl::Weekday::monday);
}

std::optional<absl::CivilDay> DayOfWeekDate(int year, int week, int day) {
  if (year < 1 || week < 1 || day < 1 || day > 7) return std::nullopt;
  const absl::CivilDay monday = FirstMonday(year) + 7 * (week - 1);
  if (monday >= FirstMonday(year + 1)) return std::nullopt;
  const absl::CivilDay civil = monday + (day - 1);
  if (civil.year() > 9999) return std::nullopt;
  return civil;
}

std::optional<absl::CivilDay> ParseDate(std::string_view text) {
  Reader reader(text);
  const std::optional<int> year = reader.Digits(4);
  if (!year) return std::nullopt;
  const bool extended = reader.Peek() == '-';
  if (extended) reader.Skip();
  if (reader.Peek() == 'W') {
    reader.Skip();
    const std::optional<int> week = reader.Digits(2);
    if (!week) return std::nullopt;
    if (reader.AtEnd()) return DayOfWeekDate(*year, *week, 1);
    if (extended && reader.Peek() != '-') return std::nullopt;
    if (extended) reader.Skip();
    const std::optional<int> day = reader.Digits(1);
    return day ? DayOfWeekDate(*year, *week, *day) : std::nullopt;
  }
  const std::optional<int> month = reader.Digits(2);
  if (!month || (extended && reader.Peek() != '-')) return std::nullopt;
  if (extended) reader.Skip();
  const std::optional<int> day = reader.Digits(2);
  return day && reader.AtEnd() ? DayOf(*year, *month, *day) : std::nullopt;
}

struct ClockTime {
  int hour = 0;
  int minute = 0;
  int second = 0;
  int microsecond = 0;
  bool something_follows = false;
};

// Parses HH[:MM[:SS[.ffffff]]], or the same without colons.
std::optional<ClockTime> ParseClockTime(std::string_view text) {
  ClockTime time;
  Reader reader(text);
  bool colons = true;
  const std::array<int*, 3> fields = {&time.hour, &time.minute, &time.second};
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::optional<int> field = reader.Digits(2);
    if (!field) return std::nullopt;
    *fields[i] = *field;
    // The text after a time is an offset, which is not a NUL byte.
    const bool ended = reader.AtEnd();
    const char next = reader.Peek();
    reader.Skip();
    if (i == 0) colons = next == ':';
    if (reader.AtEnd()) {
      time.something_follows = !ended;
      return time;
    }
    if (colons && next == ':') continue;
    // A fraction is always a fraction of a second, also after hours or minutes.
    if (next == '.' || next == ',') break;
    if (!colons) {
      reader.Back();
    } else {
      return std::nullopt;
    }
  }
  constexpr size_t kDigits = 6;
  const size_t digits = std::min(kDigits, reader.left());
  const std::optional<int> fraction = reader.Digits(digits);
  if (!fraction) return std::nullopt;
  time.microsecond = *fraction;
  for (size_t i = digits; i < kDigits; ++i) time.microsecond *= 10;
  while (IsDigit(reader.Peek())) reader.Skip();
  time.something_follows = !reader.AtEnd();
  return time;
}

absl::Duration DurationOf(const ClockTime& time) {
  return absl::Hours(time.hour) + absl::Minutes(time.minute) + absl::Seconds(time.second) +
         absl::Microseconds(time.microsecond);
}

// A time of day and its offset, if any.
struct DayTime {
  absl::Duration since_midnight;
  std::optional<absl::Duration> offset;
};

std::optional<DayTime> ParseDayTime(std::string_view text) {
  const size_t zone = std::min(text.find_first_of("+-Z"), text.size());
  const std::optional<ClockTime> time = ParseClockTime(text.substr(0, zone));
  if (!time || time->hour > 23 || time->minute > 59 || time->second > 59) return std::nullopt;
  DayTime day_time = {DurationOf(*time), std::nullopt};
  if (zone == text.size()) {
    if (time->something_follows) return std::nullopt;
    return day_time;
  }
  // A final Z was replaced by an offset before; any other Z is an error.
  if (text[zone] == 'Z') return std::nullopt;
  const std::optional<ClockTime> offset = ParseClockTime(text.substr(zone + 1));
  if (!offset || offset->something_follows) return std::nullopt;
  absl::Duration magnitude = DurationOf(*offset);
  if (magnitude >= absl::Hours(24)) return std::nullopt;
  // CPython ignores the fraction of an offset that has no whole seconds.
  if (magnitude < absl::Seconds(1)) magnitude = absl::ZeroDuration();
  day_time.offset = text[zone] == '-' ? -magnitude : magnitude;
  return day_time;
}

// Returns the number of bytes of the character that begins with `lead`.
size_t CharacterLength(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte < 0x80) return 1;
  return byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
}

// Python's datetimes end with the year 9999, also after a conversion to another zone.
bool HasFourDigitYear(absl::Time time) {
  const absl::civil_year_t year = absl::ToCivilYear(time, absl::UTCTimeZone()).year();
  return year >= 1 && year <= 9999;
}

std::string Format(const DateTime& time, char separator) {
  const absl::Time local = time.time + time.offset.value_or(absl::ZeroDuration());
  const absl::CivilSecond civil = absl::ToCivilSecond(local, absl::UTCTimeZone());
  const int64_t microsecond =
      absl::ToUnixMicros(local) -
      absl::ToUnixSeconds(absl::FromCivil(civil, absl::UTCTimeZone())) * 1'000'000;
  std::string text =
      absl::StrFormat("%04d-%02d-%02d%c%02d:%02d:%02d", civil.year(), civil.month(), civil.day(),
                      separator, civil.hour(), civil.minute(), civil.second());
  if (microsecond != 0) text += absl::StrFormat(".%06d", microsecond);
  return text;
}

// Returns "+HH:MM", and the seconds and microseconds if `exact` is set and they are not zero.
std::string FormatOffset(absl::Duration offset, bool exact) {
  constexpr int64_t kMicros = 1'000'000, kSeconds = 60, kMinutes = 60;
  const int64_t micros = absl::ToInt64Microseconds(absl::AbsDuration(offset));
  const int64_t seconds = micros / kMicros;
  std::string text = absl::StrFormat("%c%02d:%02d", offset < absl::ZeroDuration() ? '-' : '+',
                                     seconds / kSeconds / kMinutes, seconds / kSeconds % kMinutes);
  if (exact && micros % (kSeconds * kMicros) != 0) {
    text += absl::StrFormat(":%02d", seconds % kSeconds);
    if (micros % kMicros != 0) text += absl::StrFormat(".%06d", micros % kMicros);
  }
  return text;
}

std::string FormatPython(const DateTime& time, char separator) {
  std::string text = Format(time, separator);
  if (time.offset) text += FormatOffset(*time.offset, /*exact=*/true);
  return text;
}

// A datetime in parts: the local time without a zone, and the offset.
struct LocalTime {
  absl::CivilSecond second;
  absl::Duration fraction;
  std::optional<absl::Duration> offset;
};

std::optional<LocalTime> ParseLocalTime(std::string_view input) {
  std::string text(Strip(input));
  if (text.ends_with('Z')) text.replace(text.size() - 1, 1, "+00:00");
  constexpr size_t kShortest = 7;
  if (text.size() < kShortest || text.find('\0') != text.npos) return std::nullopt;
  const std::optional<size_t> separator = SeparatorOf(text);
  if (!separator) return std::nullopt;
  const std::optional<absl::CivilDay> day = ParseDate(std::string_view(text).substr(0, *separator));
  if (!day) return std::nullopt;
  DayTime time = {absl::ZeroDuration(), std::nullopt};
  if (text.size() > *separator) {
    const size_t begin = *separator + CharacterLength(text[*separator]);
    if (begin > text.size()) return std::nullopt;
    const std::optional<DayTime> parsed = ParseDayTime(std::string_view(text).substr(begin));
    if (!parsed) return std::nullopt;
    time = *parsed;
  }
  const int64_t seconds = absl::ToInt64Seconds(time.since_midnight);
  LocalTime local;
  local.second = absl::CivilSecond(*day) + seconds;
  local.fraction = time.since_midnight - absl::Seconds(seconds);
  local.offset = time.offset;
  return local;
}

// Whole seconds are civil time, in which a zone may have gaps; the fraction is added afterwards.
absl::Time InstantOf(const LocalTime& local, absl::TimeZone naive_zone) {
  return absl::FromCivil(local.second, local.offset ? absl::UTCTimeZone() : naive_zone) +
         local.fraction - local.offset.value_or(absl::ZeroDuration());
}

}  // namespace

std::optional<absl::Time> ParseTimestamp(std::string_view text, absl::TimeZone naive_zone) {
  const std::optional<LocalTime> local = ParseLocalTime(text);
  if (!local) return std::nullopt;
  const absl::Time instant = InstantOf(*local, naive_zone);
  if (!HasFourDigitYear(instant)) return std::nullopt;
  return instant;
}

std::optional<DateTime> ParseDateTime(std::string_view text) {
  const std::optional<LocalTime> local = ParseLocalTime(text);
  if (!local) return std::nullopt;
  return DateTime(InstantOf(*local, absl::UTCTimeZone()), local->offset);
}

std::string FormatIso(const DateTime& time) { return FormatPython(time, 'T'); }

std::string FormatIsoZ(const DateTime& time) {
  const std::string text = Format(time, 'T');
  if (!time.offset) return text;
  if (*time.offset == absl::ZeroDuration()) return text + "Z";
  return text + FormatOffset(*time.offset, /*exact=*/false);
}

std::string FormatIsoWithSpace(const DateTime& time) { return FormatPython(time, ' '); }

}  // namespace redouble::inline v0_1::python
