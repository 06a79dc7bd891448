#include "redouble/core/threescale/text/time_zone.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::threescale {
namespace {

// The names of one offset, each between bars.
struct NamedOffset {
  int minutes;
  std::string_view names;
};

// Recorded from Date._parse of Ruby 3.1.
constexpr NamedOffset kNamedOffsets[] = {
    {-720, "|aoe|dateline|idlw|y|"},
    {-660, "|nt|nut|samoa|sst|x|"},
    {-600, "|ahst|ckt|hast|hawaiian|hst|taht|w|"},
    {-540, "|akst|alaskan|gamt|hadt|hdt|v|yst|"},
    {-510, "|mart|"},
    {-480, "|akdt|pacific|pst|u|ydt|"},
    {-420, "|mountain|mst|pdt|t|us mountain|"},
    {-360, "|canada central|central|central america|cst|east|galt|mdt|mexico|s|"},
    {-300, "|act|cdt|cist|cot|easst|eastern|ect|est|pet|r|sa pacific|us eastern|"},
    {-240, "|ast|atlantic|bot|cidst|clt|edt|fkt|gyt|pacific sa|q|sa western|vet|"},
    {-210, "|newfoundland|"},
    {-180,
     "|adt|art|brt|clst|e. south america|fkst|gft|greenland|p|pmst|pyst|rott|"
     "sa eastern|srt|uyt|warst|wgt|"},
    {-150, "|nst|"},
    {-120, "|at|brst|fnt|o|pmdt|uyst|wgst|"},
    {-90, "|ndt|"},
    {-60, "|azores|azot|cape verde|cvt|egt|n|"},
    {0, "|azost|egst|gmt|greenwich|ut|utc|wet|wt|z|"},
    {60,
     "|a|bst|central europe|central european|cet|fwt|met|mewt|mez|romance|swt|"
     "w. central africa|w. europe|wat|west|"},
    {120,
     "|b|cat|cest|e. europe|eet|egypt|fle|fst|gtb|jerusalem|mest|mesz|sast|"
     "south africa|wast|"},
    {180, "|arab|arabic|bt|c|e. africa|eat|eest|fet|idt|msk|russian|syot|trt|"},
    {210, "|iran|irst|"},
    {240, "|arabian|azt|caucasus|d|get|kuyt|msd|mut|ret|samt|sct|"},
    {270, "|afghanistan|aft|irdt|"},
    {300,
     "|aqtt|azst|e|ekaterinburg|mawt|mvt|orat|pkt|tft|tjt|tmt|uzt|west asia|"
     "yekt|"},
    {330, "|india|ist|"},
    {345, "|nepal|npt|"},
    {360,
     "|almt|btt|central asia|f|iot|kgt|n. central asia|omst|qyzt|sri lanka|"
     "vost|yekst|"},
    {390, "|cct|mmt|myanmar|"},
    {420, "|cxt|davt|g|hovt|ict|krat|north asia|novst|novt|omsst|se asia|wib|"},
    {480,
     "|awst|bnt|cast|china|chot|h|hkt|hovst|irkt|krast|malay peninsula|myt|"
     "north asia east|pht|sgt|taipei|ulat|w. australia|wadt|wita|"},
    {525, "|acwst|"},
    {540, "|awdt|chost|i|irkst|jst|korea|kst|pwt|tlt|tokyo|ulast|wit|yakt|yakutsk|"},
    {570, "|acst|aus central|cen. australia|"},
    {600,
     "|aest|aus eastern|chst|chut|ddut|e. australia|gst|k|pgt|tasmania|"
     "vladivostok|vlat|west pacific|yakst|yapt|"},
    {630, "|acdt|lhst|"},
    {660,
     "|aedt|central pacific|eadt|kost|l|lhdt|magt|nct|nft|pont|sakt|sbt|sret|"
     "vlast|vut|"},
    {720,
     "|anast|anat|fiji|fjt|gilt|idle|m|magst|mht|new zealand|nfdt|nrt|nzst|nzt|"
     "petst|pett|tvt|wakt|wft|"},
    {765, "|chast|"},
    {780, "|fjst|nzdt|phot|tkt|tonga|tot|"},
    {825, "|chadt|"},
    {840, "|lint|tost|"},
};

bool IsBlank(char letter) {
  return letter == '\0' || absl::ascii_isspace(static_cast<unsigned char>(letter));
}

// Lower case, with one blank for each run of white space, and none at the ends.
std::string Normalized(std::string_view zone) {
  std::string text = absl::AsciiStrToLower(base::ToAbsl(zone));
  std::replace(text.begin(), text.end(), '\0', ' ');
  absl::RemoveExtraAsciiWhitespace(&text);
  return text;
}

bool TakeSuffix(std::string& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.resize(text.size() - suffix.size());
  return true;
}

std::optional<absl::Duration> FindName(std::string_view name) {
  const std::string between_bars = absl::StrCat("|", base::ToAbsl(name), "|");
  for (const NamedOffset& offset : kNamedOffsets) {
    if (offset.names.find(between_bars) != offset.names.npos) return absl::Minutes(offset.minutes);
  }
  return std::nullopt;
}

// A number as C's strtoul reads it: after white space and a sign.
struct Number {
  int64_t sign = 1;
  std::string_view digits;
  size_t length = 0;  // Of the text that it takes; 0 without digits.

  // Of the first fifteen digits; 0 without any.
  int64_t value() const {
    constexpr size_t kMostDigits = 15;
    int64_t number = 0;
    for (const char digit : digits.substr(0, kMostDigits)) number = number * 10 + (digit - '0');
    return sign * number;
  }
};

Number ReadNumber(std::string_view text) {
  Number number;
  size_t at = text.starts_with(' ') ? 1 : 0;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) {
    number.sign = text[at] == '-' ? -1 : 1;
    ++at;
  }
  const size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
  if (end <= at) return Number();
  number.digits = text.substr(at, end - at);
  number.length = end;
  return number;
}

// The part of an hour after the point: "5" in "5.5". Ruby divides by ten for each character of the
// number, also for its sign: "5.-9" is 5 h - 9 h / 100.
absl::Duration FractionOfHour(std::string_view text) {
  const Number number = ReadNumber(text);
  double part = 0;
  double unit = 1;
  for (size_t i = number.digits.size(); i < number.length; ++i) unit /= 10;
  for (const char digit : number.digits) {
    unit /= 10;
    part += unit * (digit - '0');
  }
  return static_cast<double>(number.sign) * part * absl::Hours(1);
}

// "MM" or "MM:SS".
absl::Duration MinutesAndSeconds(std::string_view text) {
  const Number minutes = ReadNumber(text);
  text.remove_prefix(minutes.length);
  const Number seconds = text.starts_with(':') ? ReadNumber(text.substr(1)) : Number();
  return absl::Minutes(minutes.value()) + absl::Seconds(seconds.value());
}

// "H", "HH", "HMM", "HHMM", "HMMSS" or "HHMMSS"; further digits are ignored.
absl::Duration CompactOffset(std::string_view digits) {
  constexpr size_t kPair = 2;
  absl::Duration offset;
  size_t width = digits.size() % kPair == 0 ? kPair : 1;
  for (const absl::Duration unit : {absl::Hours(1), absl::Minutes(1), absl::Seconds(1)}) {
    if (digits.empty()) break;
    const std::string_view pair = digits.substr(0, width);
    const size_t end = std::min(pair.find_first_not_of("0123456789"), pair.size());
    offset += ReadNumber(pair.substr(0, end)).value() * unit;
    digits.remove_prefix(width);
    width = kPair;
  }
  return offset;
}

}  // namespace

std::optional<absl::Duration> ZoneOffset(std::string_view zone) {
  if (zone.empty() || IsBlank(zone.front())) return std::nullopt;
  std::string text = Normalized(zone);
  bool summer = false;
  // Ruby looks for these words before it removes white space.
  if (!IsBlank(zone.back()) && !TakeSuffix(text, " standard time")) {
    summer = TakeSuffix(text, " daylight time") || TakeSuffix(text, " dst");
  }
  if (const std::optional<absl::Duration> named = FindName(text)) {
    return *named + (summer ? absl::Hours(1) : absl::ZeroDuration());
  }
  std::string_view rest = text;
  if (rest.starts_with("gmt") || rest.starts_with("utc")) rest.remove_prefix(3);
  if (rest.empty() || (rest.front() != '-' && rest.front() != '+')) return std::nullopt;
  const int sign = rest.front() == '-' ? -1 : 1;
  rest.remove_prefix(1);
  const Number hours = ReadNumber(rest);
  const std::string_view after = rest.substr(hours.length);
  const absl::Duration whole = absl::Hours(hours.value());
  if (after.starts_with(':')) return sign * (whole + MinutesAndSeconds(after.substr(1)));
  if (after.starts_with(',') || after.starts_with('.')) {
    return sign * (whole + FractionOfHour(after.substr(1)));
  }
  return sign * (rest.size() <= 2 ? whole : CompactOffset(rest));
}

}  // namespace redouble::inline v0_1::threescale
