#include "backends/redis/protocol/reply_reader.h"

#include <hiredis/read.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/string_bridge.h"
#include "core/store/errors.h"

namespace redouble::redis {
namespace {

using store::Reply;

// An array's announced size is trusted only this far; beyond, memory grows with what arrives.
constexpr size_t kMaxReservedElements = 4096;

// hiredis frees its buffer whenever it is empty and larger than this; its default of 16 KiB would
// do so after every large read.
constexpr size_t kMaxIdleBufferBytes = 256 * 1024;

}  // namespace

// hiredis builds a tree of whatever its hooks return. The tree is kept here instead: the hooks
// return a token that is only not null, and replies find their place by the order in which they
// come.
struct ReplyReader::Hooks {
  static ReplyReader& Self(const redisReadTask* task) {
    return *static_cast<ReplyReader*>(task->privdata);
  }
  static void* Token(const redisReadTask* task) { return task->privdata; }

  static void* CreateString(const redisReadTask* task, char* text, size_t size) {
    const std::string_view view(text, size);
    if (task->type == REDIS_REPLY_STATUS) {
      Self(task).Place(Reply::Status(view));
    } else if (task->type == REDIS_REPLY_ERROR) {
      Self(task).Place(Reply::Error(view));
    } else {
      Self(task).Place(Reply::Bulk(view));
    }
    return Token(task);
  }
  static void* CreateArray(const redisReadTask* task, int size) {
    Self(task).Open(static_cast<size_t>(size));
    return Token(task);
  }
  static void* CreateInteger(const redisReadTask* task, long long value) {
    Self(task).Place(Reply::Integer(value));
    return Token(task);
  }
  static void* CreateNil(const redisReadTask* task) {
    Self(task).Place(task->type == REDIS_REPLY_ARRAY ? Reply::NilArray() : Reply::Nil());
    return Token(task);
  }
  static void FreeObject(void*) {}

  static redisReplyObjectFunctions functions;
};

redisReplyObjectFunctions ReplyReader::Hooks::functions = {CreateString, CreateArray, CreateInteger,
                                                           CreateNil, FreeObject};

void ReplyReader::FreeReader::operator()(redisReader* reader) const { redisReaderFree(reader); }

ReplyReader::ReplyReader(size_t max_reply_bytes)
    : max_reply_bytes_(max_reply_bytes),
      reader_(redisReaderCreateWithFunctions(&Hooks::functions)) {
  reader_->privdata = this;
  reader_->maxbuf = kMaxIdleBufferBytes;
}

ReplyReader::~ReplyReader() = default;

void ReplyReader::Feed(std::string_view bytes) {
  if (!status_.ok()) return;
  pending_bytes_ += bytes.size();
  if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK) {
    Fail(reader_->errstr);
  }
}

ReplyReader::Outcome ReplyReader::Next(Reply& reply) {
  if (!status_.ok()) return Outcome::kFailed;
  void* token = nullptr;
  if (redisReaderGetReply(reader_.get(), &token) != REDIS_OK) {
    Fail(reader_->errstr);
    return Outcome::kFailed;
  }
  if (token == nullptr) {
    if (pending_bytes_ <= max_reply_bytes_) return Outcome::kNeedMore;
    Fail(absl::StrCat("a reply is larger than the limit of ", max_reply_bytes_, " bytes"));
    return Outcome::kFailed;
  }
  // What is left over belongs to later replies.
  pending_bytes_ = reader_->len - reader_->pos;
  reply = std::move(root_);
  return Outcome::kReply;
}

void ReplyReader::Place(Reply reply) {
  while (depth_ > 0) {
    OpenArray& array = open_[depth_ - 1];
    array.elements.push_back(std::move(reply));
    if (--array.missing > 0) return;
    reply = Reply::Array(std::exchange(array.elements, {}));
    --depth_;
  }
  root_ = std::move(reply);
}

void ReplyReader::Open(size_t size) {
  if (size == 0) return Place(Reply::EmptyArray());
  OpenArray& array = open_[depth_++];
  array.missing = size;
  array.elements.reserve(std::min(size, kMaxReservedElements));
}

void ReplyReader::Fail(std::string_view why) {
  status_ = store::ProtocolError(
      std::string_view(absl::StrCat("Redis's reply cannot be read: ", base::ToAbsl(why))));
}

}  // namespace redouble::redis
