// OffsetCodec: from the id of a stream's entry to the offset of a Kafka record, and back.
//
// Kafka numbers the records of a partition by 64-bit offsets. Korvet keeps no counter: an offset is
// the entry's id, its milliseconds shifted up by N bits and its sequence below:
//
//   offset = (ms << N) | seq           ms = offset >> N           seq = offset & (2^N - 1)
//
//   const OffsetCodec codec;                                   // N = 10
//   *codec.Encode({1234567890123, 5});                         // 1264197519485957
//   *codec.Decode(1264197519485957);                           // 1234567890123-5
//
// Offsets keep the order of ids and are sparse: the successor of an offset always decodes, but
// usually names no entry. Both hold only inside the range: a sequence of N + 1 bits would take the
// offset of another entry. So both parts are checked before they are combined, and what does not
// fit is an error, never a wrong offset.
//
//   | N  | greatest seq | greatest ms      | until the year |
//   | -- | ------------ | ---------------- | -------------- |
//   | 10 | 1023         | 9007199254740991 | 287,000        |
//   | 12 | 4095         | 2251799813685247 | 73,000         |
//   | 14 | 16383        | 562949953421311  | 19,800         |
//   | 16 | 65535        | 140737488355327  | 6429           |
//
// The seed prints 1264197008485893 for the example above; that number decodes to 1234567391099-517.
// The layout is the seed's, the arithmetic is corrected.
//
// Thread-safety: a plain value.
// Source: seed 003 "Offset Encoding"; reference/korvet.md section 2.
#ifndef REDOUBLE_CORE_KORVET_OFFSET_H_
#define REDOUBLE_CORE_KORVET_OFFSET_H_

#include <cstdint>
#include <limits>

#include "absl/status/statusor.h"
#include "core/store/stream_id.h"

namespace redouble::korvet {

class OffsetCodec {
 public:
  // The range of N, and what a topic has that does not say.
  static constexpr int kMinSequenceBits = 10;
  static constexpr int kMaxSequenceBits = 16;
  static constexpr int kDefaultSequenceBits = 10;

  // N = 10.
  constexpr OffsetCodec() = default;
  // Any N of the range. N is fixed when a topic is created: another one would give every offset
  // that was handed out another meaning. Errors: INVALID_CONFIG (error_code.h).
  static absl::StatusOr<OffsetCodec> Create(int64_t sequence_bits);

  constexpr int sequence_bits() const { return sequence_bits_; }
  constexpr uint64_t max_sequence() const { return (uint64_t{1} << sequence_bits_) - 1; }
  constexpr uint64_t max_ms() const {
    return static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) >> sequence_bits_;
  }

  // The offset of an entry, never negative. Errors: UNKNOWN_SERVER_ERROR, naming the id and the
  // part that does not fit, the sequence first: somebody else wrote the entry, or more than 2^N
  // came in one millisecond.
  absl::StatusOr<int64_t> Encode(store::StreamId id) const;

  // The id of an offset; Encode gives the offset back. Where no entry has that id, what comes next
  // in the stream is what a reader of the offset gets. Errors: OFFSET_OUT_OF_RANGE for one below 0.
  absl::StatusOr<store::StreamId> Decode(int64_t offset) const;

  friend constexpr bool operator==(const OffsetCodec&, const OffsetCodec&) = default;

 private:
  explicit constexpr OffsetCodec(int sequence_bits) : sequence_bits_(sequence_bits) {}

  int sequence_bits_ = kDefaultSequenceBits;
};

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_OFFSET_H_
