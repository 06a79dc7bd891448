#include "redouble/core/store/keyspace/key_pattern.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::store {
namespace {

using Kind = KeyPattern::Kind;
using Placeholder = KeyPattern::Placeholder;

constexpr size_t kMaxDigits = 64;
constexpr size_t kUuidSize = 36;
// The number of bytes of a refused value that an error message shows.
constexpr size_t kShownBytes = 80;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameCharacter(char c) { return (c >= 'a' && c <= 'z') || IsDigit(c) || c == '_'; }

bool IsText(std::string_view value, const Placeholder&) { return !value.empty(); }

bool IsAnything(std::string_view, const Placeholder&) { return true; }

bool IsId(std::string_view value, const Placeholder&) {
  return !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
  });
}

bool IsUuid(std::string_view value, const Placeholder&) {
  if (value.size() != kUuidSize) return false;
  for (size_t i = 0; i < kUuidSize; ++i) {
    const bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
    const char c = value[i];
    if (hyphen ? c != '-' : !(IsDigit(c) || (c >= 'a' && c <= 'f'))) return false;
  }
  return true;
}

bool IsInt(std::string_view value, const Placeholder&) {
  return base::ParseInt64(value).has_value();
}

bool IsDigits(std::string_view value, const Placeholder& placeholder) {
  return value.size() >= placeholder.least_digits && value.size() <= placeholder.most_digits &&
         std::all_of(value.begin(), value.end(), IsDigit);
}

bool IsWord(std::string_view value, const Placeholder& placeholder) {
  return std::find(placeholder.words.begin(), placeholder.words.end(), value) !=
         placeholder.words.end();
}

std::string TextRule(const Placeholder&) { return "must not be empty"; }
std::string AnyRule(const Placeholder&) { return "may be anything"; }
std::string IdRule(const Placeholder&) { return "must be of letters, digits, _ and -"; }
std::string UuidRule(const Placeholder&) { return "must be a lower-case hyphenated UUID"; }
std::string IntRule(const Placeholder&) { return "must be a decimal 64-bit integer"; }
std::string DigitsRule(const Placeholder& placeholder) {
  if (placeholder.least_digits == placeholder.most_digits) {
    return absl::StrCat("must be exactly ", placeholder.least_digits, " digits");
  }
  return absl::StrCat("must be ", placeholder.least_digits, " to ", placeholder.most_digits,
                      " digits");
}
std::string WordRule(const Placeholder& placeholder) {
  return absl::StrCat("must be one of ", absl::StrJoin(placeholder.words, ", "));
}

// `name` is the text after the colon in a pattern. Kinds with parameters, such as digits, have no
// name and are parsed by ReadKind.
struct KindRow {
  Kind kind;
  std::string_view name;
  bool (*accepts)(std::string_view value, const Placeholder& placeholder);
  std::string (*rule)(const Placeholder& placeholder);
};
constexpr std::array kKinds = {
    KindRow{Kind::kText, "text", IsText, TextRule},
    KindRow{Kind::kAny, "any", IsAnything, AnyRule},
    KindRow{Kind::kId, "id", IsId, IdRule},
    KindRow{Kind::kUuid, "uuid", IsUuid, UuidRule},
    KindRow{Kind::kInt, "int", IsInt, IntRule},
    KindRow{Kind::kDigits, "", IsDigits, DigitsRule},
    KindRow{Kind::kWord, "", IsWord, WordRule},
};

const KindRow& RowOf(Kind kind) { return kKinds[static_cast<size_t>(kind)]; }

// Parses "d12" or "d8-12".
bool ReadDigits(std::string_view text, Placeholder& placeholder) {
  if (!text.starts_with('d')) return false;
  text.remove_prefix(1);
  const size_t hyphen = text.find('-');
  const std::string_view least = text.substr(0, hyphen);
  const std::string_view most = hyphen == text.npos ? least : text.substr(hyphen + 1);
  if (!absl::SimpleAtoi(base::ToAbsl(least), &placeholder.least_digits) ||
      !absl::SimpleAtoi(base::ToAbsl(most), &placeholder.most_digits)) {
    return false;
  }
  placeholder.kind = Kind::kDigits;
  return placeholder.least_digits >= 1 && placeholder.least_digits <= placeholder.most_digits &&
         placeholder.most_digits <= kMaxDigits;
}

bool ReadWords(std::string_view text, Placeholder& placeholder) {
  if (text.find('|') == text.npos) return false;
  placeholder.kind = Kind::kWord;
  placeholder.words = absl::StrSplit(base::ToAbsl(text), '|');
  return std::none_of(placeholder.words.begin(), placeholder.words.end(),
                      [](const std::string& word) { return word.empty(); });
}

bool ReadKind(std::string_view text, Placeholder& placeholder) {
  for (const KindRow& row : kKinds) {
    if (!row.name.empty() && row.name == text) {
      placeholder.kind = row.kind;
      return true;
    }
  }
  return ReadDigits(text, placeholder) || ReadWords(text, placeholder);
}

// Returns whether the first occurrence of `literal` in value + literal is at the end of the value.
bool EndsAt(std::string_view value, std::string_view literal) {
  if (literal.empty()) return true;
  if (value.find(literal) != value.npos) return false;
  // An occurrence that begins `overlap` bytes before the end of the value ends inside the literal,
  // which then has that period.
  for (size_t overlap = 1; overlap < literal.size() && overlap <= value.size(); ++overlap) {
    if (literal.substr(overlap) == literal.substr(0, literal.size() - overlap) &&
        value.ends_with(literal.substr(0, overlap))) {
      return false;
    }
  }
  return true;
}

std::string EscapeBraces(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '{' || c == '}') escaped.push_back(c);
    escaped.push_back(c);
  }
  return escaped;
}

std::string AsWritten(const Placeholder& placeholder) {
  const std::string_view colon = placeholder.written_kind.empty() ? "" : ":";
  return absl::StrCat("{", placeholder.name, base::ToAbsl(colon), placeholder.written_kind, "}");
}

std::string Shown(std::string_view value) {
  if (value.size() <= kShownBytes) return QuoteBytes(value);
  return absl::StrCat(QuoteBytes(value.substr(0, kShownBytes)), " (first ", kShownBytes, " of ",
                      value.size(), " bytes)");
}

}  // namespace

// Parses a pattern from the front, up to the first error.
class KeyPatternReader {
 public:
  KeyPatternReader(std::string_view pattern, std::string_view family) : rest_(pattern) {
    result_.text_ = pattern;
    result_.family_ = family;
  }

  absl::StatusOr<KeyPattern> Read() && {
    if (rest_.empty()) return Malformed("it is empty");
    while (!rest_.empty()) {
      REDOUBLE_RETURN_IF_ERROR(ReadOne());
    }
    result_.literal_ends_.push_back(result_.literals_.size());
    return std::move(result_);
  }

 private:
  absl::Status ReadOne() {
    const bool brace = rest_.front() == '{' || rest_.front() == '}';
    if (brace && rest_.substr(1).starts_with(rest_.front())) {
      rest_.remove_prefix(1);
    } else if (brace) {
      return ReadPlaceholder();
    }
    result_.literals_.push_back(rest_.front());
    rest_.remove_prefix(1);
    return absl::OkStatus();
  }

  absl::Status ReadPlaceholder() {
    const size_t end = rest_.find('}');
    if (rest_.front() == '}' || end == rest_.npos) return Malformed("it has a single brace");
    const std::string_view inside = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);

    const size_t colon = inside.find(':');
    Placeholder placeholder;
    placeholder.name = inside.substr(0, colon);
    if (placeholder.name.empty() ||
        !std::all_of(placeholder.name.begin(), placeholder.name.end(), IsNameCharacter)) {
      return Malformed(absl::StrCat(Shown(placeholder.name), " is no name for a placeholder"));
    }
    if (result_.IndexOf(placeholder.name)) {
      return Malformed(absl::StrCat("it has two placeholders ", placeholder.name));
    }
    if (colon != inside.npos) {
      placeholder.written_kind = inside.substr(colon + 1);
      if (!ReadKind(placeholder.written_kind, placeholder)) {
        return Malformed(absl::StrCat("there is no kind ", Shown(placeholder.written_kind)));
      }
    }
    return Append(std::move(placeholder));
  }

  absl::Status Append(Placeholder placeholder) {
    const size_t literal_begin = result_.literal_ends_.empty() ? 0 : result_.literal_ends_.back();
    if (!result_.placeholders_.empty() && literal_begin == result_.literals_.size()) {
      return Malformed(absl::StrCat("nothing stands between ", result_.placeholders_.back().name,
                                    " and ", placeholder.name));
    }
    result_.literal_ends_.push_back(result_.literals_.size());
    result_.placeholders_.push_back(std::move(placeholder));
    return absl::OkStatus();
  }

  absl::Status Malformed(const std::string& what) const {
    return absl::InvalidArgumentError(
        absl::StrCat("key pattern ", QuoteBytes(result_.text_), " is malformed: ", what));
  }

  std::string_view rest_;
  KeyPattern result_;
};

absl::StatusOr<KeyPattern> KeyPattern::Compile(std::string_view pattern, std::string_view family) {
  return KeyPatternReader(pattern, family).Read();
}

KeyPattern KeyPattern::MustCompile(std::string_view pattern, std::string_view family) {
  absl::StatusOr<KeyPattern> compiled = Compile(pattern, family);
  if (!compiled.ok()) {
    std::fprintf(stderr, "%s\n", compiled.status().ToString().c_str());
    std::abort();
  }
  return *std::move(compiled);
}

absl::StatusOr<KeyPattern> KeyPattern::Bind(std::string_view placeholder,
                                            std::string_view value) const {
  const std::optional<size_t> bound = IndexOf(placeholder);
  if (!bound) {
    return absl::InvalidArgumentError(absl::StrCat("key family ", family_, ": ", QuoteBytes(text_),
                                                   " has no placeholder ",
                                                   base::ToAbsl(placeholder)));
  }
  if (!RowOf(placeholders_[*bound].kind).accepts(value, placeholders_[*bound])) {
    return Check(*bound, value);
  }
  std::string text = EscapeBraces(Literal(0));
  for (size_t i = 0; i < placeholders_.size(); ++i) {
    text += i == *bound ? EscapeBraces(value) : AsWritten(placeholders_[i]);
    text += EscapeBraces(LiteralAfter(i));
  }
  return Compile(text, family_);
}

absl::StatusOr<std::string> KeyPattern::BuildFrom(std::span<const std::string_view> values) const {
  if (values.size() != placeholders_.size()) {
    return absl::InvalidArgumentError(absl::StrCat("key family ", family_, ": ", QuoteBytes(text_),
                                                   " takes ", placeholders_.size(), " values, got ",
                                                   values.size()));
  }
  size_t size = literals_.size();
  for (size_t i = 0; i < values.size(); ++i) {
    if (!Accepts(i, values[i])) return Check(i, values[i]);
    size += values[i].size();
  }
  std::string key;
  key.reserve(size);
  key.append(Literal(0));
  for (size_t i = 0; i < values.size(); ++i) key.append(values[i]).append(LiteralAfter(i));
  return key;
}

absl::Status KeyPattern::Check(size_t index, std::string_view value) const {
  if (Accepts(index, value)) return absl::OkStatus();
  const Placeholder& placeholder = placeholders_[index];
  const KindRow& row = RowOf(placeholder.kind);
  const std::string rule = row.accepts(value, placeholder)
                               ? absl::StrCat("must not contain or run into ",
                                              QuoteBytes(LiteralAfter(index)), ", which ends it")
                               : row.rule(placeholder);
  return absl::InvalidArgumentError(absl::StrCat("key family ", family_, ": ", placeholder.name,
                                                 " of ", QuoteBytes(text_), " ", rule, ", got ",
                                                 Shown(value)));
}

std::optional<KeyValues> KeyPattern::Parse(std::string_view key) const {
  if (!key.starts_with(prefix())) return std::nullopt;
  KeyValues values;
  size_t skipped = 0;
  if (!Match(0, key.substr(prefix().size()), skipped, values)) return std::nullopt;
  return values;
}

bool KeyPattern::IsAmbiguous(std::string_view key) const {
  if (!key.starts_with(prefix())) return false;
  KeyValues values;
  size_t skipped = 1;
  return Match(0, key.substr(prefix().size()), skipped, values);
}

std::optional<size_t> KeyPattern::IndexOf(std::string_view placeholder) const {
  for (size_t i = 0; i < placeholders_.size(); ++i) {
    if (placeholders_[i].name == placeholder) return i;
  }
  return std::nullopt;
}

std::string_view KeyPattern::Literal(size_t index) const {
  const size_t begin = index == 0 ? 0 : literal_ends_[index - 1];
  return std::string_view(literals_).substr(begin, literal_ends_[index] - begin);
}

bool KeyPattern::Accepts(size_t index, std::string_view value) const {
  const Placeholder& placeholder = placeholders_[index];
  if (!RowOf(placeholder.kind).accepts(value, placeholder)) return false;
  return placeholder.kind == Kind::kAny || EndsAt(value, LiteralAfter(index));
}

// `rest` begins with the value at `index`. Only an `any` value may extend beyond the first
// occurrence of the literal after it, so that other ends are tried only for `any`.
bool KeyPattern::Match(size_t index, std::string_view rest, size_t& skipped,
                       KeyValues& values) const {
  if (index == placeholders_.size()) {
    if (!rest.empty()) return false;
    if (skipped == 0) return true;
    --skipped;
    return false;
  }
  const Placeholder& placeholder = placeholders_[index];
  const std::string_view literal = LiteralAfter(index);
  const bool last = literal.empty();
  for (size_t end = last ? rest.size() : rest.find(literal); end != rest.npos;
       end = rest.find(literal, end + 1)) {
    const std::string_view value = rest.substr(0, end);
    if (RowOf(placeholder.kind).accepts(value, placeholder)) {
      values.push_back(value);
      if (Match(index + 1, rest.substr(end + literal.size()), skipped, values)) return true;
      values.pop_back();
    }
    if (last || placeholder.kind != Kind::kAny) return false;
  }
  return false;
}

}  // namespace redouble::inline v0_1::store
