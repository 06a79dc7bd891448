// StreamId: the id of an entry in a Redis stream: milliseconds and a sequence number.
//
// Ids are ordered, first by milliseconds, then by sequence; a stream's entries stand in that order.
// Their text is "1526919030474-55". A read that starts behind an entry starts at Next(); one that
// ends before it ends at Previous().
//
//   std::optional<StreamId> id = StreamId::Parse("1526919030474-55");
//   id->Next()->ToString();                         // "1526919030474-56"
//
// Thread-safety: a plain value.
#ifndef REDOUBLE_CORE_STORE_STREAM_ID_H_
#define REDOUBLE_CORE_STORE_STREAM_ID_H_

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace redouble::store {

struct StreamId {
  uint64_t ms = 0;
  uint64_t seq = 0;

  // "0-0", below every entry: no entry can have it.
  static constexpr StreamId Min() { return {}; }
  // The greatest of all ids.
  static constexpr StreamId Max() { return {kMaxPart, kMaxPart}; }

  // The id in its canonical text, "ms-seq", or "ms" alone, which means "ms-0". Nothing else: no
  // sign, no leading zero, no space. The special ids ($, >, *, -, +) are no ids.
  // Round trip: Parse(id.ToString()) == id.
  static std::optional<StreamId> Parse(std::string_view text);
  std::string ToString() const;

  // The smallest id above this one; none above Max().
  constexpr std::optional<StreamId> Next() const {
    if (seq != kMaxPart) return StreamId{ms, seq + 1};
    if (ms != kMaxPart) return StreamId{ms + 1, 0};
    return std::nullopt;
  }
  // The greatest id below this one; none below Min().
  constexpr std::optional<StreamId> Previous() const {
    if (seq != 0) return StreamId{ms, seq - 1};
    if (ms != 0) return StreamId{ms - 1, kMaxPart};
    return std::nullopt;
  }

  friend constexpr bool operator==(const StreamId&, const StreamId&) = default;
  friend constexpr auto operator<=>(const StreamId&, const StreamId&) = default;
  template <typename H>
  friend H AbslHashValue(H hash, const StreamId& id) {
    return H::combine(std::move(hash), id.ms, id.seq);
  }

 private:
  static constexpr uint64_t kMaxPart = std::numeric_limits<uint64_t>::max();
};

// Writes ToString().
std::ostream& operator<<(std::ostream& out, const StreamId& id);

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_STREAM_ID_H_
