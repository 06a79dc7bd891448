#include "redouble/core/store/keyspace/key_translator.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/keyspace/key_pattern.h"

namespace redouble::inline v0_1::store {
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
    const KeyPattern* const to = to_.PatternOf(match.family->id);
    const bool is_same = to != nullptr && to->text() == match.pattern->text();
    translations.push_back(
        {match.family, TranslateMatch(match), !is_same && match.pattern->IsAmbiguous(key)});
  }
  return translations;
}

std::optional<std::string> KeyTranslator::Spell(std::string_view key, std::string_view from,
                                                std::string_view to,
                                                std::span<const KeyBinding> more) const {
  const KeyPattern* const pattern = from_.PatternOf(from);
  if (pattern == nullptr) return std::nullopt;
  const std::optional<KeyValues> values = pattern->Parse(key);
  if (!values) return std::nullopt;
  return SpellValues(*pattern, *values, to, more);
}

std::optional<std::string> KeyTranslator::TranslateMatch(const KeyMatch& match) const {
  return SpellValues(*match.pattern, match.values, match.family->id, {});
}

std::optional<std::string> KeyTranslator::SpellValues(const KeyPattern& from,
                                                      const KeyValues& values, std::string_view to,
                                                      std::span<const KeyBinding> more) const {
  const KeyPattern* const pattern = to_.PatternOf(to);
  if (pattern == nullptr) return std::nullopt;
  std::vector<std::string_view> spelled;
  for (const KeyPattern::Placeholder& placeholder : pattern->placeholders()) {
    if (const std::optional<size_t> index = from.IndexOf(placeholder.name)) {
      spelled.push_back(values[*index]);
      continue;
    }
    const auto found = std::find_if(more.begin(), more.end(), [&](const KeyBinding& each) {
      return each.placeholder == placeholder.name;
    });
    if (found == more.end()) return std::nullopt;
    spelled.push_back(found->value);
  }
  absl::StatusOr<std::string> key = pattern->BuildFrom(spelled);
  if (!key.ok()) return std::nullopt;
  return *std::move(key);
}

}  // namespace redouble::inline v0_1::store
