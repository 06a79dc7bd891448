#include "redouble/core/store/typed/stream_id.h"

#include <charconv>

namespace redouble::inline v0_1::store {
namespace {

std::optional<uint64_t> ParsePart(std::string_view text) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  if (text.size() > 1 && text[0] == '0') return std::nullopt;
  return value;
}

}  // namespace

std::optional<StreamId> StreamId::Parse(std::string_view text) {
  const size_t dash = text.find('-');
  const std::optional<uint64_t> ms = ParsePart(text.substr(0, dash));
  if (!ms) return std::nullopt;
  if (dash == std::string_view::npos) return StreamId{*ms, 0};
  const std::optional<uint64_t> seq = ParsePart(text.substr(dash + 1));
  if (!seq) return std::nullopt;
  return StreamId{*ms, *seq};
}

std::string StreamId::ToString() const {
  // Two numbers of at most 20 digits, and the dash.
  char buffer[41];
  char* at = std::to_chars(buffer, buffer + 20, ms).ptr;
  *at++ = '-';
  at = std::to_chars(at, buffer + sizeof(buffer), seq).ptr;
  return std::string(buffer, at);
}

std::ostream& operator<<(std::ostream& out, const StreamId& id) { return out << id.ToString(); }

}  // namespace redouble::inline v0_1::store
