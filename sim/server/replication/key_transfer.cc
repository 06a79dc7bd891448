#include "redouble/sim/server/replication/key_transfer.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr size_t kMarkBytes = 40;
constexpr std::string_view kMarkPrefix = "$EOF:";

}  // namespace

absl::StatusOr<KeyTransfer> KeyTransfer::Announced(std::string_view line, memory::ByteSink& sink) {
  KeyTransfer transfer(sink);
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

absl::StatusOr<std::string_view> KeyTransfer::Add(std::string_view bytes) {
  if (is_whole_) return bytes;
  if (has_end_mark()) return AddUpToMark(bytes);
  const size_t count = std::min(bytes.size(), size_ - read_bytes_);
  REDOUBLE_RETURN_IF_ERROR(sink_->Write(bytes.substr(0, count)));
  read_bytes_ += count;
  is_whole_ = read_bytes_ == size_;
  return bytes.substr(count);
}

// The mark may have begun in earlier bytes.
absl::StatusOr<std::string_view> KeyTransfer::AddUpToMark(std::string_view bytes) {
  const size_t before = held_.size();
  held_.append(bytes);
  const size_t found = held_.find(end_mark_);
  is_whole_ = found != std::string::npos;
  const size_t content = is_whole_ ? found : held_.size() - std::min(held_.size(), kMarkBytes - 1);
  REDOUBLE_RETURN_IF_ERROR(sink_->Write(std::string_view(held_).substr(0, content)));
  held_.erase(0, content);
  // The rest of the mark is all that is held of the file.
  const size_t used = is_whole_ ? content + kMarkBytes - before : bytes.size();
  read_bytes_ += used;
  return bytes.substr(used);
}

}  // namespace redouble::inline v0_1::sim
