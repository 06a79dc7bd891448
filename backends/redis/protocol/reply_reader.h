// Reads replies out of the bytes that come from Redis, in whatever pieces they come.
//
// hiredis 0.14 takes the bytes apart; its hooks build store::Reply directly, so a reply is copied
// once, from the buffer into its final string. RESP2 only, and arrays nest at most eight deep,
// which hiredis fixes: a deeper reply ends the reader with a protocol error. No data command of
// Redis comes near; COMMAND DOCS (twelve) and scripts that return deeper tables do not pass.
//
//   ReplyReader reader;
//   reader.Feed(bytes);
//   store::Reply reply;
//   while (reader.Next(reply) == ReplyReader::Outcome::kReply) Use(std::move(reply));
//   if (!reader.status().ok()) Disconnect(reader.status());
//
// Memory: what is not yet a whole reply, at most `max_reply_bytes`, plus the replies' own. What
// an announced length asks for is allocated only as its bytes arrive.
//
// Thread-safety: one thread at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_PROTOCOL_REPLY_READER_H_
#define REDOUBLE_BACKENDS_REDIS_PROTOCOL_REPLY_READER_H_

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/store/reply.h"

struct redisReader;
struct redisReadTask;

namespace redouble::redis {

class ReplyReader {
 public:
  enum class Outcome {
    kReply,     // A whole reply was read.
    kNeedMore,  // Feed() more bytes.
    kFailed,    // status() says why; the connection is of no more use.
  };

  // Twice what one value of Redis may hold (proto-max-bulk-len, 512 MB).
  static constexpr size_t kDefaultMaxReplyBytes = size_t{1} << 30;
  // Arrays within arrays.
  static constexpr int kMaxNesting = 8;

  // `max_reply_bytes`: how large one reply may be as RESP; a larger one fails the reader.
  explicit ReplyReader(size_t max_reply_bytes = kDefaultMaxReplyBytes);
  ~ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  // Takes bytes over. Feeding pieces of some 16 KiB and calling Next() until it needs more keeps
  // the copying low. A failed reader ignores them.
  void Feed(std::string_view bytes);

  // Reads the next reply into `reply`, which is untouched otherwise.
  Outcome Next(store::Reply& reply);

  // True when every byte fed so far belongs to a reply that Next() has given.
  bool idle() const { return pending_bytes_ == 0; }

  // Why the reader failed: a protocol error (errors.h) with the kind of violation. OK before.
  const absl::Status& status() const { return status_; }

 private:
  // An array that still lacks elements.
  struct OpenArray {
    std::vector<store::Reply> elements;
    size_t missing = 0;
  };
  struct Hooks;
  struct FreeReader {
    void operator()(redisReader* reader) const;
  };

  void Place(store::Reply reply);
  void Open(size_t size);
  void Fail(std::string_view why);

  const size_t max_reply_bytes_;
  std::unique_ptr<redisReader, FreeReader> reader_;
  size_t pending_bytes_ = 0;  // Fed since the last reply; an upper bound of what is kept.
  size_t depth_ = 0;
  std::array<OpenArray, kMaxNesting> open_;
  store::Reply root_;
  absl::Status status_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_PROTOCOL_REPLY_READER_H_
