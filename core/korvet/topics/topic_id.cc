#include "redouble/core/korvet/topics/topic_id.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "redouble/core/base/text/hex.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::korvet {
namespace {

constexpr size_t kTextLength = 22;
constexpr size_t kUuidLength = 36;
constexpr std::array<size_t, 4> kHyphens = {8, 13, 18, 23};

absl::string_view AsText(const TopicId::Bytes& bytes) {
  return absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::optional<TopicId> FromRaw(std::string_view raw) {
  if (raw.size() != TopicId::kBytes) return std::nullopt;
  TopicId::Bytes bytes;
  std::copy(raw.begin(), raw.end(), bytes.begin());
  return TopicId(bytes);
}

std::optional<TopicId> ParseBase64(std::string_view text) {
  std::string raw;
  if (!absl::WebSafeBase64Unescape(base::ToAbsl(text), &raw)) return std::nullopt;
  const std::optional<TopicId> id = FromRaw(raw);
  // Abseil also accepts padding, spaces and stray bits at the end. Each id has one text.
  return id && id->ToString() == text ? id : std::nullopt;
}

std::optional<TopicId> ParseUuid(std::string_view text) {
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool at_hyphen = std::find(kHyphens.begin(), kHyphens.end(), i) != kHyphens.end();
    if (at_hyphen != (text[i] == '-')) return std::nullopt;
    if (at_hyphen) continue;
    digits += text[i];
  }
  const std::optional<std::string> raw = base::HexToBytes(digits);
  return raw ? FromRaw(*raw) : std::nullopt;
}

TopicId Draw(base::Rng& rng) {
  TopicId::Bytes bytes;
  for (size_t half = 0; half < 2; ++half) {
    const uint64_t bits = rng.Next();
    for (size_t i = 0; i < 8; ++i) {
      bytes[half * 8 + i] = static_cast<uint8_t>(bits >> (56 - 8 * i));
    }
  }
  // Version 4, and the variant of RFC 4122.
  bytes[6] = static_cast<uint8_t>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<uint8_t>((bytes[8] & 0x3f) | 0x80);
  return TopicId(bytes);
}

}  // namespace

std::optional<TopicId> TopicId::Parse(std::string_view text) {
  if (text.size() == kTextLength) return ParseBase64(text);
  if (text.size() == kUuidLength) return ParseUuid(text);
  return std::nullopt;
}

TopicId TopicId::Random(base::Rng& rng) {
  // The version bits are set, so the id is never 0 or 1.
  TopicId id = Draw(rng);
  while (id.ToString().front() == '-') id = Draw(rng);
  return id;
}

std::string TopicId::ToString() const { return absl::WebSafeBase64Escape(AsText(bytes_)); }

std::string TopicId::ToUuid() const {
  std::string text = absl::BytesToHexString(AsText(bytes_));
  for (const size_t hyphen : kHyphens) text.insert(hyphen, 1, '-');
  return text;
}

bool TopicId::is_reserved() const {
  return std::all_of(bytes_.begin(), bytes_.end() - 1, [](uint8_t byte) { return byte == 0; }) &&
         bytes_.back() <= 1;
}

std::ostream& operator<<(std::ostream& out, const TopicId& id) { return out << id.ToString(); }

}  // namespace redouble::inline v0_1::korvet
