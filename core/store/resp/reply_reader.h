// ReplyReader: parses the bytes that Redis sends into replies, in pieces of any size.
//
// RESP2, and RESP3 if it is asked for. It is our own and not hiredis's reader, because hiredis 0.14
// cannot read arrays nested deeper than eight, which COMMAND DOCS (twelve levels) and scripts
// return: one such reply would cost the connection and with it the replies of all requests that
// share it.
//
// The types of RESP3 become replies with a shape (reply.h): a map is an array of alternating keys
// and values of shape kMap, a push an array of shape kPush. Attributes are skipped. The streamed
// types, which Redis does not send, fail the reader.
//
//   ReplyReader reader;
//   reader.Feed(bytes);
//   Reply reply;
//   while (reader.Next(reply) == ReplyReader::Outcome::kReply) Use(std::move(reply));
//   if (!reader.status().ok()) Disconnect(reader.status());
//
// Memory: the incomplete reply, at most `max_reply_bytes`. An announced length is allocated only as
// its bytes arrive. A bulk string is copied once, from the fed bytes to its place in the reply,
// unless it is split over several pieces.
//
// Thread-safety: one thread at a time.
// Source: the RESP2 and RESP3 specifications; Redis 7.0 networking.c, addReply.
#ifndef REDOUBLE_CORE_STORE_RESP_REPLY_READER_H_
#define REDOUBLE_CORE_STORE_RESP_REPLY_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/resp/reply_encoding.h"

namespace redouble::inline v0_1::store {

class ReplyReader {
 public:
  enum class Outcome {
    kReply,     // A complete reply was read.
    kNeedMore,  // Feed() more bytes.
    kFailed,    // See status(). The connection cannot be used any more.
  };

  // Twice the size limit of one value (proto-max-bulk-len, 512 MB).
  static constexpr size_t kDefaultMaxReplyBytes = size_t{1} << 30;
  // The greatest depth of nested arrays. Functions on replies recurse into their elements. Redis's
  // own scripts cannot return a table that is nested as deep.
  static constexpr size_t kMaxNesting = 8192;

  // `max_reply_bytes`: the size limit of one reply as RESP. A larger reply fails the reader.
  // With kResp3 the replies of both protocols are read.
  explicit ReplyReader(size_t max_reply_bytes = kDefaultMaxReplyBytes,
                       Protocol protocol = Protocol::kResp2)
      : max_reply_bytes_(max_reply_bytes), protocol_(protocol) {}
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  // Appends received bytes. A failed reader ignores them. O(bytes).
  void Feed(std::string_view bytes);

  // Reads the next reply into `reply`; leaves it unchanged for other outcomes.
  Outcome Next(Reply& reply);

  // Whether every byte so far belongs to a reply that Next() has returned.
  bool idle() const { return pending_bytes_ == 0; }

  // Why the reader failed: a protocol error (core/store/errors.h). OK before a failure.
  const absl::Status& status() const { return status_; }

 private:
  // An array that still lacks elements. `shape` as of the reply that it becomes.
  struct OpenArray {
    std::vector<Reply> elements;
    size_t missing = 0;
    Reply::Shape shape = Reply::Shape::kPlain;
  };
  enum class Step { kReply, kContinue, kNeedMore };

  Step ReadLine();
  Step TakeLine(char type, std::string_view rest);
  Step ReadBulk();
  bool IsType(char type) const;
  Step TakeScalar3(char type, std::string_view rest);
  Step TakeLength3(char type, size_t length);
  Step StartBulk(char type, size_t length);
  Step PlaceBulk(std::string&& text);
  Step Place(Reply reply);
  Step Open(size_t size, Reply::Shape shape);
  Step Fail(std::string_view why);

  std::string_view unread() const { return std::string_view(buffer_).substr(position_); }

  const size_t max_reply_bytes_;
  const Protocol protocol_;
  std::string buffer_;
  size_t position_ = 0;       // Of the first unread byte of the buffer.
  size_t scanned_ = 0;        // Unread bytes that are known to hold no line end.
  size_t pending_bytes_ = 0;  // Fed since the last reply.

  // A bulk string of which the length line has been read.
  bool in_bulk_ = false;
  char bulk_type_ = '$';
  size_t bulk_missing_ = 0;  // Bytes of it that have not been moved to bulk_, without the line end.
  std::string bulk_;

  std::vector<OpenArray> open_;
  Reply root_;
  absl::Status status_;
};

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_RESP_REPLY_READER_H_
