// OffsetCodec: converts between the id of a stream entry and the offset of a Kafka record.
//
// Kafka numbers the records of a partition with 64-bit offsets. Korvet stores no counter: the
// offset is the milliseconds of the entry id, shifted left by N bits, and the sequence in the low
// bits:
//
//   offset = (ms << N) | seq           ms = offset >> N           seq = offset & (2^N - 1)
//
//   const OffsetCodec codec;                                   // N = 10
//   *codec.Encode({1234567890123, 5});                         // 1264197519485957
//   *codec.Decode(1264197519485957);                           // 1234567890123-5
//
// Offsets have the same order as ids and are sparse: `offset + 1` always decodes to an id, but
// usually no entry has that id. Both parts of an id are checked before they are combined, because a
// sequence of more than N bits would take the offset of another entry. An id out of range is an
// error.
//
//   | N  | greatest seq | greatest ms      | until the year |
//   | -- | ------------ | ---------------- | -------------- |
//   | 10 | 1023         | 9007199254740991 | 287,000        |
//   | 12 | 4095         | 2251799813685247 | 73,000         |
//   | 14 | 16383        | 562949953421311  | 19,800         |
//   | 16 | 65535        | 140737488355327  | 6429           |
//
// The original description prints a wrong result for the example above (D1).
//
// Thread-safety: a plain value.
// Source: docs/systems/korvet.md 2.4, D1.
#ifndef REDOUBLE_CORE_KORVET_OFFSET_H_
#define REDOUBLE_CORE_KORVET_OFFSET_H_

#include <cstdint>
#include <limits>

#include "absl/status/statusor.h"
#include "redouble/core/store/typed/stream_id.h"

namespace redouble::inline v0_1::korvet {

class OffsetCodec {
 public:
  // The range of N, and its default.
  static constexpr int kMinSequenceBits = 10;
  static constexpr int kMaxSequenceBits = 16;
  static constexpr int kDefaultSequenceBits = 10;

  // A codec with the default N, 10.
  constexpr OffsetCodec() = default;
  // Returns a codec with N = `sequence_bits`. N is fixed when a topic is created, because a change
  // would change the meaning of every offset that clients have stored. Errors: INVALID_CONFIG
  // (errors.h) if N is out of range.
  static absl::StatusOr<OffsetCodec> Create(int64_t sequence_bits);

  constexpr int sequence_bits() const { return sequence_bits_; }
  constexpr uint64_t max_sequence() const { return (uint64_t{1} << sequence_bits_) - 1; }
  constexpr uint64_t max_ms() const {
    return static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) >> sequence_bits_;
  }

  // Returns the offset of an entry, which is never negative. Errors: UNKNOWN_SERVER_ERROR with the
  // id and the part that does not fit, the sequence first. Such ids exist if another program wrote
  // the entry, or if XADD * added more than 2^N entries in one millisecond.
  absl::StatusOr<int64_t> Encode(store::StreamId id) const;

  // Returns the id of an offset, for which Encode returns the same offset. If no entry has that id,
  // a reader of the offset gets the next entry of the stream. Errors: OFFSET_OUT_OF_RANGE if the
  // offset is below 0.
  absl::StatusOr<store::StreamId> Decode(int64_t offset) const;

  friend constexpr bool operator==(const OffsetCodec&, const OffsetCodec&) = default;

 private:
  explicit constexpr OffsetCodec(int sequence_bits) : sequence_bits_(sequence_bits) {}

  int sequence_bits_ = kDefaultSequenceBits;
};

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_OFFSET_H_
