// HyperLogLog: estimates the number of distinct elements, in Redis's string format.
//
// A HyperLogLog is a Redis string: "HYLL", a byte for the encoding, three unused bytes, the cached
// cardinality (8 bytes, little endian; its highest bit marks it as outdated), and the 16384
// registers. The dense encoding packs them with 6 bits each, 12304 bytes in all. The sparse
// encoding writes runs of equal registers: one byte for up to 64 zeros, two bytes for up to 16384,
// and one byte for up to 4 registers of a value up to 32. The strings are byte for byte those of
// Redis 7.0, so that they can be copied between the two.
//
//   HyperLogLog visitors;
//   visitors.Add("ann", limits.hll_sparse_max_bytes);
//   visitors.Count();  // 1
//
// A string from a client may be corrupted after its header. Functions that read all of it report
// that.
//
// Thread-safety: a plain value.
// Source: Redis 7.0 PFADD, PFCOUNT, PFMERGE, PFDEBUG.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_STRINGS_HYPERLOGLOG_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_STRINGS_HYPERLOGLOG_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redouble::inline v0_1::memory {

class HyperLogLog {
 public:
  static constexpr size_t kRegisters = 16384;
  static constexpr size_t kHeaderBytes = 16;
  static constexpr size_t kDenseBytes = kHeaderBytes + kRegisters * 6 / 8;
  using Registers = std::array<uint8_t, kRegisters>;

  // Whether a register was raised.
  enum class Outcome { kUnchanged, kRaised, kCorrupted };

  // Empty, in the sparse encoding.
  HyperLogLog();
  // A client's string. Returns nullopt if Redis would not accept it as a HyperLogLog.
  static std::optional<HyperLogLog> FromString(std::string_view text);

  const std::string& text() const { return text_; }
  bool is_dense() const { return text_[4] == 0; }

  // Adds an element. A sparse string that would exceed `sparse_max_bytes` becomes dense. O(1) if
  // dense, O(bytes) if sparse.
  Outcome Add(std::string_view element, size_t sparse_max_bytes);
  // Raises one register to `value`, if it is lower.
  Outcome Raise(size_t index, uint8_t value, size_t sparse_max_bytes);
  // Converts to the dense encoding and keeps the cached cardinality. Returns false if corrupted.
  bool ToDense();

  // Raises each of `registers` to this one's. Returns false if the string is corrupted; some
  // registers may have been raised then.
  bool MergeInto(Registers& registers) const;

  // The cardinality by the registers; nullopt if the string is corrupted.
  std::optional<uint64_t> Count() const;
  static uint64_t CountOf(const Registers& registers);
  // The cached cardinality; nullopt if it is outdated.
  std::optional<uint64_t> cached_count() const;
  void set_cached_count(uint64_t count);
  void ForgetCachedCount();

  // The runs of a sparse string as PFDEBUG DECODE writes them: "z:3" and "Z:300" for zeros, "v:2,1"
  // for one register of the value 2.
  std::string DecodeRuns() const;

 private:
  explicit HyperLogLog(std::string_view text) : text_(text) {}

  Outcome RaiseDense(size_t index, uint8_t value);
  Outcome RaiseSparse(size_t index, uint8_t value, size_t sparse_max_bytes);
  Outcome RaiseAsDense(size_t index, uint8_t value);
  void MergeRuns(size_t position);

  std::string text_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_STRINGS_HYPERLOGLOG_H_
