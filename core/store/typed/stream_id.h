// StreamId: the id of an entry in a Redis stream, milliseconds and a sequence number.
//
// The text of an id is "1526919030474-55". Ids are ordered by milliseconds, then by sequence, as
// the entries of a stream are. To read after an entry, start at its Next(); to read before it, end
// at its Previous().
//
//   std::optional<StreamId> id = StreamId::Parse("1526919030474-55");
//   id->Next()->ToString();                         // "1526919030474-56"
//
// Thread-safety: a plain value.
#ifndef REDOUBLE_CORE_STORE_TYPED_STREAM_ID_H_
#define REDOUBLE_CORE_STORE_TYPED_STREAM_ID_H_

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace redouble::inline v0_1::store {

struct StreamId {
  uint64_t ms = 0;
  uint64_t seq = 0;

  // "0-0", which is below every entry's id.
  static constexpr StreamId Min() { return {}; }
  // The greatest id.
  static constexpr StreamId Max() { return {kMaxPart, kMaxPart}; }

  // Returns the id with the text "ms-seq", or "ms", which means "ms-0". Returns nullopt for any
  // other text: a sign, a leading zero, a space, or one of the special ids ($, >, *, -, +).
  // Parse(id.ToString()) == id.
  static std::optional<StreamId> Parse(std::string_view text);
  std::string ToString() const;

  // Returns the smallest id above this one, or nullopt for Max().
  constexpr std::optional<StreamId> Next() const {
    if (seq != kMaxPart) return StreamId{ms, seq + 1};
    if (ms != kMaxPart) return StreamId{ms + 1, 0};
    return std::nullopt;
  }
  // Returns the greatest id below this one, or nullopt for Min().
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

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_TYPED_STREAM_ID_H_
