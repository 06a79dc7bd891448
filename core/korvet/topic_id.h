// TopicId: the 16 bytes that name a topic for good, and their texts.
//
// A name can be taken by another topic after a delete; an id cannot. Kafka writes an id as 22
// characters of URL-safe base64 without padding, and so does Korvet in the hash of the topic and in
// the index of ids. The hyphenated form of a UUID is read as well, since the seed does not say
// which of the two is stored.
//
//   std::optional<TopicId> id = TopicId::Parse("018f8d31-86a7-7c48-8f36-4d1fa4d99101");
//   id->ToString();                             // "AY-NMYanfEiPNk0fpNmRAQ"
//
// Thread-safety: a plain value.
// Source: seed 003 "Topic Hash Fields"; reference/korvet.md 1.2 (the texts are Kafka's).
#ifndef REDOUBLE_CORE_KORVET_TOPIC_ID_H_
#define REDOUBLE_CORE_KORVET_TOPIC_ID_H_

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "core/base/rng.h"

namespace redouble::korvet {

class TopicId {
 public:
  static constexpr size_t kBytes = 16;
  using Bytes = std::array<uint8_t, kBytes>;

  // All zero, which Kafka keeps for "no id".
  constexpr TopicId() = default;
  // As on the wire: the order of the canonical text, most significant byte first.
  explicit constexpr TopicId(const Bytes& bytes) : bytes_(bytes) {}

  // The 22 characters, or the 36 of a hyphenated UUID in either case. None for any other text, and
  // for 22 characters that ToString never writes, because their last four bits are not zero.
  static std::optional<TopicId> Parse(std::string_view text);

  // A UUID of version 4 that is not reserved and whose text does not begin with '-', which tools on
  // the command line would take for an option; draws again until it is so.
  static TopicId Random(base::Rng& rng);

  // 22 characters; Parse gives the id back.
  std::string ToString() const;
  // The hyphenated form, 36 characters in lower case; Parse gives the id back.
  std::string ToUuid() const;

  constexpr const Bytes& bytes() const { return bytes_; }

  // 0 and 1, which Kafka keeps for itself. They can be read; no topic is given one.
  bool is_reserved() const;

  friend constexpr bool operator==(const TopicId&, const TopicId&) = default;
  friend constexpr auto operator<=>(const TopicId&, const TopicId&) = default;

 private:
  Bytes bytes_ = {};
};

// Writes ToString().
std::ostream& operator<<(std::ostream& out, const TopicId& id);

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_TOPIC_ID_H_
