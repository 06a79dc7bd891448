// TopicId: the 16 bytes that identify a topic, and their text forms.
//
// A name can be used again after its topic was deleted; an id cannot. Kafka writes an id as 22
// characters of URL-safe base64 without padding. Korvet stores this form in the topic's hash and in
// the index of ids. It also reads the hyphenated form of a UUID (D4).
//
//   std::optional<TopicId> id = TopicId::Parse("018f8d31-86a7-7c48-8f36-4d1fa4d99101");
//   id->ToString();                             // "AY-NMYanfEiPNk0fpNmRAQ"
//
// Thread-safety: a plain value.
// Source: docs/systems/korvet.md 2.3, D4.
#ifndef REDOUBLE_CORE_KORVET_TOPICS_TOPIC_ID_H_
#define REDOUBLE_CORE_KORVET_TOPICS_TOPIC_ID_H_

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "redouble/core/base/random/rng.h"

namespace redouble::inline v0_1::korvet {

class TopicId {
 public:
  static constexpr size_t kBytes = 16;
  using Bytes = std::array<uint8_t, kBytes>;

  // All bytes are zero. Kafka reserves this id for "no id".
  constexpr TopicId() = default;
  // The bytes in the order of the hyphenated text, most significant byte first.
  explicit constexpr TopicId(const Bytes& bytes) : bytes_(bytes) {}

  // Parses 22 characters, or the 36 characters of a hyphenated UUID in either case. Returns nullopt
  // for any other text, and for 22 characters whose last four bits are not zero, because ToString
  // never writes them.
  static std::optional<TopicId> Parse(std::string_view text);

  // Returns a UUID of version 4 that is not reserved. Its text does not begin with '-', because
  // command-line tools would read it as an option; the function draws from `rng` until this holds.
  static TopicId Random(base::Rng& rng);

  // Returns the 22 characters. Parse is the inverse.
  std::string ToString() const;
  // Returns the hyphenated form: 36 characters in lower case. Parse is the inverse.
  std::string ToUuid() const;

  constexpr const Bytes& bytes() const { return bytes_; }

  // Whether the id is 0 or 1, which Kafka reserves. Parse accepts them, but no topic can be created
  // with one.
  bool is_reserved() const;

  friend constexpr bool operator==(const TopicId&, const TopicId&) = default;
  friend constexpr auto operator<=>(const TopicId&, const TopicId&) = default;

 private:
  Bytes bytes_ = {};
};

// Writes ToString().
std::ostream& operator<<(std::ostream& out, const TopicId& id);

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_TOPICS_TOPIC_ID_H_
