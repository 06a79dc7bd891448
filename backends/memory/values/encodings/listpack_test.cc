// The bytes in hexadecimal are the values in DUMP payloads of redis-server 7.0.15.

#include "redouble/backends/memory/values/encodings/listpack.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/text/hex.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

using base::StatusIs;
using Strings = std::vector<std::string>;

std::string Unhex(std::string_view hex) { return base::HexToBytes(hex).value(); }

std::string Hex(std::string_view bytes) { return absl::BytesToHexString(base::ToAbsl(bytes)); }

Listpack Packed(const Strings& elements) {
  Listpack pack;
  for (const std::string& element : elements) pack.Append(element);
  return pack;
}

Strings Elements(const Listpack& pack) {
  Strings elements;
  for (Listpack::Position at = pack.First(); at != Listpack::kNone; at = pack.Next(at)) {
    elements.push_back(pack.Get(at).ToString());
  }
  return elements;
}

Strings ElementsBackwards(const Listpack& pack) {
  Strings elements;
  for (Listpack::Position at = pack.Last(); at != Listpack::kNone; at = pack.Previous(at)) {
    elements.push_back(pack.Get(at).ToString());
  }
  return elements;
}

// Compares a forward walk, a backward walk, the count and the result of parsing the bytes with
// `model`.
void ExpectHolds(const Listpack& pack, Strings model) {
  ASSERT_EQ(Elements(pack), model);
  ASSERT_EQ(pack.count(), model.size());
  ASSERT_EQ(pack.empty(), model.empty());
  std::reverse(model.begin(), model.end());
  ASSERT_EQ(ElementsBackwards(pack), model);
  ASSERT_OK_AND_ASSIGN(const Listpack parsed, Listpack::Parse(pack.bytes()));
  ASSERT_EQ(parsed.bytes(), pack.bytes());
}

TEST(Listpack, KnowsWhetherItsKeysAreDistinct) {
  EXPECT_TRUE(Packed({}).HasDistinctKeys());
  EXPECT_TRUE(Packed({"a"}).HasDistinctKeys());
  EXPECT_TRUE(Packed({"a", "a"}).HasDistinctKeys()) << "a field and its value";
  EXPECT_TRUE(Packed({"1", "x", "2", "x", "01", "x", "", "x"}).HasDistinctKeys());
  EXPECT_FALSE(Packed({"1", "x", "2", "x", "1", "y"}).HasDistinctKeys());
  EXPECT_FALSE(Packed({"a", "x", "b", "x", "a"}).HasDistinctKeys());
  // "7" as an integer and as a string of one byte.
  ASSERT_OK_AND_ASSIGN(const Listpack both,
                       Listpack::Parse(Unhex("100000000400070101018137020201ff")));
  ASSERT_EQ(Elements(both), (Strings{"7", "1", "7", "2"}));
  EXPECT_FALSE(both.HasDistinctKeys());
  Listpack many;
  for (int i = 0; i < 100; ++i) {
    many.Append(i % 2 == 0 ? std::to_string(i) : std::to_string(i) + "x");
    many.Append("value");
    EXPECT_TRUE(many.HasDistinctKeys()) << i;
    Listpack repeated = many;
    repeated.Append(std::to_string(i / 2 * 2));
    EXPECT_FALSE(repeated.HasDistinctKeys()) << i;
  }
}

TEST(Listpack, EncodesIntegersOfEveryWidthAsRedis) {
  const Listpack pack = Packed({"0",
                                "127",
                                "128",
                                "-1",
                                "-4096",
                                "4095",
                                "-4097",
                                "4096",
                                "32767",
                                "-32768",
                                "32768",
                                "8388607",
                                "-8388608",
                                "8388608",
                                "2147483647",
                                "-2147483648",
                                "2147483648",
                                "-2147483649",
                                "9223372036854775807",
                                "-9223372036854775808",
                                "9223372036854775808",
                                "01",
                                "-0",
                                "1.5"});
  EXPECT_EQ(
      Hex(pack.bytes()),
      "92000000180000017f01c08002dfff02d00002cfff02f1ffef03f1001003f1ff7f03f1008003f200800004f2"
      "ffff7f04f200008004f30000800005f3ffffff7f05f30000008005f4000000800000000009f4ffffff7fffff"
      "ffff09f4ffffffffffffff7f09f400000000000000800993393232333337323033363835343737353830381"
      "482303103822d300383312e3504ff");
}

TEST(Listpack, EncodesAHashAsRedis) {
  const Listpack pack = Packed({"f", "v", "n", "42", "big", std::string(63, 'x'), "e", ""});
  EXPECT_EQ(Hex(pack.bytes()), "5d0000000800816602817602816e022a018362696704bf" +
                                   Hex(std::string(63, 'x')) + "408165028001ff");
}

TEST(Listpack, EncodesASortedSetAsRedis) {
  const Listpack pack = Packed(
      {"c", "-3", "f", "0.10000000000000001", "a", "1", "b", "2.5", "e", "1e+20", "d", "inf"});
  EXPECT_EQ(
      Hex(pack.bytes()),
      "440000000c00816302dffd0281660293302e3130303030303030303030303030303031148161020101816202"
      "83322e35048165028531652b32300681640283696e6604ff");
}

TEST(Listpack, EncodesAStreamNodeAsRedis) {
  Listpack pack;
  for (const int64_t number : {3, 0, 1}) pack.Append(number);
  pack.Append("f");
  for (const int64_t number : {0, 2, 0, 0}) pack.Append(number);
  pack.Append("v");
  for (const int64_t number : {4, 2, 0, 1}) pack.Append(number);
  pack.Append("w");
  for (const int64_t number : {4, 0, 1, -1, 2}) pack.Append(number);
  for (const std::string_view text : {"g", "1", "h", "2"}) pack.Append(text);
  pack.Append(int64_t{8});
  EXPECT_EQ(Hex(pack.bytes()),
            "3d0000001800030100010101816602000102010001000181760204010201000101018177020401000101"
            "01dfff020201816702010181680202010801ff");
}

// Strings whose sizes are at the limits of the encodings and of the back length.
TEST(Listpack, EncodesStringsOfEveryWidthAsRedis) {
  const struct {
    size_t size;
    std::string_view front;
    std::string_view back;
  } kRows[] = {
      {62, "470000000100be", "3fff"},
      {63, "480000000100bf", "40ff"},
      {64, "4a0000000100e040", "42ff"},
      {125, "870000000100e07d", "7fff"},
      {126, "890000000100e07e", "0180ff"},
      {4095, "0a1000000100efff", "2081ff"},
      {4096, "0e1000000100f000100000", "2085ff"},
      {16370, "004000000100f0f23f0000", "7ff7ff"},
      {16377, "074000000100f0f93f0000", "7ffeff"},
      {16378, "094000000100f0fa3f0000", "00ffffff"},
      {16379, "0a4000000100f0fb3f0000", "018080ff"},
      {2097145, "080020000100f0f9ff1f00", "7ffffeff"},
      {2097146, "0a0020000100f0faff1f00", "00ffffffff"},
  };
  for (const auto& row : kRows) {
    const std::string text(row.size, 'z');
    const Listpack pack = Packed({text});
    EXPECT_EQ(pack.bytes(), Unhex(row.front) + text + Unhex(row.back)) << row.size;
    ExpectHolds(pack, {text});
  }
}

TEST(Listpack, StartsEmpty) {
  const Listpack pack;
  EXPECT_EQ(Hex(pack.bytes()), "070000000000ff");
  EXPECT_EQ(pack.First(), Listpack::kNone);
  EXPECT_EQ(pack.Last(), Listpack::kNone);
  EXPECT_EQ(pack.Seek(0), Listpack::kNone);
  EXPECT_EQ(pack.Seek(-1), Listpack::kNone);
  EXPECT_EQ(pack.Find("", pack.First()), Listpack::kNone);
  ExpectHolds(pack, {});
}

TEST(Listpack, DistinguishesIntegersFromStrings) {
  Listpack pack = Packed({"7", "07", ""});
  const ListpackValue integer = pack.Get(pack.Seek(0));
  EXPECT_TRUE(integer.is_integer());
  EXPECT_EQ(integer.integer(), 7);
  EXPECT_EQ(integer.AsInt64(), 7);
  EXPECT_TRUE(integer.Equals("7"));
  EXPECT_FALSE(integer.Equals("07"));
  EXPECT_FALSE(integer.Equals("8"));
  const ListpackValue text = pack.Get(pack.Seek(1));
  EXPECT_FALSE(text.is_integer());
  EXPECT_EQ(text.text(), "07");
  EXPECT_EQ(text.AsInt64(), std::nullopt);
  EXPECT_TRUE(text.Equals("07"));
  EXPECT_FALSE(text.Equals("7"));
  EXPECT_EQ(pack.Get(pack.Seek(2)).text(), "");
}

TEST(Listpack, ShowsAValueInTheCallersBuffer) {
  const Listpack pack = Packed({"-12", "text"});
  base::Int64Buffer buffer;
  EXPECT_EQ(pack.Get(pack.First()).View(buffer), "-12");
  EXPECT_EQ(pack.Get(pack.Last()).View(buffer), "text");
}

TEST(Listpack, SeeksFromBothEnds) {
  const Listpack pack = Packed({"a", "b", "c", "d", "e"});
  for (int64_t index = 0; index < 5; ++index) {
    const std::string expected(1, static_cast<char>('a' + index));
    EXPECT_EQ(pack.Get(pack.Seek(index)).text(), expected);
    EXPECT_EQ(pack.Get(pack.Seek(index - 5)).text(), expected);
  }
  for (const int64_t index : {int64_t{5}, int64_t{-6}, std::numeric_limits<int64_t>::min(),
                              std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(pack.Seek(index), Listpack::kNone) << index;
  }
}

TEST(Listpack, FindsTextAndIntegers) {
  const Listpack pack = Packed({"a", "1", "b", "a", "1"});
  EXPECT_EQ(pack.Find("a", pack.First()), pack.Seek(0));
  EXPECT_EQ(pack.Find("a", pack.Seek(1)), pack.Seek(3));
  EXPECT_EQ(pack.Find("1", pack.First()), pack.Seek(1));
  EXPECT_EQ(pack.Find("01", pack.First()), Listpack::kNone);
  EXPECT_EQ(pack.Find("c", pack.First()), Listpack::kNone);
}

TEST(Listpack, LeavesOutTheSkippedElementsWhenItFinds) {
  const Listpack pack = Packed({"f", "g", "g", "1", "h", "2"});
  EXPECT_EQ(pack.Find("g", pack.First(), 1), pack.Seek(2));
  EXPECT_EQ(pack.Find("1", pack.First(), 1), Listpack::kNone);
  EXPECT_EQ(pack.Find("h", pack.First(), 3), pack.Seek(4));
  EXPECT_EQ(pack.Find("2", pack.First(), 100), Listpack::kNone);
}

TEST(Listpack, ReturnsThePositionOfTheNewElement) {
  Listpack pack;
  EXPECT_EQ(pack.Get(pack.Append("b")).text(), "b");
  EXPECT_EQ(pack.Get(pack.Prepend(int64_t{1})).integer(), 1);
  EXPECT_EQ(pack.Get(pack.InsertAfter(pack.First(), "a")).text(), "a");
  EXPECT_EQ(pack.Get(pack.InsertAfter(pack.Last(), int64_t{9})).integer(), 9);
  EXPECT_EQ(pack.Get(pack.InsertBefore(pack.First(), "z")).text(), "z");
  EXPECT_EQ(pack.Get(pack.InsertBefore(pack.Last(), int64_t{8})).integer(), 8);
  EXPECT_EQ(pack.Get(pack.Prepend("y")).text(), "y");
  EXPECT_EQ(pack.Get(pack.Append(int64_t{10})).integer(), 10);
  ExpectHolds(pack, {"y", "z", "1", "a", "b", "8", "9", "10"});
}

TEST(Listpack, ReplacesInPlace) {
  Listpack pack = Packed({"a", "b", "c"});
  const Listpack::Position middle = pack.Seek(1);
  EXPECT_EQ(pack.Replace(middle, std::string(5000, 'x')), middle);
  EXPECT_EQ(pack.Replace(middle, int64_t{-77}), middle);
  ExpectHolds(pack, {"a", "-77", "c"});
}

TEST(Listpack, ErasesOneAndReturnsTheNext) {
  Listpack pack = Packed({"a", "b", "c"});
  const Listpack::Position next = pack.Erase(pack.Seek(1));
  EXPECT_EQ(pack.Get(next).text(), "c");
  EXPECT_EQ(pack.Erase(next), Listpack::kNone);
  EXPECT_EQ(pack.Erase(pack.First()), Listpack::kNone);
  ExpectHolds(pack, {});
}

TEST(Listpack, ErasesRangesUpToTheEnd) {
  Listpack pack = Packed({"a", "b", "c", "d", "e"});
  EXPECT_EQ(pack.Get(pack.Erase(pack.Seek(1), 2)).text(), "d");
  ExpectHolds(pack, {"a", "d", "e"});
  pack.EraseRange(-2, 100);
  ExpectHolds(pack, {"a"});
  pack.EraseRange(1, 1);
  pack.EraseRange(0, 0);
  ExpectHolds(pack, {"a"});
}

TEST(Listpack, AppendsAnotherListpack) {
  Listpack pack = Packed({"a", "1"});
  pack.AppendAll(Packed({"2", "b"}));
  pack.AppendAll(Listpack());
  ExpectHolds(pack, {"a", "1", "2", "b"});
}

TEST(Listpack, CopiesAndMoves) {
  const Listpack original = Packed({"a", "b"});
  Listpack copy(original);
  copy.Append("c");
  ExpectHolds(original, {"a", "b"});
  Listpack assigned;
  assigned = copy;
  const Listpack& itself = assigned;
  assigned = itself;
  Listpack moved(std::move(copy));
  ExpectHolds(moved, {"a", "b", "c"});
  moved = std::move(assigned);
  ExpectHolds(moved, {"a", "b", "c"});
  moved.Clear();
  ExpectHolds(moved, {});
}

// Redis returns the same: HDEL after 32,768 fields, with hash-max-listpack-entries raised.
TEST(Listpack, CountsWhatTheHeaderCannotHold) {
  Listpack pack;
  for (int i = 0; i < 65534; ++i) pack.Append(int64_t{1});
  EXPECT_EQ(Hex(pack.bytes().substr(4, 2)), "feff");
  pack.Append("last");
  EXPECT_EQ(Hex(pack.bytes().substr(4, 2)), "ffff");
  pack.Append("more");
  EXPECT_EQ(pack.count(), 65536u);
  EXPECT_EQ(pack.Get(pack.Seek(65534)).text(), "last");
  pack.EraseRange(0, 2);
  EXPECT_EQ(Hex(pack.bytes().substr(4, 2)), "ffff");
  EXPECT_EQ(pack.count(), 65534u);
  EXPECT_EQ(Hex(pack.bytes().substr(4, 2)), "feff");
}

TEST(Listpack, RefusesToGrowBeyondFourGibibytes) {
  // Only the first byte is accessed, so this needs address space but no memory.
  const std::unique_ptr<char[]> bytes(new char[UINT32_MAX]);
  bytes[0] = 'x';
  const std::string_view huge(bytes.get(), UINT32_MAX);
  Listpack pack = Packed({"a", "b"});
  EXPECT_EQ(pack.Append(huge), Listpack::kNone);
  EXPECT_EQ(pack.Prepend(huge), Listpack::kNone);
  EXPECT_EQ(pack.InsertBefore(pack.Last(), huge), Listpack::kNone);
  EXPECT_EQ(pack.InsertAfter(pack.First(), huge), Listpack::kNone);
  EXPECT_EQ(pack.Replace(pack.First(), huge), Listpack::kNone);
  ExpectHolds(pack, {"a", "b"});
}

TEST(Listpack, IsSafeToAddWhatStaysWithinAGibibyte) {
  const Listpack pack;
  EXPECT_TRUE(pack.IsSafeToAdd(Listpack::kSafeBytes - Listpack::kEmptyBytes));
  EXPECT_FALSE(pack.IsSafeToAdd(Listpack::kSafeBytes - Listpack::kEmptyBytes + 1));
}

TEST(Listpack, GivesMemoryBackWhenItShrinks) {
  Listpack pack;
  for (int i = 0; i < 1000; ++i) pack.Append("0123456789");
  const size_t full = pack.allocated_bytes();
  pack.EraseRange(10, 990);
  EXPECT_LT(pack.allocated_bytes(), full / 10);
}

TEST(Listpack, DoesNotMoveWithinWhatWasReserved) {
  Listpack pack;
  pack.Reserve(4096);
  const char* const before = pack.bytes().data();
  while (pack.size_bytes() < 4000) pack.Append("0123456789");
  EXPECT_EQ(pack.bytes().data(), before);
  pack.EraseRange(5, 1000);
  pack.ShrinkToFit();
  EXPECT_LT(pack.allocated_bytes(), pack.size_bytes() + 32);
}

TEST(ListpackParse, KeepsEncodingsThatAreNotTheShortest) {
  // 5 as a 64-bit integer, 6 in 13 bits, and "7" as a string.
  const std::string bytes = Unhex("170000000300f4050000000000000009c00602813702ff");
  ASSERT_OK_AND_ASSIGN(const Listpack pack, Listpack::Parse(bytes));
  EXPECT_EQ(Elements(pack), (Strings{"5", "6", "7"}));
  EXPECT_EQ(pack.Find("7", pack.First()), pack.Seek(2));
  EXPECT_EQ(pack.Get(pack.Seek(2)).AsInt64(), 7);
  EXPECT_EQ(pack.bytes(), bytes);
}

TEST(ListpackParse, NamesWhatIsWrong) {
  const struct {
    std::string_view hex;
    std::string_view message;
  } kRows[] = {
      {"", "too few bytes at offset 0"},
      {"070000000000", "too few bytes at offset 6"},
      {"080000000000ff", "wrong size at offset 0"},
      {"07000000000000", "no end at offset 6"},
      {"070000000100ff", "wrong count at offset 4"},
      {"0900000002000101ff", "wrong count at offset 4"},
      {"0900000000000101ff", "wrong count at offset 4"},
      {"080000000100ffff", "early end at offset 6"},
      {"0900000001000102ff", "bad element at offset 6"},
      {"08000000010001ff", "bad element at offset 6"},
      {"090000000100f501ff", "bad element at offset 6"},
      {"090000000100fe01ff", "bad element at offset 6"},
      {"0900000001008202ff", "bad element at offset 6"},
      {"080000000100e0ff", "bad element at offset 6"},
      {"090000000100f0ffff", "bad element at offset 6"},
      {"0d0000000100f0ffffffff05ff", "bad element at offset 6"},
      {"0d0000000100f4000000000000ff", "wrong size at offset 0"},
      {"0e0000000100f4000000000000ff", "bad element at offset 6"},
      {"0b000000020001010102ff", "bad element at offset 8"},
  };
  for (const auto& row : kRows) {
    EXPECT_THAT(
        Listpack::Parse(Unhex(row.hex)),
        StatusIs(absl::StatusCode::kInvalidArgument, "not a listpack: " + std::string(row.message)))
        << row.hex;
  }
}

// Texts at the limits of the encodings: integers of every width, strings of every width.
rc::Gen<std::string> ElementText() {
  const auto integer =
      rc::gen::map(rc::gen::pair(rc::gen::arbitrary<int64_t>(), rc::gen::inRange(0, 64)),
                   [](const std::pair<int64_t, int>& part) {
                     return std::to_string(part.first >> part.second);
                   });
  const auto sized = rc::gen::map(
      rc::gen::element<size_t>(0, 1, 62, 63, 64, 120, 125, 126, 127, 128, 4095, 4096, 16378, 16379),
      [](size_t size) { return std::string(size, 'x'); });
  return rc::gen::weightedOneOf<std::string>(
      {{4, integer}, {4, rc::gen::arbitrary<std::string>()}, {1, sized}});
}

// One edit of a listpack and of its model: the kind of edit, an approximate position and a text.
using Edit = std::tuple<int, uint16_t, std::string>;

void Insert(const Edit& edit, Listpack& pack, Strings& model) {
  const auto& [kind, place, text] = edit;
  const size_t index = place % model.size();
  const Listpack::Position at = pack.Seek(static_cast<int64_t>(index));
  const auto where = model.begin() + static_cast<int64_t>(index);
  if (kind == 0) {
    RC_ASSERT(pack.InsertBefore(at, text) == at);
    model.insert(where, text);
  } else if (kind == 1) {
    const Listpack::Position inserted = pack.InsertAfter(at, text);
    RC_ASSERT(inserted == pack.Seek(static_cast<int64_t>(index) + 1));
    model.insert(where + 1, text);
  } else {
    RC_ASSERT(pack.Replace(at, text) == at);
    *where = text;
  }
}

void Remove(const Edit& edit, Listpack& pack, Strings& model) {
  const auto& [kind, place, text] = edit;
  const size_t index = place % model.size();
  const size_t count = kind == 3 ? 1 : text.size() % 5;
  const size_t end = std::min(model.size(), index + count);
  const Listpack::Position next = pack.Erase(pack.Seek(static_cast<int64_t>(index)), count);
  model.erase(model.begin() + static_cast<int64_t>(index),
              model.begin() + static_cast<int64_t>(end));
  RC_ASSERT((next == Listpack::kNone) == (index == model.size()));
  if (next != Listpack::kNone) RC_ASSERT(pack.Get(next).Equals(model[index]));
}

void Apply(const Edit& edit, Listpack& pack, Strings& model) {
  const auto& [kind, place, text] = edit;
  if (kind == 5 || model.empty()) {
    pack.Append(text);
    model.push_back(text);
  } else if (kind == 6) {
    pack.Prepend(text);
    model.insert(model.begin(), text);
  } else if (kind <= 2) {
    Insert(edit, pack, model);
  } else {
    Remove(edit, pack, model);
  }
}

RC_GTEST_PROP(Listpack, AgreesWithAVectorOfStrings, ()) {
  const auto edits = *rc::gen::container<std::vector<Edit>>(
      rc::gen::tuple(rc::gen::inRange(0, 7), rc::gen::arbitrary<uint16_t>(), ElementText()));
  Listpack pack;
  Strings model;
  for (const Edit& edit : edits) {
    Apply(edit, pack, model);
    RC_ASSERT(Elements(pack) == model);
    RC_ASSERT(pack.count() == model.size());
  }
  RC_ASSERT(Packed(model).bytes() == pack.bytes());
  RC_ASSERT(Listpack::Parse(pack.bytes()).ok());
  std::reverse(model.begin(), model.end());
  RC_ASSERT(ElementsBackwards(pack) == model);
}

RC_GTEST_PROP(Listpack, FindsTheFirstEqualElement, ()) {
  const auto model = *rc::gen::container<Strings>(
      rc::gen::element<std::string>("1", "01", "-5", "a", "b", "", "4096", "123456789012"));
  const auto text = *rc::gen::element<std::string>("1", "01", "-5", "a", "", "4096", "none");
  const Listpack pack = Packed(model);
  const auto found = std::find(model.begin(), model.end(), text);
  const Listpack::Position expected =
      found == model.end() ? Listpack::kNone : pack.Seek(found - model.begin());
  RC_ASSERT(pack.Find(text, pack.First()) == expected);
}

RC_GTEST_PROP(Listpack, ConcatenatesAsVectorsDo, (Strings first, const Strings& second)) {
  Listpack pack = Packed(first);
  pack.AppendAll(Packed(second));
  first.insert(first.end(), second.begin(), second.end());
  RC_ASSERT(pack.bytes() == Packed(first).bytes());
}

// With any byte changed, whatever Parse accepts can be walked, searched and edited.
RC_GTEST_PROP(ListpackParse, LetsOnlySoundBytesThrough, ()) {
  const auto model = *rc::gen::nonEmpty(rc::gen::container<Strings>(ElementText()));
  std::string bytes(Packed(model).bytes());
  const auto place = *rc::gen::inRange<size_t>(0, bytes.size());
  bytes[place] = *rc::gen::arbitrary<char>();
  absl::StatusOr<Listpack> pack = Listpack::Parse(bytes);
  if (!pack.ok()) return;
  Strings forwards = Elements(*pack);
  Strings backwards = ElementsBackwards(*pack);
  std::reverse(backwards.begin(), backwards.end());
  RC_ASSERT(forwards == backwards);
  RC_ASSERT(pack->Find("no such text", pack->First()) == Listpack::kNone);
  while (!pack->empty()) pack->Erase(pack->First());
}

RC_GTEST_PROP(ListpackParse, SurvivesArbitraryBytes, (const std::vector<uint8_t>& body)) {
  std::string bytes(6, '\xff');
  bytes.append(body.begin(), body.end());
  bytes.push_back('\xff');
  const auto size = static_cast<uint32_t>(bytes.size());
  for (size_t i = 0; i < 4; ++i) bytes[i] = static_cast<char>(size >> (8 * i));
  const absl::StatusOr<Listpack> pack = Listpack::Parse(bytes);
  if (pack.ok()) RC_ASSERT(Elements(*pack).size() == pack->count());
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
