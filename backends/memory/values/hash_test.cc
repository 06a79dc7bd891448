#include "redouble/backends/memory/values/hash.h"

#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "redouble/backends/memory/values/encoding_limits.h"

namespace redouble::inline v0_1::memory {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;
using Model = std::map<std::string, std::string>;

EncodingLimits Limits(size_t entries = 512, size_t value = 64) {
  EncodingLimits limits;
  limits.hash_max_listpack_entries = entries;
  limits.hash_max_listpack_value = value;
  return limits;
}

Pairs All(const Hash& hash) {
  Pairs pairs;
  hash.ForEach([&](std::string_view field, std::string_view value) {
    pairs.emplace_back(std::string(field), std::string(value));
  });
  return pairs;
}

TEST(Hash, KeepsTheOrderOfArrivalWhileItIsSmall) {
  Hash hash;
  EXPECT_TRUE(hash.Set("b", "1", Limits()));
  EXPECT_TRUE(hash.Set("a", "2", Limits()));
  EXPECT_FALSE(hash.Set("b", "3", Limits()));
  EXPECT_EQ(All(hash), (Pairs{{"b", "3"}, {"a", "2"}}));
  EXPECT_EQ(hash.size(), 2u);
  EXPECT_EQ(hash.At(1), (std::pair<std::string, std::string>("a", "2")));
}

TEST(Hash, DistinguishesFieldsFromValues) {
  Hash hash;
  hash.Set("a", "b", Limits());
  EXPECT_FALSE(hash.Contains("b"));
  EXPECT_EQ(hash.Get("b"), std::nullopt);
  EXPECT_FALSE(hash.Remove("b"));
  EXPECT_EQ(hash.Get("a"), "b");
  EXPECT_TRUE(hash.Remove("a"));
  EXPECT_TRUE(hash.empty());
}

Listpack Packed(std::initializer_list<std::string_view> elements) {
  Listpack pack;
  for (const std::string_view element : elements) pack.Append(element);
  return pack;
}

TEST(Hash, AdoptsAListpackAsItIs) {
  Listpack pack = Packed({"a", "1", "b", std::string(100, 'x')});
  const void* const bytes = pack.bytes().data();
  std::optional<Hash> hash = Hash::Adopt(pack, Limits(2));
  ASSERT_TRUE(hash.has_value());
  EXPECT_EQ(hash->listpack()->bytes().data(), bytes) << "it is not copied";
  EXPECT_EQ(All(*hash), (Pairs{{"a", "1"}, {"b", std::string(100, 'x')}}));
  EXPECT_TRUE(hash->Set("c", "3", Limits(2)));
  EXPECT_EQ(hash->encoding(), "hashtable");
}

TEST(Hash, DoesNotAdoptWhatIsNoSmallHash) {
  for (Listpack pack : {Packed({"a", "1", "b"}), Packed({"a", "1", "a", "2"}),
                        Packed({"a", "1", "b", "2", "c", "3"})}) {
    const std::string before(pack.bytes());
    EXPECT_FALSE(Hash::Adopt(pack, Limits(2)).has_value());
    EXPECT_EQ(pack.bytes(), before);
  }
}

TEST(Hash, TurnsToATableWhenItHasTooManyFields) {
  Hash hash;
  hash.Set("a", "1", Limits(2));
  hash.Set("b", "2", Limits(2));
  EXPECT_EQ(hash.encoding(), "listpack");
  EXPECT_NE(hash.listpack(), nullptr);
  hash.Set("c", "3", Limits(2));
  EXPECT_EQ(hash.encoding(), "hashtable");
  EXPECT_EQ(hash.listpack(), nullptr);
  EXPECT_EQ(hash.Get("a"), "1");
  EXPECT_TRUE(hash.Remove("b"));
  EXPECT_FALSE(hash.Remove("b"));
  EXPECT_EQ(hash.encoding(), "hashtable");
}

TEST(Hash, TurnsToATableWhenATextIsTooLong) {
  Hash fields;
  fields.Set("12345", "1", Limits(512, 4));
  EXPECT_EQ(fields.encoding(), "hashtable");
  Hash values;
  values.Set("1", "1234", Limits(512, 4));
  EXPECT_EQ(values.encoding(), "listpack");
  values.ConvertIfTooLong("1234", Limits(512, 4));
  EXPECT_EQ(values.encoding(), "listpack");
  values.ConvertIfTooLong("12345", Limits(512, 4));
  EXPECT_EQ(values.encoding(), "hashtable");
}

TEST(Hash, ClonesItselfInBothEncodings) {
  for (const size_t entries : {0u, 512u}) {
    Hash hash;
    hash.Set("a", "1", Limits(entries));
    const Hash clone = hash.Clone();
    hash.Set("a", "2", Limits(entries));
    EXPECT_EQ(clone.encoding(), hash.encoding());
    EXPECT_EQ(clone.Get("a"), "1");
  }
}

TEST(Hash, ScansEveryFieldOnce) {
  for (const size_t entries : {0u, 512u}) {
    Hash hash;
    for (int i = 0; i < 100; ++i) hash.Set("f" + std::to_string(i), "v", Limits(entries));
    Model seen;
    uint64_t cursor = 0;
    do {
      cursor = hash.Scan(cursor, 7, [&](std::string_view field, std::string_view value) {
        EXPECT_TRUE(seen.emplace(field, value).second);
      });
    } while (cursor != 0);
    EXPECT_EQ(seen.size(), 100u);
  }
}

RC_GTEST_PROP(Hash, AgreesWithAMap, ()) {
  const auto entries = *rc::gen::element<size_t>(0, 5, 512);
  Hash hash;
  Model model;
  const auto steps = *rc::gen::container<std::vector<std::tuple<int, int, int>>>(
      rc::gen::tuple(rc::gen::inRange(0, 20), rc::gen::inRange(0, 99), rc::gen::inRange(0, 3)));
  for (const auto& [name, number, action] : steps) {
    const std::string field = std::to_string(name);
    const std::string value = std::to_string(number);
    if (action == 0) {
      RC_ASSERT(hash.Remove(field) == (model.erase(field) == 1));
    } else {
      RC_ASSERT(hash.Set(field, value, Limits(entries)) == !model.contains(field));
      model[field] = value;
    }
    RC_ASSERT(hash.Contains(field) == model.contains(field));
    RC_ASSERT(hash.size() == model.size());
  }
  const Pairs pairs = All(hash);
  RC_ASSERT(Model(pairs.begin(), pairs.end()) == model);
  for (size_t i = 0; i < pairs.size(); ++i) RC_ASSERT(hash.At(i) == pairs[i]);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
