#include "redouble/core/store/resp/reply_reader.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::store {
namespace {

// Memory is reserved for at most this many elements of an array, and bytes of a string, in advance;
// what exceeds it grows as it arrives.
constexpr size_t kMaxReservedElements = 4096;
constexpr size_t kMaxReservedBytes = 1024 * 1024;

// An empty buffer that is larger than this is freed.
constexpr size_t kMaxIdleBufferBytes = 256 * 1024;

constexpr std::string_view kLineEnd = "\r\n";

// The longest line before its end is found: an error or a status. Numbers are far shorter.
constexpr size_t kMaxLineBytes = 64 * 1024;

// The types of RESP2, and those that RESP3 adds: values of one line, and those with a length.
constexpr std::string_view kTypes2 = "+-:$*";
constexpr std::string_view kScalars3 = "_#,(";
constexpr std::string_view kLengths3 = "%~>|=!";

// Attributes are an array, which is dropped.
Reply Shaped(Reply::Shape shape, std::vector<Reply> elements) {
  switch (shape) {
    case Reply::Shape::kMap:
      return Reply::Map(std::move(elements));
    case Reply::Shape::kSet:
      return Reply::Set(std::move(elements));
    case Reply::Shape::kPush:
      return Reply::Push(std::move(elements));
    default:
      return Reply::Array(std::move(elements));
  }
}

// The length of a string or an array: -1 for nil. Most have one digit.
std::optional<int64_t> ReadLength(std::string_view text) {
  if (text.size() == 1 && text[0] >= '0' && text[0] <= '9') return text[0] - '0';
  const std::optional<int64_t> length = base::ParseInt64(text);
  if (!length || *length < -1 || *length > std::numeric_limits<int32_t>::max()) return std::nullopt;
  return length;
}

}  // namespace

void ReplyReader::Feed(std::string_view bytes) {
  if (!status_.ok()) return;
  pending_bytes_ += bytes.size();
  // The bytes of a long string go to their place without a stop in the buffer.
  if (in_bulk_ && position_ == buffer_.size()) {
    const size_t part = std::min(bulk_missing_, bytes.size());
    bulk_.append(bytes.substr(0, part));
    bulk_missing_ -= part;
    bytes.remove_prefix(part);
  }
  buffer_.append(bytes);
}

ReplyReader::Outcome ReplyReader::Next(Reply& reply) {
  while (status_.ok()) {
    switch (in_bulk_ ? ReadBulk() : ReadLine()) {
      case Step::kContinue:
        continue;
      case Step::kReply:
        pending_bytes_ = buffer_.size() - position_;
        reply = std::move(root_);
        return Outcome::kReply;
      case Step::kNeedMore:
        break;
    }
    if (!status_.ok()) break;
    buffer_.erase(0, position_);
    position_ = 0;
    if (buffer_.empty() && buffer_.capacity() > kMaxIdleBufferBytes) buffer_.shrink_to_fit();
    if (pending_bytes_ <= max_reply_bytes_) return Outcome::kNeedMore;
    Fail(absl::StrCat("a reply is larger than the limit of ", max_reply_bytes_, " bytes"));
  }
  return Outcome::kFailed;
}

// Reads a line: a type and its value.
ReplyReader::Step ReplyReader::ReadLine() {
  const std::string_view rest = unread();
  const size_t end = rest.find('\r', scanned_);
  if (end == rest.npos || end + 1 == rest.size()) {
    scanned_ = end == rest.npos ? rest.size() : end;
    if (!rest.empty() && !IsType(rest[0])) return TakeLine(rest[0], {});
    if (rest.size() > kMaxLineBytes) return Fail("a line has no end");
    return Step::kNeedMore;
  }
  scanned_ = 0;
  if (rest[end + 1] != '\n') return Fail("a line end is malformed");
  position_ += end + kLineEnd.size();
  if (end == 0) return Fail("a line is empty");
  return TakeLine(rest[0], rest.substr(1, end - 1));
}

ReplyReader::Step ReplyReader::TakeLine(char type, std::string_view rest) {
  if (type == '+') return Place(Reply::Status(rest));
  if (type == '-') return Place(Reply::Error(rest));
  if (type == ':') {
    const std::optional<int64_t> value = base::ParseInt64(rest);
    return value ? Place(Reply::Integer(*value)) : Fail("an integer is malformed");
  }
  if (!IsType(type)) {
    return Fail(absl::StrCat("a reply begins with byte ", static_cast<unsigned char>(type)));
  }
  if (kScalars3.find(type) != kScalars3.npos) return TakeScalar3(type, rest);
  const std::optional<int64_t> length = ReadLength(rest);
  if (!length) return Fail("a length is malformed");
  if (type == '$') {
    if (*length < 0) return Place(Reply::Nil());
    return StartBulk(type, static_cast<size_t>(*length));
  }
  if (type == '*') {
    if (*length < 0) return Place(Reply::NilArray());
    return Open(static_cast<size_t>(*length), Reply::Shape::kPlain);
  }
  if (*length < 0) return Fail("a length is malformed");
  return TakeLength3(type, static_cast<size_t>(*length));
}

bool ReplyReader::IsType(char type) const {
  if (kTypes2.find(type) != kTypes2.npos) return true;
  return protocol_ == Protocol::kResp3 &&
         (kScalars3.find(type) != kScalars3.npos || kLengths3.find(type) != kLengths3.npos);
}

// A value of RESP3 that is one line.
ReplyReader::Step ReplyReader::TakeScalar3(char type, std::string_view rest) {
  switch (type) {
    case '_':
      return rest.empty() ? Place(Reply::Nil()) : Fail("a null is malformed");
    case '#':
      if (rest != "t" && rest != "f") return Fail("a boolean is malformed");
      return Place(Reply::Bool(rest == "t"));
    case ',':
      if (rest.empty()) return Fail("a double is malformed");
      return Place(Reply::Double(std::string(rest)));
    default:
      if (rest.empty()) return Fail("a big number is malformed");
      return Place(Reply::BigNumber(std::string(rest)));
  }
}

// A value of RESP3 that begins with a length.
ReplyReader::Step ReplyReader::TakeLength3(char type, size_t length) {
  switch (type) {
    case '%':
      return Open(2 * length, Reply::Shape::kMap);
    case '~':
      return Open(length, Reply::Shape::kSet);
    case '>':
      if (!open_.empty()) return Fail("a push is inside another reply");
      return Open(length, Reply::Shape::kPush);
    case '|':
      return Open(2 * length, Reply::Shape::kAttributes);
    default:
      return StartBulk(type, length);
  }
}

ReplyReader::Step ReplyReader::StartBulk(char type, size_t length) {
  in_bulk_ = true;
  bulk_type_ = type;
  bulk_missing_ = length;
  return Step::kContinue;
}

ReplyReader::Step ReplyReader::PlaceBulk(std::string&& text) {
  in_bulk_ = false;
  if (bulk_type_ == '$') return Place(Reply::Bulk(std::move(text)));
  if (bulk_type_ == '!') return Place(Reply::Error(text));
  // A verbatim string begins with three letters for its format, and a colon.
  if (text.size() < 4 || text[3] != ':') return Fail("a verbatim string is malformed");
  return Place(Reply::Verbatim(text.substr(4)));
}

// Reads the bytes of a bulk string and its line end.
ReplyReader::Step ReplyReader::ReadBulk() {
  const std::string_view rest = unread();
  if (bulk_.empty() && rest.size() >= bulk_missing_ + kLineEnd.size()) {
    if (rest.substr(bulk_missing_, kLineEnd.size()) != kLineEnd) return Fail("a string has no end");
    position_ += bulk_missing_ + kLineEnd.size();
    return PlaceBulk(std::string(rest.substr(0, bulk_missing_)));
  }
  if (bulk_.empty()) bulk_.reserve(std::min(bulk_missing_, kMaxReservedBytes));
  const size_t part = std::min(bulk_missing_, rest.size());
  bulk_.append(rest.substr(0, part));
  bulk_missing_ -= part;
  position_ += part;
  const std::string_view end = rest.substr(part, kLineEnd.size());
  if (bulk_missing_ > 0 || end.size() < kLineEnd.size()) return Step::kNeedMore;
  if (end != kLineEnd) return Fail("a string has no end");
  position_ += kLineEnd.size();
  return PlaceBulk(std::exchange(bulk_, {}));
}

// Puts a complete reply into the innermost open array, and closes the arrays that are full.
ReplyReader::Step ReplyReader::Place(Reply reply) {
  while (!open_.empty()) {
    OpenArray& array = open_.back();
    array.elements.push_back(std::move(reply));
    if (--array.missing > 0) return Step::kContinue;
    const Reply::Shape shape = array.shape;
    reply = Shaped(shape, std::move(array.elements));
    open_.pop_back();
    // The reply that has the attributes follows.
    if (shape == Reply::Shape::kAttributes) return Step::kContinue;
  }
  root_ = std::move(reply);
  return Step::kReply;
}

ReplyReader::Step ReplyReader::Open(size_t size, Reply::Shape shape) {
  if (size == 0 && shape == Reply::Shape::kAttributes) return Step::kContinue;
  if (size == 0) return Place(Shaped(shape, {}));
  if (open_.size() == kMaxNesting) {
    return Fail(absl::StrCat("arrays are nested deeper than ", kMaxNesting));
  }
  OpenArray& array = open_.emplace_back();
  array.missing = size;
  array.shape = shape;
  array.elements.reserve(std::min(size, kMaxReservedElements));
  return Step::kContinue;
}

ReplyReader::Step ReplyReader::Fail(std::string_view why) {
  status_ = store::ProtocolError(
      std::string_view(absl::StrCat("Redis's reply cannot be read: ", base::ToAbsl(why))));
  return Step::kNeedMore;
}

}  // namespace redouble::inline v0_1::store
