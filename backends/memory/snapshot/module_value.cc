#include "redouble/backends/memory/snapshot/module_value.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redouble::inline v0_1::memory {
namespace {

// The tags of a module's items.
enum Tag : uint64_t { kEnd = 0, kSigned = 1, kUnsigned = 2, kFloat = 3, kDouble = 4, kString = 5 };

// An id is nine characters of six bits each and ten bits of version.
std::string NameOfModuleType(uint64_t id) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  constexpr int kVersionBits = 10;
  constexpr int kLetterBits = 6;
  constexpr size_t kNameLength = 9;
  std::string name(kNameLength, ' ');
  id >>= kVersionBits;
  for (size_t i = kNameLength; i-- > 0; id >>= kLetterBits) {
    name[i] = kLetters[id % kLetters.size()];
  }
  return name;
}

bool SkipItem(RdbReader& reader, uint64_t tag) {
  switch (tag) {
    case kSigned:
    case kUnsigned:
      return reader.ReadLength().has_value();
    case kFloat:
      return reader.ReadBytes(sizeof(float)).has_value();
    case kDouble:
      return reader.ReadBytes(sizeof(double)).has_value();
    case kString:
      return reader.ReadStringView().has_value();
    default:
      reader.Fail("the tag of a module's item, 0 to 5");
      return false;
  }
}

bool SkipItems(RdbReader& reader) {
  for (;;) {
    const std::optional<uint64_t> tag = reader.ReadLength();
    if (!tag) return false;
    if (*tag == kEnd) return true;
    if (!SkipItem(reader, *tag)) return false;
  }
}

}  // namespace

std::optional<std::string> SkipModuleValue(RdbReader& reader) {
  const std::optional<uint64_t> id = reader.ReadLength();
  if (!id || !SkipItems(reader)) return std::nullopt;
  return NameOfModuleType(*id);
}

}  // namespace redouble::inline v0_1::memory
