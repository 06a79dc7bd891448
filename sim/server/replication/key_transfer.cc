#include "redouble/sim/server/replication/key_transfer.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::sim {
namespace {

constexpr size_t kMarkBytes = 40;
constexpr std::string_view kMarkPrefix = "$EOF:";

}  // namespace

absl::StatusOr<KeyTransfer> KeyTransfer::Announced(std::string_view line) {
  KeyTransfer transfer;
  if (line.starts_with(kMarkPrefix) && line.size() >= kMarkPrefix.size() + kMarkBytes) {
    transfer.end_mark_ = line.substr(kMarkPrefix.size(), kMarkBytes);
    return transfer;
  }
  const std::optional<int64_t> size =
      line.starts_with('$') ? base::ParseInt64(line.substr(1)) : std::nullopt;
  if (size && *size >= 0) {
    transfer.size_ = static_cast<size_t>(*size);
    transfer.is_whole_ = *size == 0;
    return transfer;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("Bad protocol from MASTER, the first byte is not '$' (we received '",
                   base::ToAbsl(line), "'), are you sure the host and port are right?"));
}

std::string_view KeyTransfer::Add(std::string_view bytes) {
  if (is_whole_) return bytes;
  if (has_end_mark()) return AddUpToMark(bytes);
  const size_t count = std::min(bytes.size(), size_ - bytes_.size());
  bytes_.append(bytes.substr(0, count));
  is_whole_ = bytes_.size() == size_;
  return bytes.substr(count);
}

// The mark may have begun in earlier bytes.
std::string_view KeyTransfer::AddUpToMark(std::string_view bytes) {
  const size_t before = bytes_.size();
  bytes_.append(bytes);
  const size_t found = bytes_.find(end_mark_, before - std::min(before, kMarkBytes - 1));
  if (found == std::string::npos) return {};
  is_whole_ = true;
  const size_t used = found + kMarkBytes - before;
  bytes_.resize(found);
  return bytes.substr(used);
}

}  // namespace redouble::sim
