#include "redouble/backends/memory/commands/strings/hyperloglog.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr int kIndexBits = 14;
// The bits of the hash in which zeros are counted.
constexpr int kCountedBits = 64 - kIndexBits;
constexpr int kRegisterBits = 6;
constexpr uint8_t kMaxRegister = 63;
constexpr char kDense = 0;
constexpr char kSparse = 1;
constexpr std::string_view kMagic = "HYLL";
constexpr size_t kEncodingAt = 4;
constexpr size_t kCountAt = 8;
constexpr size_t kCountBytes = 8;

constexpr uint8_t kMaxSparseValue = 32;
constexpr size_t kMaxValueRun = 4;
constexpr size_t kMaxShortZeroRun = 64;

uint64_t LoadLittleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

// MurmurHash64A with the seed that Redis uses.
uint64_t HashOf(std::string_view element) {
  constexpr uint64_t kFactor = 0xc6a4a7935bd1e995;
  constexpr uint64_t kSeed = 0xadc83b19;
  constexpr int kShift = 47;
  uint64_t hash = kSeed ^ (element.size() * kFactor);
  while (element.size() >= 8) {
    uint64_t word = LoadLittleEndian(element.substr(0, 8)) * kFactor;
    word ^= word >> kShift;
    hash = (hash ^ (word * kFactor)) * kFactor;
    element.remove_prefix(8);
  }
  if (!element.empty()) hash = (hash ^ LoadLittleEndian(element)) * kFactor;
  hash = (hash ^ (hash >> kShift)) * kFactor;
  return hash ^ (hash >> kShift);
}

// A run of equal registers in a sparse string.
struct Run {
  enum class Kind { kShortZeros, kLongZeros, kValue };
  Kind kind;
  uint8_t value;
  size_t length;

  size_t bytes() const { return kind == Kind::kLongZeros ? 2 : 1; }
};

Run ReadRun(std::string_view text, size_t position) {
  const auto byte = static_cast<uint8_t>(text[position]);
  if ((byte & 0x80) != 0) {
    return {Run::Kind::kValue, static_cast<uint8_t>(((byte >> 2) & 0x1f) + 1),
            static_cast<size_t>(byte & 3) + 1};
  }
  const auto low = static_cast<size_t>(byte & 0x3f);
  if ((byte & 0x40) == 0) return {Run::Kind::kShortZeros, 0, low + 1};
  // A corrupted string may end inside the run. Redis reads the terminating zero byte.
  const size_t next = position + 1 < text.size() ? static_cast<uint8_t>(text[position + 1]) : 0;
  return {Run::Kind::kLongZeros, 0, (low << 8 | next) + 1};
}

void AppendZeros(std::string& text, size_t length) {
  if (length == 0) return;
  const size_t stored = length - 1;
  if (length > kMaxShortZeroRun) {
    text.push_back(static_cast<char>(0x40 | stored >> 8));
    text.push_back(static_cast<char>(stored & 0xff));
  } else {
    text.push_back(static_cast<char>(stored));
  }
}

char ValueRun(uint8_t value, size_t length) {
  return static_cast<char>(0x80 | static_cast<size_t>(value - 1) << 2 | (length - 1));
}

void AppendValue(std::string& text, uint8_t value, size_t length) {
  if (length > 0) text.push_back(ValueRun(value, length));
}

// The runs that replace this run when its register `offset` becomes `value`.
std::string SplitRun(const Run& run, size_t offset, uint8_t value) {
  std::string split;
  const bool zeros = run.kind != Run::Kind::kValue;
  zeros ? AppendZeros(split, offset) : AppendValue(split, run.value, offset);
  AppendValue(split, value, 1);
  const size_t behind = run.length - offset - 1;
  zeros ? AppendZeros(split, behind) : AppendValue(split, run.value, behind);
  return split;
}

// The offset of a register in the dense encoding.
struct DensePosition {
  explicit DensePosition(size_t index)
      : byte(HyperLogLog::kHeaderBytes + index * kRegisterBits / 8),
        shift(static_cast<int>(index * kRegisterBits % 8)) {}
  size_t byte;
  int shift;
};

uint8_t ReadDense(std::string_view text, size_t index) {
  const DensePosition at(index);
  unsigned bits = static_cast<uint8_t>(text[at.byte]);
  if (at.byte + 1 < text.size())
    bits |= static_cast<unsigned>(static_cast<uint8_t>(text[at.byte + 1])) << 8;
  return static_cast<uint8_t>((bits >> at.shift) & kMaxRegister);
}

void WriteDense(std::string& text, size_t index, uint8_t value) {
  const DensePosition at(index);
  const unsigned mask = static_cast<unsigned>(kMaxRegister) << at.shift;
  const unsigned bits = static_cast<unsigned>(value) << at.shift;
  const auto put = [&text](size_t byte, unsigned byte_mask, unsigned byte_bits) {
    const auto old = static_cast<uint8_t>(text[byte]);
    text[byte] = static_cast<char>((old & ~byte_mask) | byte_bits);
  };
  put(at.byte, mask & 0xff, bits & 0xff);
  if (mask > 0xff) put(at.byte + 1, mask >> 8, bits >> 8);
}

// The number of registers with each value.
using Histogram = std::array<int, kMaxRegister + 1>;

// The estimator of Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog sketches",
// with Redis's order of operations, which determines the last digits.
double Sigma(double x) {
  if (x == 1.) return std::numeric_limits<double>::infinity();
  double previous;
  double y = 1;
  double z = x;
  do {
    x *= x;
    previous = z;
    z += x * y;
    y += y;
  } while (previous != z);
  return z;
}

double Tau(double x) {
  if (x == 0. || x == 1.) return 0.;
  double previous;
  double y = 1.0;
  double z = 1 - x;
  do {
    x = std::sqrt(x);
    previous = z;
    y *= 0.5;
    z -= std::pow(1 - x, 2) * y;
  } while (previous != z);
  return z / 3;
}

uint64_t Estimate(const Histogram& histogram) {
  constexpr double kAlphaInfinity = 0.721347520444481703680;
  constexpr double kCount = HyperLogLog::kRegisters;
  double z = kCount * Tau((kCount - histogram[kCountedBits + 1]) / kCount);
  for (size_t j = kCountedBits; j >= 1; --j) {
    z += histogram[j];
    z *= 0.5;
  }
  z += kCount * Sigma(histogram[0] / kCount);
  return static_cast<uint64_t>(std::llround(kAlphaInfinity * kCount * kCount / z));
}

}  // namespace

HyperLogLog::HyperLogLog() : text_(kMagic) {
  text_.resize(kHeaderBytes);
  text_[kEncodingAt] = kSparse;
  AppendZeros(text_, kRegisters);
}

std::optional<HyperLogLog> HyperLogLog::FromString(std::string_view text) {
  if (text.size() < kHeaderBytes || !text.starts_with(kMagic)) return std::nullopt;
  const char encoding = text[kEncodingAt];
  if (encoding != kDense && encoding != kSparse) return std::nullopt;
  if (encoding == kDense && text.size() != kDenseBytes) return std::nullopt;
  return HyperLogLog(text);
}

HyperLogLog::Outcome HyperLogLog::Add(std::string_view element, size_t sparse_max_bytes) {
  const uint64_t hash = HashOf(element);
  const size_t index = hash % kRegisters;
  // The number of zeros below the lowest set bit, plus one, at most all of them.
  const uint64_t counted = hash >> kIndexBits | uint64_t{1} << kCountedBits;
  return Raise(index, static_cast<uint8_t>(std::countr_zero(counted) + 1), sparse_max_bytes);
}

HyperLogLog::Outcome HyperLogLog::Raise(size_t index, uint8_t value, size_t sparse_max_bytes) {
  assert(index < kRegisters && value >= 1 && value <= kMaxRegister);
  return is_dense() ? RaiseDense(index, value) : RaiseSparse(index, value, sparse_max_bytes);
}

HyperLogLog::Outcome HyperLogLog::RaiseDense(size_t index, uint8_t value) {
  if (ReadDense(text_, index) >= value) return Outcome::kUnchanged;
  WriteDense(text_, index, value);
  return Outcome::kRaised;
}

HyperLogLog::Outcome HyperLogLog::RaiseAsDense(size_t index, uint8_t value) {
  if (!ToDense()) return Outcome::kCorrupted;
  RaiseDense(index, value);
  return Outcome::kRaised;
}

HyperLogLog::Outcome HyperLogLog::RaiseSparse(size_t index, uint8_t value,
                                              size_t sparse_max_bytes) {
  if (value > kMaxSparseValue) return RaiseAsDense(index, value);
  size_t position = kHeaderBytes;
  size_t previous = kHeaderBytes;
  size_t first = 0;  // The first register of the run at `position`.
  Run run{};
  while (position < text_.size()) {
    run = ReadRun(text_, position);
    if (index < first + run.length) break;
    previous = position;
    position += run.bytes();
    first += run.length;
  }
  if (position >= text_.size()) return Outcome::kCorrupted;
  if (run.kind == Run::Kind::kValue && run.value >= value) return Outcome::kUnchanged;
  const std::string split = SplitRun(run, index - first, value);
  const size_t new_size = text_.size() + split.size() - run.bytes();
  if (split.size() > run.bytes() && new_size > sparse_max_bytes) return RaiseAsDense(index, value);
  text_.replace(position, run.bytes(), split);
  // Only a corrupted string is longer here: its last run was cut off.
  text_.resize(new_size);
  MergeRuns(previous);
  ForgetCachedCount();
  return Outcome::kRaised;
}

// Merges adjacent runs of equal value if one run can hold them, within five runs from `position`
// on, as Redis does.
void HyperLogLog::MergeRuns(size_t position) {
  for (int looked_at = 0; looked_at < 5 && position < text_.size(); ++looked_at) {
    const Run run = ReadRun(text_, position);
    if (run.kind == Run::Kind::kValue && position + 1 < text_.size()) {
      const Run next = ReadRun(text_, position + 1);
      const bool equal = next.kind == Run::Kind::kValue && next.value == run.value;
      if (equal && run.length + next.length <= kMaxValueRun) {
        text_[position + 1] = ValueRun(run.value, run.length + next.length);
        text_.erase(position, 1);
        continue;
      }
    }
    position += run.bytes();
  }
}

bool HyperLogLog::ToDense() {
  if (is_dense()) return true;
  Registers registers{};
  if (!MergeInto(registers)) return false;
  text_.resize(kHeaderBytes);
  text_.resize(kDenseBytes);
  text_[kEncodingAt] = kDense;
  for (size_t i = 0; i < kRegisters; ++i) {
    if (registers[i] != 0) WriteDense(text_, i, registers[i]);
  }
  return true;
}

bool HyperLogLog::MergeInto(Registers& registers) const {
  if (is_dense()) {
    for (size_t i = 0; i < kRegisters; ++i) {
      registers[i] = std::max(registers[i], ReadDense(text_, i));
    }
    return true;
  }
  size_t index = 0;
  for (size_t position = kHeaderBytes; position < text_.size();) {
    const Run run = ReadRun(text_, position);
    if (run.kind == Run::Kind::kValue) {
      if (index + run.length > kRegisters) return false;
      for (size_t i = index; i < index + run.length; ++i) {
        registers[i] = std::max(registers[i], run.value);
      }
    }
    index += run.length;
    position += run.bytes();
  }
  return index == kRegisters;
}

std::optional<uint64_t> HyperLogLog::Count() const {
  Histogram histogram{};
  if (is_dense()) {
    for (size_t i = 0; i < kRegisters; ++i) ++histogram[ReadDense(text_, i)];
    return Estimate(histogram);
  }
  size_t index = 0;
  for (size_t position = kHeaderBytes; position < text_.size();) {
    const Run run = ReadRun(text_, position);
    histogram[run.value] += static_cast<int>(run.length);
    index += run.length;
    position += run.bytes();
  }
  if (index != kRegisters) return std::nullopt;
  return Estimate(histogram);
}

uint64_t HyperLogLog::CountOf(const Registers& registers) {
  Histogram histogram{};
  for (const uint8_t value : registers) ++histogram[value];
  return Estimate(histogram);
}

std::optional<uint64_t> HyperLogLog::cached_count() const {
  const uint64_t count = LoadLittleEndian(std::string_view(text_).substr(kCountAt, kCountBytes));
  if (count >> 63 != 0) return std::nullopt;
  return count;
}

void HyperLogLog::set_cached_count(uint64_t count) {
  for (size_t i = 0; i < kCountBytes; ++i)
    text_[kCountAt + i] = static_cast<char>(count >> (8 * i));
}

void HyperLogLog::ForgetCachedCount() {
  const size_t last = kCountAt + kCountBytes - 1;
  text_[last] = static_cast<char>(static_cast<uint8_t>(text_[last]) | 0x80);
}

std::string HyperLogLog::DecodeRuns() const {
  assert(!is_dense());
  std::string runs;
  for (size_t position = kHeaderBytes; position < text_.size();) {
    const Run run = ReadRun(text_, position);
    if (!runs.empty()) runs += ' ';
    if (run.kind == Run::Kind::kValue) {
      absl::StrAppend(&runs, "v:", static_cast<int>(run.value), ",", run.length);
    } else {
      absl::StrAppend(&runs, run.kind == Run::Kind::kLongZeros ? "Z:" : "z:", run.length);
    }
    position += run.bytes();
  }
  return runs;
}

}  // namespace redouble::inline v0_1::memory
