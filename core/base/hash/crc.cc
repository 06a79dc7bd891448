#include "redouble/core/base/hash/crc.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <string>

namespace redouble::inline v0_1::base {
namespace {

constexpr uint16_t kCrc16Polynomial = 0x1021;
// 0xad93d23594c935a9 with its bits reversed, because the least significant bit comes first.
constexpr uint64_t kCrc64Polynomial = 0x95ac9329ac4bc9b5;

constexpr std::array<uint16_t, 256> MakeCrc16Table() {
  std::array<uint16_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    uint16_t crc = static_cast<uint16_t>(byte << 8);
    for (int bit = 0; bit < 8; ++bit) {
      crc = static_cast<uint16_t>((crc << 1) ^ ((crc & 0x8000) != 0 ? kCrc16Polynomial : 0));
    }
    table[byte] = crc;
  }
  return table;
}

using Crc64Tables = std::array<std::array<uint64_t, 256>, 8>;

// Table k advances a byte past k more zero bytes, so that eight lookups process eight bytes at
// once.
constexpr Crc64Tables MakeCrc64Tables() {
  Crc64Tables tables{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    uint64_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kCrc64Polynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < tables.size(); ++k) {
    for (unsigned byte = 0; byte < 256; ++byte) {
      const uint64_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr std::array<uint16_t, 256> kCrc16Table = MakeCrc16Table();
constexpr Crc64Tables kCrc64Tables = MakeCrc64Tables();

static_assert(std::endian::native == std::endian::little,
              "Crc64 reads eight bytes as a little-endian word");

}  // namespace

uint16_t Crc16(std::string_view bytes) {
  uint16_t crc = 0;
  for (const char c : bytes) {
    const auto index = static_cast<uint8_t>((crc >> 8) ^ static_cast<uint8_t>(c));
    crc = static_cast<uint16_t>((crc << 8) ^ kCrc16Table[index]);
  }
  return crc;
}

std::string_view HashTag(std::string_view key) {
  const size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

namespace {

// The smallest number of each slot. The last one that is found is 109,757.
std::array<int, kClusterSlots> NumbersOfSlots() {
  std::array<int, kClusterSlots> numbers;
  numbers.fill(-1);
  int missing = kClusterSlots;
  for (int number = 0; missing > 0; ++number) {
    int& found = numbers[static_cast<size_t>(KeySlot(std::to_string(number)))];
    if (found >= 0) continue;
    found = number;
    --missing;
  }
  return numbers;
}

}  // namespace

int KeySlot(std::string_view key) { return Crc16(HashTag(key)) % kClusterSlots; }

int NumberInSlot(int slot) {
  static const std::array<int, kClusterSlots>& numbers =
      *new std::array<int, kClusterSlots>(NumbersOfSlots());
  return numbers[static_cast<size_t>(slot)];
}

uint64_t Crc64(std::string_view bytes, uint64_t previous) {
  uint64_t crc = previous;
  while (bytes.size() >= 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof(word));
    word ^= crc;
    // Written out, because g++ 12 keeps the loop at -O2.
    const auto advanced = [word](size_t k) {
      return kCrc64Tables[7 - k][(word >> (8 * k)) & 0xff];
    };
    crc = advanced(0) ^ advanced(1) ^ advanced(2) ^ advanced(3) ^ advanced(4) ^ advanced(5) ^
          advanced(6) ^ advanced(7);
    bytes.remove_prefix(8);
  }
  for (const char c : bytes) {
    crc = (crc >> 8) ^ kCrc64Tables[0][(crc ^ static_cast<uint8_t>(c)) & 0xff];
  }
  return crc;
}

}  // namespace redouble::inline v0_1::base
