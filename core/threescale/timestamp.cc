#include "core/threescale/timestamp.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <regex>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/time/civil_time.h"
#include "core/base/string_bridge.h"

namespace redouble::threescale {
namespace {

using Match = std::smatch;

// Beyond this the original refuses to look for a date; it also keeps std::regex from recursing
// deeply.
constexpr size_t kMostCharacters = 128;

// The digits of an integer literal and their base.
struct Literal {
  std::string_view digits;
  int base = 10;
};

Literal SplitPrefix(std::string_view text) {
  constexpr int kHexadecimal = 16;
  constexpr int kOctal = 8;
  if (text.size() < 2 || text[0] != '0') return {text};
  switch (absl::ascii_tolower(text[1])) {
    case 'x':
      return {text.substr(2), kHexadecimal};
    case 'o':
      return {text.substr(2), kOctal};
    case 'b':
      return {text.substr(2), 2};
    case 'd':
      return {text.substr(2)};
    default:
      return {text, kOctal};
  }
}

int DigitValue(char c) {
  constexpr int kTen = 10;
  if (absl::ascii_isdigit(c)) return c - '0';
  if (absl::ascii_isalpha(c)) return absl::ascii_tolower(c) - 'a' + kTen;
  return std::numeric_limits<int>::max();
}

// The value of digits with single underscores between them, as far as int64 goes; none when it is
// no number.
std::optional<int64_t> ReadDigits(const Literal& literal) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  int64_t value = 0;
  bool after_digit = false;
  for (const char c : literal.digits) {
    if (c == '_' && after_digit) {
      after_digit = false;
      continue;
    }
    const int digit = DigitValue(c);
    if (digit >= literal.base) return std::nullopt;
    after_digit = true;
    value = value > (kMost - digit) / literal.base ? kMost : value * literal.base + digit;
  }
  return after_digit ? std::optional<int64_t>(value) : std::nullopt;
}

std::optional<absl::Time> ParseUnixSeconds(std::string_view text) {
  text = base::ToStd(absl::StripAsciiWhitespace(base::ToAbsl(text)));
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::optional<int64_t> seconds = ReadDigits(SplitPrefix(text));
  if (!seconds) return std::nullopt;
  return absl::FromUnixSeconds(negative ? -*seconds : *seconds);
}

// A date whose parts are as they stand in the text.
struct Date {
  std::string year;
  std::string month;
  std::string day;
};

struct TimeOfDay {
  int hour = 0;
  int minute = 0;
  int second = 0;
  absl::Duration zone;  // How far local time is ahead of UTC.
};

std::regex Pattern(const char* text) {
  return std::regex(text, std::regex::ECMAScript | std::regex::icase | std::regex::optimize);
}

// Cuts the first match of `pattern` out of `text`, leaving a blank.
bool Take(std::string& text, const std::regex& pattern, Match& match, std::string& matched_text) {
  matched_text = text;
  if (!std::regex_search(matched_text, match, pattern)) return false;
  text = match.prefix().str() + " " + match.suffix().str();
  return true;
}

struct NamedZone {
  std::string_view name;
  int minutes;
};
constexpr std::array kNamedZones = {
    NamedZone{"utc", 0},    NamedZone{"gmt", 0},    NamedZone{"ut", 0},     NamedZone{"est", -300},
    NamedZone{"edt", -240}, NamedZone{"cst", -360}, NamedZone{"cdt", -300}, NamedZone{"mst", -420},
    NamedZone{"mdt", -360}, NamedZone{"pst", -480}, NamedZone{"pdt", -420}, NamedZone{"wet", 0},
    NamedZone{"bst", 60},   NamedZone{"cet", 60},   NamedZone{"met", 60},   NamedZone{"cest", 120},
    NamedZone{"eet", 120},  NamedZone{"eest", 180}, NamedZone{"msk", 180},  NamedZone{"ist", 330},
    NamedZone{"jst", 540},  NamedZone{"hst", -600}, NamedZone{"akst", -540}};

// One letter, as armed forces name zones; none for j and for what is no letter.
std::optional<int> MilitaryHours(char letter) {
  constexpr std::string_view kEast = "abcdefghiklm";
  constexpr std::string_view kWest = "nopqrstuvwxy";
  if (letter == 'z') return 0;
  if (const size_t east = kEast.find(letter); east != kEast.npos) return static_cast<int>(east) + 1;
  if (const size_t west = kWest.find(letter); west != kWest.npos) {
    return -static_cast<int>(west) - 1;
  }
  return std::nullopt;
}

// "+2", "-0530", "+05:30", "+5.5".
absl::Duration NumericZone(const std::string& text) {
  static const std::regex& separated = *new std::regex(Pattern("^[-+](\\d+)([.,:])(\\d+)"));
  constexpr int kMinutes = 60;
  const int sign = text.front() == '-' ? -1 : 1;
  Match match;
  int minutes = 0;
  if (std::regex_search(text, match, separated)) {
    const double part = match[2].str() == ":" ? std::stoi(match[3]) / static_cast<double>(kMinutes)
                                              : std::stod("0." + match[3].str());
    minutes = std::stoi(match[1]) * kMinutes + static_cast<int>(part * kMinutes + 0.5);
  } else {
    constexpr size_t kHourDigits = 2;
    const std::string digits = text.substr(1, 4);
    minutes = std::stoi(digits.substr(0, kHourDigits)) * kMinutes;
    if (digits.size() > kHourDigits) minutes += std::stoi(digits.substr(kHourDigits));
  }
  return sign * absl::Minutes(minutes);
}

// An unknown zone is UTC.
absl::Duration ZoneOf(std::string text) {
  absl::AsciiStrToLower(&text);
  const size_t sign = text.find_first_of("+-");
  if (sign != std::string::npos) return NumericZone(text.substr(sign));
  const auto named = std::find_if(kNamedZones.begin(), kNamedZones.end(),
                                  [&](const NamedZone& zone) { return zone.name == text; });
  if (named != kNamedZones.end()) return absl::Minutes(named->minutes);
  if (text.size() != 1) return absl::ZeroDuration();
  return absl::Hours(MilitaryHours(text.front()).value_or(0));
}

// Takes a time of day and a zone out of `text`; midnight when there is none.
TimeOfDay TakeTimeOfDay(std::string& text) {
  static const std::regex& pattern = *new std::regex(
      Pattern("(\\d{1,4})\\s*:\\s*(\\d{1,4})(?:\\s*:\\s*(\\d{1,4})(?:[,.]\\d*)?)?(?:\\s*([ap])(?:"
              "m\\b|\\.m\\."
              "))?(?:\\s*((?:gmt|utc?)?[-+]\\d{1,6}(?:[,.:]\\d{1,4}(?::\\d{1,4})?)?|[a-z]+\\b))?"));
  TimeOfDay time;
  Match match;
  std::string matched;
  if (!Take(text, pattern, match, matched)) return time;
  constexpr int kHalfDay = 12;
  time.hour = std::stoi(match[1]);
  time.minute = std::stoi(match[2]);
  if (match[3].matched) time.second = std::stoi(match[3]);
  if (match[4].matched) {
    const bool afternoon = absl::ascii_tolower(*match[4].first) == 'p';
    time.hour = time.hour % kHalfDay + (afternoon ? kHalfDay : 0);
  }
  if (match[5].matched) time.zone = ZoneOf(match[5]);
  return time;
}

std::optional<int> MonthNumber(std::string text) {
  constexpr std::string_view kMonths = "janfebmaraprmayjunjulaugsepoctnovdec";
  constexpr size_t kLetters = 3;
  if (absl::ascii_isdigit(text.front())) return std::stoi(text);
  absl::AsciiStrToLower(&text);
  const size_t at = kMonths.find(text.substr(0, kLetters));
  if (at == kMonths.npos) return std::nullopt;
  return static_cast<int>(at / kLetters) + 1;
}

// A day of more than two digits is a year that stands last.
Date InOrder(Date date) {
  constexpr size_t kDayDigits = 2;
  if (date.day.size() > kDayDigits) std::swap(date.year, date.day);
  return date;
}

// One way to write a date: which groups are what.
struct DateForm {
  std::regex pattern;
  int year;
  int month;
  int day;
};

const std::array<DateForm, 7>& DateForms() {
#define REDOUBLE_MONTH "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
  static const auto& forms = *new std::array<DateForm, 7>{{
      {Pattern("(\\d{1,9})[^-\\d\\s]*\\s*" REDOUBLE_MONTH "[^-\\d\\s']*\\s*(\\d{1,9})"), 3, 2, 1},
      {Pattern("\\b" REDOUBLE_MONTH
               "[^-\\d\\s']*\\s*(\\d{1,9})(?!\\d)[^-\\d\\s']*\\s*,?\\s*(\\d{1,9})"),
       3, 1, 2},
      {Pattern("(\\d{1,9})-(\\d{1,9})-(\\d{1,9})"), 1, 2, 3},
      {Pattern("(\\d{1,9})-" REDOUBLE_MONTH "[^-]*-(\\d{1,9})"), 1, 2, 3},
      {Pattern("(\\d{1,9})/\\s*(\\d{1,9})\\D\\s*(\\d{1,9})"), 1, 2, 3},
      {Pattern("(\\d{1,9})\\.\\s*(\\d{1,9})\\.\\s*(\\d{1,9})"), 1, 2, 3},
      {Pattern("^\\s*(\\d{4})(\\d{2})(\\d{2})(?!\\d)"), 1, 2, 3},
  }};
#undef REDOUBLE_MONTH
  return forms;
}

std::optional<Date> TakeDate(std::string& text) {
  Match match;
  std::string matched;
  for (const DateForm& form : DateForms()) {
    if (!Take(text, form.pattern, match, matched)) continue;
    return InOrder({match[form.year], match[form.month], match[form.day]});
  }
  return std::nullopt;
}

// "T174239Z" behind a date of eight digits.
void TakeCompactTime(std::string& text, TimeOfDay& time) {
  static const std::regex& pattern = *new std::regex(
      Pattern("^\\s*t?\\s*(\\d{2})(\\d{2})?(\\d{2})?(?:[,.]\\d*)?(z\\b|[-+]\\d{1,4}\\b)?"));
  Match match;
  std::string matched;
  if (!Take(text, pattern, match, matched)) return;
  time.hour = std::stoi(match[1]);
  if (match[2].matched) time.minute = std::stoi(match[2]);
  if (match[3].matched) time.second = std::stoi(match[3]);
  if (match[4].matched) time.zone = ZoneOf(match[4]);
}

int64_t FullYear(const std::string& digits) {
  constexpr size_t kShort = 2;
  constexpr int64_t kCentury = 1900;
  constexpr int64_t kFirstOfLastCentury = 69;
  const int64_t year = std::stoll(digits);
  if (digits.size() > kShort) return year;
  return year + kCentury + (year < kFirstOfLastCentury ? 100 : 0);
}

bool IsTimeOfDay(const TimeOfDay& time) {
  constexpr int kHours = 24;
  constexpr int kMinutes = 60;
  const bool end_of_day = time.hour == kHours && time.minute == 0 && time.second == 0;
  return (time.hour < kHours || end_of_day) && time.minute < kMinutes && time.second <= kMinutes;
}

std::optional<absl::Time> ParseDate(std::string text) {
  constexpr int kMonths = 12;
  constexpr int kDays = 31;
  if (text.size() > kMostCharacters) return std::nullopt;
  TimeOfDay time = TakeTimeOfDay(text);
  const std::optional<Date> date = TakeDate(text);
  if (!date) return std::nullopt;
  if (time.hour == 0 && time.minute == 0 && time.second == 0) TakeCompactTime(text, time);
  const int month = MonthNumber(date->month).value_or(0);
  const int64_t day = std::stoll(date->day);
  if (month < 1 || month > kMonths || day < 1 || day > kDays || !IsTimeOfDay(time)) {
    return std::nullopt;
  }
  const absl::CivilSecond civil(FullYear(date->year), month, static_cast<int>(day), time.hour,
                                time.minute, time.second);
  return absl::FromCivil(civil, absl::UTCTimeZone()) - time.zone;
}

}  // namespace

std::optional<absl::Time> ParseTimestamp(std::string_view text) {
  if (const std::optional<absl::Time> time = ParseUnixSeconds(text)) return time;
  return ParseDate(std::string(text));
}

}  // namespace redouble::threescale
