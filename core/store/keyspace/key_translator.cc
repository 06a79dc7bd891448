#include "redouble/core/store/keyspace/key_translator.h"

#include <cstddef>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/keyspace/key_pattern.h"

namespace redouble::inline v0_1::store {
namespace {

// Whether the text that ended an `any` value occurs again after it.
bool IsAmbiguous(const KeyMatch& match, std::string_view key) {
  for (size_t i = 0; i < match.values.size(); ++i) {
    const std::string_view literal = match.pattern->LiteralAfter(i);
    if (match.pattern->placeholders()[i].kind != KeyPattern::Kind::kAny || literal.empty())
      continue;
    const size_t end =
        static_cast<size_t>(match.values[i].data() - key.data()) + match.values[i].size();
    if (key.find(literal, end + 1) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<KeyTranslator> KeyTranslator::Create(std::span<const KeyFamily> from,
                                                    std::span<const KeyFamily> to,
                                                    std::span<const KeyBinding> bindings) {
  KeyTranslator translator;
  REDOUBLE_RETURN_IF_ERROR(translator.from_.Add(from, bindings));
  REDOUBLE_RETURN_IF_ERROR(translator.to_.Add(to, bindings));
  return translator;
}

std::optional<std::string> KeyTranslator::Translate(std::string_view key) const {
  const Recognition recognition = from_.Recognise(key);
  if (recognition.matches.empty()) return std::nullopt;
  return TranslateMatch(recognition.matches.front());
}

std::vector<KeyTranslator::Translation> KeyTranslator::Translations(std::string_view key) const {
  std::vector<Translation> translations;
  for (const KeyMatch& match : from_.Recognise(key).matches) {
    translations.push_back({match.family, TranslateMatch(match), IsAmbiguous(match, key)});
  }
  return translations;
}

std::optional<std::string> KeyTranslator::TranslateMatch(const KeyMatch& match) const {
  const KeyPattern* const pattern = to_.PatternOf(match.family->id);
  if (pattern == nullptr) return std::nullopt;
  std::vector<std::string_view> values;
  for (const KeyPattern::Placeholder& placeholder : pattern->placeholders()) {
    const std::optional<size_t> index = match.pattern->IndexOf(placeholder.name);
    if (!index) return std::nullopt;
    values.push_back(match.values[*index]);
  }
  absl::StatusOr<std::string> translated = pattern->BuildFrom(values);
  if (!translated.ok()) return std::nullopt;
  return *std::move(translated);
}

}  // namespace redouble::inline v0_1::store
