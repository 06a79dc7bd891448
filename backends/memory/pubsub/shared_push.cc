#include "redouble/backends/memory/pubsub/shared_push.h"

#include <utility>

namespace redouble::inline v0_1::memory {
namespace {

using store::Reply;

size_t CountedBytes(const Reply& push) {
  constexpr size_t kOverheadBytes = 64;
  if (!push.is_array()) return kOverheadBytes + push.text().size();
  size_t bytes = kOverheadBytes;
  for (const Reply& element : push.elements()) {
    bytes += kOverheadBytes;
    if (element.kind() == Reply::Kind::kBulk) bytes += element.text().size();
  }
  return bytes;
}

}  // namespace

SharedPush::SharedPush(Reply reply) : reply_(std::move(reply)), bytes_(CountedBytes(reply_)) {}

std::string_view SharedPush::Encoded(store::Protocol protocol) const {
  std::string& encoded = encoded_[static_cast<size_t>(protocol)];
  if (encoded.empty()) store::AppendReply(reply_, protocol, encoded);
  return encoded;
}

}  // namespace redouble::inline v0_1::memory
