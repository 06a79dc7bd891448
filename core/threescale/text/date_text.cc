#include "redouble/core/threescale/text/date_text.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/time/civil_time.h"
#include "redouble/core/threescale/text/time_zone.h"

// The parser looks for one form after the other: first the day of the week and the time of day,
// then the first of a list of forms of a date. It replaces what it has read by a blank, so that a
// later form does not see it. A form that has no complete date can still end the search.
namespace redouble::inline v0_1::threescale {
namespace {

using Match = std::smatch;
using Text = std::optional<std::string>;

// The limit of the original; it also bounds the recursion of std::regex.
constexpr size_t kMostCharacters = 128;

#define REDOUBLE_MONTH "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
#define REDOUBLE_ERA "(c(?:e|\\.e\\.)|b(?:ce|\\.c\\.e\\.)|a(?:d|\\.d\\.)|b(?:c|\\.c\\.))?"

struct Fields {
  std::optional<int64_t> year;
  std::optional<int64_t> month;
  std::optional<int64_t> day;
  std::optional<int64_t> hour;
  std::optional<int64_t> minute;
  std::optional<int64_t> second;
  std::optional<absl::Duration> offset;
  bool before_christ = false;
  bool has_century = false;  // The year is not a short one such as 99.
};

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }
bool IsSign(char c) { return c == '-' || c == '+'; }

std::regex Pattern(const char* text) {
  return std::regex(text, std::regex::ECMAScript | std::regex::icase | std::regex::optimize);
}

Text Group(const Match& match, size_t group) {
  return match[group].matched ? Text(match[group].str()) : std::nullopt;
}

// The value of digits, which is bounded: a larger number is out of every range as well.
int64_t Number(std::string_view digits) {
  constexpr int64_t kMost = 999'999'999'999;
  int64_t number = 0;
  for (const char digit : digits) number = std::min(kMost, number * 10 + (digit - '0'));
  return number;
}

std::optional<int64_t> NumberOf(const Match& match, size_t group) {
  if (!match[group].matched) return std::nullopt;
  return Number(match[group].str());
}

int64_t MonthNumber(std::string_view name) {
  constexpr std::string_view kMonths = "janfebmaraprmayjunjulaugsepoctnovdec";
  constexpr size_t kLetters = 3;
  const std::string start =
      absl::AsciiStrToLower(absl::string_view(name.data(), std::min(kLetters, name.size())));
  return static_cast<int64_t>(kMonths.find(start) / kLetters) + 1;
}

// A text that is taken apart.
class Rest {
 public:
  explicit Rest(std::string text) : text_(std::move(text)) {}

  bool Has(const std::regex& pattern) const { return std::regex_search(text_, pattern); }
  // Replaces the first match by a blank.
  bool Take(const std::regex& pattern, Match& match) {
    matched_ = text_;
    if (!std::regex_search(matched_, match, pattern)) return false;
    text_ = match.prefix().str() + " " + match.suffix().str();
    return true;
  }

 private:
  std::string text_;
  std::string matched_;  // What the last match refers to.
};

// A sign and digits inside a part of a date, after an apostrophe and before letters.
struct SignedDigits {
  std::string_view text;
  bool has_sign = false;
  bool has_suffix = false;
};

SignedDigits FindDigits(std::string_view part) {
  SignedDigits found;
  const auto starts = [](char c) { return IsSign(c) || IsDigit(c); };
  const auto begin = std::find_if(part.begin(), part.end(), starts);
  const auto first = begin != part.end() && IsSign(*begin) ? begin + 1 : begin;
  const auto end = std::find_if_not(first, part.end(), IsDigit);
  found.text =
      part.substr(static_cast<size_t>(begin - part.begin()), static_cast<size_t>(end - begin));
  found.has_sign = first != begin;
  found.has_suffix = end != part.end();
  return found;
}

std::string_view DigitsOf(std::string_view part) {
  SignedDigits found = FindDigits(part);
  if (found.has_sign) found.text.remove_prefix(1);
  return found.text;
}

// An apostrophe, or more than two characters: a year.
bool LooksLikeYear(const Text& part) {
  constexpr size_t kShort = 2;
  return part && (part->starts_with('\'') || part->size() > kShort);
}

// Decides which of the three parts is the year, the month and the day. They are given in the order
// of their form, but "23-04-2025" has its year at the end and "4/2025/23" in the middle.
void Arrange(Text year, Text month, Text day, Fields& fields) {
  if (year && month && !day) {
    day = std::exchange(month, std::exchange(year, std::nullopt));
  }
  if (!year && LooksLikeYear(day)) year = std::exchange(day, std::nullopt);
  // "23rd" is a day.
  if (year && FindDigits(*year).has_suffix) {
    std::string digits(FindDigits(*year).text);
    year = std::exchange(day, std::move(digits));
  }
  if (LooksLikeYear(month)) {
    std::swap(year, month);
    std::swap(month, day);
  }
  if (LooksLikeYear(day)) std::swap(year, day);

  if (year) {
    constexpr size_t kShort = 2;
    const SignedDigits found = FindDigits(*year);
    const std::string_view digits = DigitsOf(*year);
    fields.has_century = found.has_sign || digits.size() > kShort;
    fields.year = Number(digits) * (found.text.starts_with('-') ? -1 : 1);
  }
  if (month) fields.month = Number(DigitsOf(*month));
  if (day) fields.day = Number(DigitsOf(*day));
}

Text MonthText(const Match& match, size_t group) {
  return std::to_string(MonthNumber(match[group].str()));
}

bool IsBeforeChrist(const Match& match, size_t group) {
  return match[group].matched && absl::ascii_tolower(*match[group].first) == 'b';
}

void TakeWeekday(Rest& rest) {
  static const std::regex& pattern =
      *new std::regex(Pattern("\\b(sun|mon|tue|wed|thu|fri|sat)[^-/\\d\\s]*"));
  Match match;
  rest.Take(pattern, match);
}

// Reads "17:42:39.5 pm", "17h42m39s" or "5 pm".
void ReadTimeOfDay(const std::string& text, Fields& fields) {
  static const std::regex& pattern =
      *new std::regex(Pattern("^(\\d+)h?(?:\\s*:?\\s*(\\d+)m?(?:\\s*:?\\s*(\\d+)(?:[,.]\\d+)?s?)?)?"
                              "(?:\\s*([ap])(?:m\\b|\\.m\\.))?"));
  Match match;
  if (!std::regex_search(text, match, pattern)) return;
  fields.hour = NumberOf(match, 1);
  fields.minute = NumberOf(match, 2);
  fields.second = NumberOf(match, 3);
  if (!match[4].matched) return;
  constexpr int kHalfDay = 12;
  const bool afternoon = absl::ascii_tolower(*match[4].first) == 'p';
  fields.hour = *fields.hour % kHalfDay + (afternoon ? kHalfDay : 0);
}

void TakeTimeOfDay(Rest& rest, Fields& fields) {
  static const std::regex& pattern = *new std::regex(
      Pattern("((?:\\d+\\s*:\\s*\\d+(?:\\s*:\\s*\\d+(?:[,.]\\d*)?)?"
              "|\\d+\\s*h(?:\\s*\\d+m?(?:\\s*\\d+s?)?)?)(?:\\s*[ap](?:m\\b|\\.m\\.))?"
              "|\\d+\\s*[ap](?:m\\b|\\.m\\.))"
              "(?:\\s*((?:gmt|utc?)?[-+]\\d+(?:[,.:]\\d+(?::\\d+)?)?"
              "|[a-z.\\s]+(?:standard|daylight)\\stime\\b"
              "|[a-z]+(?:\\sdst)?\\b))?"));
  Match match;
  if (!rest.Take(pattern, match)) return;
  if (match[2].matched) fields.offset = ZoneOffset(match[2].str());
  ReadTimeOfDay(match[1].str(), fields);
}

// A form with the month in letters, and the groups of its parts; 0 for a form without an era.
struct NamedMonthForm {
  std::regex pattern;
  size_t year;
  size_t month;
  size_t day;
  size_t era;
};

bool TakeNamedMonth(const NamedMonthForm& form, Rest& rest, Fields& fields) {
  Match match;
  if (!rest.Take(form.pattern, match)) return false;
  Arrange(Group(match, form.year), MonthText(match, form.month), Group(match, form.day), fields);
  fields.before_christ = form.era != 0 && IsBeforeChrist(match, form.era);
  return true;
}

// "23 April 2025" and "April 23, 2025".
bool TakeWordedDate(Rest& rest, Fields& fields) {
  static const auto& day_first = *new NamedMonthForm{
      Pattern("('?\\d+)[^-\\d\\s]*\\s*" REDOUBLE_MONTH "[^-\\d\\s']*(?:\\s*" REDOUBLE_ERA
              "\\s*('?-?\\d+(?:(?:st|nd|rd|th)\\b)?))?"),
      4, 2, 1, 3};
  static const auto& month_first = *new NamedMonthForm{
      Pattern("\\b" REDOUBLE_MONTH "[^-\\d\\s']*\\s*('?\\d+)[^-\\d\\s']*(?:\\s*,?\\s*" REDOUBLE_ERA
              "\\s*('?-?\\d+))?"),
      4, 1, 2, 3};
  return TakeNamedMonth(day_first, rest, fields) || TakeNamedMonth(month_first, rest, fields);
}

// "23-APR-2025" and "APR-23-2025".
bool TakeDashedMonth(Rest& rest, Fields& fields) {
  static const auto& day_first =
      *new NamedMonthForm{Pattern("('?-?\\d+)-" REDOUBLE_MONTH "[^-/.]*-('?-?\\d+)"), 3, 2, 1, 0};
  static const auto& month_first = *new NamedMonthForm{
      Pattern("\\b" REDOUBLE_MONTH "[^-/.]*-('?-?\\d+)(?:-('?-?\\d+))?"), 3, 1, 2, 0};
  return TakeNamedMonth(day_first, rest, fields) || TakeNamedMonth(month_first, rest, fields);
}

bool TakeNumbers(const std::regex& pattern, Rest& rest, Fields& fields) {
  Match match;
  if (!rest.Take(pattern, match)) return false;
  Arrange(Group(match, 1), Group(match, 2), Group(match, 3), fields);
  return true;
}

bool TakeDashedDate(Rest& rest, Fields& fields) {
  static const std::regex& pattern = *new std::regex(Pattern("('?[-+]?\\d+)-(\\d+)-('?-?\\d+)"));
  return TakeNumbers(pattern, rest, fields);
}

bool TakeSlashedDate(Rest& rest, Fields& fields) {
  static const std::regex& pattern =
      *new std::regex(Pattern("('?-?\\d+)/\\s*('?\\d+)(?:\\D\\s*('?-?\\d+))?"));
  return TakeNumbers(pattern, rest, fields);
}

bool TakeDottedDate(Rest& rest, Fields& fields) {
  static const std::regex& pattern =
      *new std::regex(Pattern("('?-?\\d+)\\.\\s*('?\\d+)\\.\\s*('?-?\\d+)"));
  return TakeNumbers(pattern, rest, fields);
}

// The year before the first year of a Japanese era.
int64_t EraStart(char letter) {
  switch (absl::ascii_tolower(static_cast<unsigned char>(letter))) {
    case 'm':
      return 1867;
    case 't':
      return 1911;
    case 's':
      return 1925;
    case 'h':
      return 1988;
    default:
      return 2018;
  }
}

// "H27.04.23".
bool TakeJapaneseDate(Rest& rest, Fields& fields) {
  static const std::regex& pattern =
      *new std::regex(Pattern("\\b([mtshr])(\\d+)\\.(\\d+)\\.(\\d+)"));
  Match match;
  if (!rest.Take(pattern, match)) return false;
  fields.year = Number(match[2].str()) + EraStart(*match[1].first);
  fields.month = NumberOf(match, 3);
  fields.day = NumberOf(match, 4);
  return true;
}

// Whether the text has a week date, a day of the year, or only some parts of a date. The search
// ends with these forms.
bool HasPartialDate(const Rest& rest) {
  static const auto& forms = *new std::vector<std::regex>{
      Pattern("\\b(?:\\d{2}|\\d{4})?-?w\\d{2}(?:-?\\d)?\\b"),
      Pattern("-w-\\d\\b"),
      Pattern("--(?:\\d{2})?-\\d{2}\\b"),
      Pattern("--\\d{2}(?:\\d{2})?\\b"),
      Pattern("'\\d+\\b"),
      Pattern("\\b" REDOUBLE_MONTH "\\S*"),
      Pattern("\\d+(?:st|nd|rd|th)\\b"),
  };
  static const std::regex& day_of_year = *new std::regex(Pattern("\\b(?:\\d{2}|\\d{4})-\\d{3}\\b"));
  static const std::regex& fraction_before_it =
      *new std::regex(Pattern("[,.](?:\\d{2}|\\d{4})-\\d{3}\\b"));
  static const std::regex& day_without_year = *new std::regex(Pattern("\\b-\\d{3}\\b"));
  static const std::regex& digit_before_it = *new std::regex(Pattern("\\d-\\d{3}\\b"));
  if (rest.Has(day_of_year) && !rest.Has(fraction_before_it)) return true;
  if (rest.Has(day_without_year) && !rest.Has(digit_before_it)) return true;
  return std::any_of(forms.begin(), forms.end(),
                     [&](const std::regex& form) { return rest.Has(form); });
}

// Assigns two digits to each of `fields`, from the front of `digits`, until there are no more.
void AssignPairs(std::string_view digits,
                 std::initializer_list<std::optional<int64_t> Fields::*> members, Fields& fields) {
  constexpr size_t kPair = 2;
  for (const auto member : members) {
    if (digits.size() < kPair) return;
    fields.*member = Number(digits.substr(0, kPair));
    digits.remove_prefix(kPair);
  }
}

// The digits of a date, followed by those of a time of day. Before a fraction of a second the
// digits end with the seconds; otherwise they begin with the year.
bool ReadDateDigits(std::string_view digits, bool negative, bool ends_with_seconds,
                    Fields& fields) {
  constexpr size_t kShortDate = 6, kDate = 8, kShortTime = 12, kTime = 14;
  const bool has_century = ends_with_seconds ? digits.size() == kTime : digits.size() >= kDate;
  const bool complete = ends_with_seconds ? digits.size() == kShortTime || digits.size() == kTime
                                          : digits.size() == kShortDate ||
                                                (digits.size() >= kDate && digits.size() % 2 == 0);
  if (!complete) return false;
  const size_t year_digits = has_century ? 4 : 2;
  fields.year = Number(digits.substr(0, year_digits)) * (negative ? -1 : 1);
  fields.has_century = has_century;
  AssignPairs(digits.substr(year_digits),
              {&Fields::month, &Fields::day, &Fields::hour, &Fields::minute, &Fields::second},
              fields);
  return true;
}

// The digits of a time of day after a date: "174239" or, before a fraction, "39" for the seconds.
void ReadTimeDigits(std::string_view digits, bool ends_with_seconds, Fields& fields) {
  constexpr size_t kHours = 2, kMinutes = 4, kSeconds = 6;
  if (digits.size() != kHours && digits.size() != kMinutes && digits.size() != kSeconds) return;
  if (!ends_with_seconds || digits.size() == kSeconds) {
    AssignPairs(digits, {&Fields::hour, &Fields::minute, &Fields::second}, fields);
  } else if (digits.size() == kMinutes) {
    AssignPairs(digits, {&Fields::minute, &Fields::second}, fields);
  } else {
    AssignPairs(digits, {&Fields::second}, fields);
  }
}

// "Z", "+0200", or in brackets "[+9:JST]", "[9]" or "[9:JST]". In the last form, Ruby takes the
// offset of the name.
std::optional<absl::Duration> ZoneOfDigits(std::string_view zone) {
  if (!zone.starts_with('[')) return ZoneOffset(zone);
  zone = zone.substr(1, zone.size() - 2);
  const size_t colon = zone.find(':');
  // With the colon, which makes all digits hours.
  if (!IsDigit(zone.front())) {
    return ZoneOffset(colon == zone.npos ? zone : zone.substr(0, colon + 1));
  }
  if (colon == zone.npos) return ZoneOffset("+" + std::string(zone));
  return ZoneOffset(zone.substr(colon + 1));
}

// "20250423T174239Z".
bool TakeDigits(Rest& rest, Fields& fields) {
  static const std::regex& pattern =
      *new std::regex(Pattern("([-+]?)(\\d{2,14})(?:\\s*t?\\s*(\\d{2,6})?(?:[,.](\\d*))?)?"
                              "(?:\\s*(z\\b|[-+]\\d{1,4}\\b|\\[[-+]?\\d[^\\]]*\\]))?"));
  Match match;
  if (!rest.Take(pattern, match)) return false;
  const bool has_fraction = match[4].matched;
  const bool has_time = match[3].matched;
  const std::string digits = match[2].str();
  if (!ReadDateDigits(digits, match[1].str() == "-", has_fraction && !has_time, fields)) {
    return false;
  }
  if (has_time) ReadTimeDigits(match[3].str(), has_fraction, fields);
  if (match[5].matched) fields.offset = ZoneOfDigits(match[5].str());
  return true;
}

void TakeEra(Rest& rest, Fields& fields) {
  static const std::regex& pattern =
      *new std::regex(Pattern("\\b(bc\\b|bce\\b|b\\.c\\.|b\\.c\\.e\\.)"));
  Match match;
  if (rest.Take(pattern, match)) fields.before_christ = true;
}

// One or two digits that are left are the day or the hour, whichever is missing.
void TakeLastNumber(Rest& rest, Fields& fields) {
  static const std::regex& pattern = *new std::regex(Pattern("^\\s*(\\d{1,2})\\s*$"));
  constexpr int64_t kDays = 31, kHours = 24;
  Match match;
  if (!rest.Take(pattern, match)) return;
  const int64_t number = Number(match[1].str());
  if (fields.hour && !fields.day && number >= 1 && number <= kDays) fields.day = number;
  if (fields.day && !fields.hour && number <= kHours) fields.hour = number;
}

// Returns false if the text has no complete date.
bool TakeDate(Rest& rest, Fields& fields) {
  for (const auto form : {TakeWordedDate, TakeDashedDate, TakeJapaneseDate, TakeDashedMonth,
                          TakeSlashedDate, TakeDottedDate}) {
    if (form(rest, fields)) return true;
  }
  return !HasPartialDate(rest) && TakeDigits(rest, fields);
}

int64_t FullYear(const Fields& fields) {
  constexpr int64_t kCentury = 1900, kFirstOfLastCentury = 69, kShortYears = 100;
  int64_t year = *fields.year;
  if (fields.before_christ) year = 1 - year;
  if (fields.has_century || year < 0 || year >= kShortYears) return year;
  return year + kCentury + (year < kFirstOfLastCentury ? kShortYears : 0);
}

bool IsInRange(std::optional<int64_t> number, int64_t least, int64_t most) {
  return number && *number >= least && *number <= most;
}

std::optional<absl::Time> TimeOf(const Fields& fields) {
  constexpr int64_t kMonths = 12, kDays = 31, kHours = 24, kMostMinute = 59, kMostSecond = 60;
  const int64_t hour = fields.hour.value_or(0);
  const int64_t minute = fields.minute.value_or(0);
  const int64_t second = fields.second.value_or(0);
  if (!fields.year || !IsInRange(fields.month, 1, kMonths) || !IsInRange(fields.day, 1, kDays) ||
      !IsInRange(hour, 0, kHours) || !IsInRange(minute, 0, kMostMinute) ||
      !IsInRange(second, 0, kMostSecond) || (hour == kHours && minute + second > 0)) {
    return std::nullopt;
  }
  const absl::CivilSecond civil(FullYear(fields), *fields.month, *fields.day, hour, minute, second);
  const absl::Time time =
      absl::FromCivil(civil, absl::UTCTimeZone()) - fields.offset.value_or(absl::ZeroDuration());
  return absl::FromUnixSeconds(absl::ToUnixSeconds(time));
}

// Everything but letters, digits and the punctuation of dates counts as white space.
std::string WithoutOtherCharacters(std::string_view text) {
  static const std::regex& others = *new std::regex("[^-+',./:@[:alnum:]\\[\\]\\x80-\\xff]+");
  return std::regex_replace(std::string(text), others, " ");
}

}  // namespace

std::optional<absl::Time> ParseDateText(std::string_view text) {
  if (text.size() > kMostCharacters) return std::nullopt;
  Rest rest(WithoutOtherCharacters(text));
  Fields fields;
  TakeWeekday(rest);
  TakeTimeOfDay(rest, fields);
  if (!TakeDate(rest, fields)) return std::nullopt;
  TakeEra(rest, fields);
  TakeLastNumber(rest, fields);
  return TimeOf(fields);
}

}  // namespace redouble::inline v0_1::threescale
