#include "redouble/tests/differential/vocabulary.h"

#include <array>
#include <cstring>

namespace redouble::inline v0_1::tests {
namespace {

using namespace std::string_view_literals;

constexpr auto kKeys =
    std::to_array<std::string_view>({"a", "b", "c", "d", "key:1", "key:2", "", "\x00\xff\r\n"sv});

constexpr auto kDatabases = std::to_array<int>({0, 1, 2, 15});

constexpr auto kShortValues = std::to_array<std::string_view>({
    "",
    "0",
    "1",
    "-1",
    "10",
    "12345",
    "abc",
    "hello world",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    " 1",
    "1 ",
    "01",
    "+1",
    "-0",
    "3.5",
    "1e3",
    "0.1",
    "-2.50",
    "inf",
    "nan",
    "\x00\xff\r\n"sv,
    "0x10",
    "32767",
    "65536",
    "4294967296",
});

constexpr auto kMembers = std::to_array<std::string_view>(
    {"m1", "m2", "m3", "1", "2", "-3", "100", "x", "", "\x00\xff"sv,
     "a long member of a collection, which is "
     "too long for every compact encoding there is, by any of its limits, which are 64 bytes"});

constexpr auto kEdges = std::to_array<std::string_view>({
    "0",
    "-0",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775806",
    "9223372036854775808",
    "-9223372036854775809",
    "2147483647",
    "-2147483648",
    "2147483648",
    "4294967295",
    "4294967296",
    "536870911",
    "536870912",
    "18446744073709551615",
    "9223372036854775",
    "9223370258519393",
    "-1",
    "1",
});

constexpr auto kFloats = std::to_array<std::string_view>({
    "0",
    "1",
    "-1",
    "0.1",
    "0.2",
    "-0.5",
    "3.0",
    "1.5",
    "100",
    "1e3",
    "1E-5",
    "1e17",
    "1e-17",
    ".5",
    "5.",
    "-0",
    "+1",
    "0x1p3",
    "1e300",
    "1e4931",
    "-1e4931",
    "inf",
    "-inf",
    "+inf",
    "nan",
    "1e5000",
    " 1",
    "1 ",
    "",
    "abc",
    "1e",
    "12345678901234567890",
    "0.1000000000000000055",
    "9007199254740993",
    "1.7976931348623157e308",
});

constexpr auto kPatterns = std::to_array<std::string_view>({
    "*",   "**",  "a", "?",  "key:*", "key:?", "[ab]",   "[^a]",  "[a-c]", "k*1",    "",
    "\\a", "*a*", "[", "[a", "\\",    "a*\\",  "*:[12]", "KEY:*", "m*",    "[0-9]*",
});

constexpr auto kJunk = std::to_array<std::string_view>({
    "",   " ",   "foo",           "-",       "+",       "1.5", " 1",
    "1 ", "0x1", "\x00"sv,        "1\x00"sv, "*",       "nan", "NX",
    "XX", "GET", "COUNT",         "EX",      "KEEPTTL", "DB",  "9223372036854775808",
    "-1", "0",   "line\r\nbreak",
});

}  // namespace

std::span<const int> Vocabulary::AllDatabases() { return kDatabases; }

std::string Vocabulary::PickFrom(std::span<const std::string_view> pool) {
  return std::string(pool[rng_.Below(pool.size())]);
}

// The first keys of the pool are more frequent, so that commands use the same keys.
std::string Vocabulary::Key() {
  constexpr size_t kFrequent = 3;
  if (Chance(0.7)) return PickFrom(std::span(kKeys).first(kFrequent));
  return PickFrom(kKeys);
}

Words Vocabulary::Keys(size_t count) {
  Words keys;
  while (keys.size() < count) keys.push_back(Key());
  return keys;
}

std::string Vocabulary::Value() {
  if (Chance(0.75)) return PickFrom(kShortValues);
  if (Chance(0.5)) return std::to_string(rng_.Between(-20, 1000));
  // Around the limits of Redis's encodings (44 and 64), and far above.
  constexpr auto kSizes = std::to_array<size_t>({20, 43, 44, 45, 63, 64, 65, 300});
  // In separate statements, because compilers evaluate arguments in any order.
  const size_t size = kSizes[rng_.Below(kSizes.size())];
  const char letter = static_cast<char>('a' + rng_.Below(3));
  return std::string(size, letter);
}

std::string Vocabulary::Member() { return PickFrom(kMembers); }

std::string Vocabulary::Integer() {
  if (Chance(0.25)) return PickFrom(kEdges);
  return std::to_string(rng_.Between(-20, 20));
}

std::string Vocabulary::SmallInteger() {
  if (Chance(0.05)) return PickFrom(kEdges);
  return std::to_string(rng_.Between(-6, 6));
}

std::string Vocabulary::Count(int64_t max) { return std::to_string(rng_.Between(1, max)); }

std::string Vocabulary::Float() { return PickFrom(kFloats); }

std::string Vocabulary::TtlMillis() {
  if (Chance(0.1)) return PickFrom(kEdges);
  if (Chance(0.3)) return std::to_string(rng_.Between(-1, 5));
  constexpr auto kRound =
      std::to_array<int>({10, 63, 64, 65, 499, 500, 501, 999, 1000, 1500, 4096});
  return std::to_string(kRound[rng_.Below(kRound.size())]);
}

std::string Vocabulary::TtlSeconds() {
  if (Chance(0.1)) return PickFrom(kEdges);
  return std::to_string(rng_.Between(-1, 4));
}

std::string Vocabulary::UnixMillis() {
  if (Chance(0.1)) return PickFrom(kEdges);
  return std::to_string(absl::ToUnixMillis(start_) + rng_.Between(-3, 3000));
}

std::string Vocabulary::UnixSeconds() {
  if (Chance(0.1)) return PickFrom(kEdges);
  return std::to_string(absl::ToUnixSeconds(start_) + rng_.Between(-1, 4));
}

std::string Vocabulary::Db() {
  if (Chance(0.1)) return Choice({"16", "-1", "x", "2147483648", "1.0", "", " 1", "01"});
  return std::to_string(kDatabases[rng_.Below(kDatabases.size())]);
}

std::string Vocabulary::Pattern() { return PickFrom(kPatterns); }

std::string Vocabulary::Choice(std::initializer_list<std::string_view> words) {
  return std::string(*(words.begin() + rng_.Below(words.size())));
}

std::string Vocabulary::Junk() { return PickFrom(kJunk); }

}  // namespace redouble::inline v0_1::tests
