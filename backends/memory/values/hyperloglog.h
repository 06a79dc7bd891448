// HyperLogLog: how many distinct elements there are, in Redis's own string.
//
// A HyperLogLog is an ordinary Redis string: "HYLL", a byte for the encoding, three unused ones,
// the cached cardinality (8 bytes, little endian; the highest bit says that it is out of date),
// then the 16384 registers. "Dense" packs them with 6 bits each, 12304 bytes in all; "sparse"
// writes runs of equal registers: one byte for up to 64 zeros, two for up to 16384, one for up to 4
// times a value of up to 32. Byte for byte what Redis 7.0 writes, so that the string can move
// between the two.
//
//   HyperLogLog visitors;
//   visitors.Add("ann", limits.hll_sparse_max_bytes);
//   visitors.Count();  // 1
//
// A string from a client may be damaged behind its header; what has to read all of it says so.
//
// Thread-safety: a plain value. Source: Redis 7.0 PFADD, PFCOUNT, PFMERGE, PFDEBUG.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_HYPERLOGLOG_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_HYPERLOGLOG_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redouble::memory {

class HyperLogLog {
 public:
  static constexpr size_t kRegisters = 16384;
  static constexpr size_t kHeaderBytes = 16;
  static constexpr size_t kDenseBytes = kHeaderBytes + kRegisters * 6 / 8;
  using Registers = std::array<uint8_t, kRegisters>;

  // Whether a register grew.
  enum class Outcome { kUnchanged, kRaised, kCorrupted };

  // Without elements, sparse.
  HyperLogLog();
  // What a client stored; no value when Redis would not take it for a HyperLogLog.
  static std::optional<HyperLogLog> FromString(std::string_view text);

  const std::string& text() const { return text_; }
  bool is_dense() const { return text_[4] == 0; }

  // Adds an element. A sparse string that would become longer than `sparse_max_bytes` becomes
  // dense. O(1) when dense, O(bytes) when sparse.
  Outcome Add(std::string_view element, size_t sparse_max_bytes);
  // Raises one register to `value`, if it is lower.
  Outcome Raise(size_t index, uint8_t value, size_t sparse_max_bytes);
  // Makes a sparse string dense, keeping the cached cardinality; false when it is damaged.
  bool ToDense();

  // Raises each of `registers` to this one's. False when the string is damaged; then some of them
  // may have been raised.
  bool MergeInto(Registers& registers) const;

  // The cardinality by the registers; no value when the string is damaged.
  std::optional<uint64_t> Count() const;
  static uint64_t CountOf(const Registers& registers);
  // The cached one, unless it is out of date.
  std::optional<uint64_t> cached_count() const;
  void set_cached_count(uint64_t count);
  void ForgetCachedCount();

  // A sparse string's runs as PFDEBUG DECODE writes them: "z:3" and "Z:300" zeros, "v:2,1" the
  // value 2 once.
  std::string DecodeRuns() const;

 private:
  explicit HyperLogLog(std::string_view text) : text_(text) {}

  Outcome RaiseDense(size_t index, uint8_t value);
  Outcome RaiseSparse(size_t index, uint8_t value, size_t sparse_max_bytes);
  Outcome RaiseAsDense(size_t index, uint8_t value);
  void MergeRuns(size_t position);

  std::string text_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_HYPERLOGLOG_H_
