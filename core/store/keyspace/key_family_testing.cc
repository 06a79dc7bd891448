#include "redouble/core/store/keyspace/key_family_testing.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::store {
namespace {

rc::Gen<std::string> GenOf(std::string characters, int least, int most) {
  return rc::gen::mapcat(rc::gen::inRange(least, most + 1), [characters](int size) {
    return rc::gen::container<std::string>(static_cast<size_t>(size),
                                           rc::gen::elementOf(characters));
  });
}

rc::Gen<std::string> GenText(int least) {
  return GenOf(std::string("ab09:/{}| -.\xff\n", 15) + '\0', least, 12);
}

rc::Gen<std::string> GenUuid() {
  return rc::gen::map(GenOf("0123456789abcdef", 32, 32), [](std::string digits) {
    for (const size_t hyphen : {8, 13, 18, 23}) digits.insert(hyphen, 1, '-');
    return digits;
  });
}

rc::Gen<std::string> GenOfKind(const KeyPattern::Placeholder& placeholder) {
  switch (placeholder.kind) {
    case KeyPattern::Kind::kText:
      return GenText(1);
    case KeyPattern::Kind::kAny:
      return GenText(0);
    case KeyPattern::Kind::kId:
      return GenOf("azAZ09_-", 1, 12);
    case KeyPattern::Kind::kUuid:
      return GenUuid();
    case KeyPattern::Kind::kInt:
      return rc::gen::map(rc::gen::arbitrary<int64_t>(),
                          [](int64_t value) { return base::FormatInt64(value); });
    case KeyPattern::Kind::kDigits:
      return GenOf("0123456789", static_cast<int>(placeholder.least_digits),
                   static_cast<int>(placeholder.most_digits));
    case KeyPattern::Kind::kWord:
      return rc::gen::elementOf(placeholder.words);
  }
  return rc::gen::just(std::string());
}

void ExpectRoundTrip(const FamilyTable& table, const KeyFamily& family) {
  const KeyPattern& pattern = *table.PatternOf(family.id);
  const std::vector<std::string> values = *GenKeyValues(pattern);
  const std::vector<std::string_view> views(values.begin(), values.end());

  const absl::StatusOr<std::string> key = pattern.BuildFrom(views);
  RC_ASSERT(key.ok());
  const std::optional<KeyValues> parsed = pattern.Parse(*key);
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(std::vector<std::string>(parsed->begin(), parsed->end()) == values);
  RC_ASSERT(*pattern.BuildFrom(*parsed) == *key);

  const Recognition recognition = table.Recognise(*key);
  RC_ASSERT(!recognition.undeclared_overlap);
  RC_ASSERT(std::any_of(recognition.matches.begin(), recognition.matches.end(),
                        [&](const KeyMatch& match) { return match.family->id == family.id; }));
}

}  // namespace

rc::Gen<std::string> GenKeyValue(const KeyPattern& pattern, size_t index) {
  const KeyPattern::Placeholder& placeholder = pattern.placeholders()[index];
  const std::string_view ending = pattern.LiteralAfter(index);
  return rc::gen::suchThat(GenOfKind(placeholder), [&pattern, index, ending](const auto& value) {
    const bool ends_early =
        !ending.empty() && (value + std::string(ending)).find(ending) < value.size();
    return !ends_early && pattern.Check(index, value).ok();
  });
}

rc::Gen<std::vector<std::string>> GenKeyValues(const KeyPattern& pattern) {
  return rc::gen::exec([&pattern] {
    std::vector<std::string> values;
    for (size_t i = 0; i < pattern.placeholders().size(); ++i) {
      values.push_back(*GenKeyValue(pattern, i));
    }
    return values;
  });
}

void ExpectKeyFamiliesRoundTrip(std::span<const KeyFamily> families,
                                std::span<const KeyBinding> bindings) {
  FamilyTable table;
  const absl::Status added = table.Add(families, bindings);
  ASSERT_TRUE(added.ok()) << added;
  for (const KeyFamily& family : families) {
    EXPECT_TRUE(rc::check(std::string(family.id), [&] { ExpectRoundTrip(table, family); }));
  }
}

}  // namespace redouble::inline v0_1::store
