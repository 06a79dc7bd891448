// ReplyArray: an array reply of a handler, whose elements are passed to the host one by one if it
// takes them (ReplySink), and are gathered in a Reply otherwise: for a script, for a request of
// this process, and for a blocked command that continues.
//
// Use it for replies whose size depends on data or on an argument. Nothing may fail after it was
// made, because the client may have its first elements already.
//
//   ReplyArray elements(context, Reply::Shape::kPlain, list->size());
//   list->ForEach([&](std::string_view element) { elements.AddBulk(element); });
//   return std::move(elements).Finish();
//
// Thread-safety: one thread; lives within one command.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_REPLY_ARRAY_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_REPLY_ARRAY_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "redouble/backends/memory/engine/command_context.h"
#include "redouble/backends/memory/engine/reply_sink.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {

class ReplyArray {
 public:
  // `shape`: kPlain, kMap, kSet, kPairs or kMapOfPairs. `size`: how many elements will be added;
  // nullopt if that is not known. A kMapOfPairs, whose elements are pairs, requires the size.
  ReplyArray(const CommandContext& context, Reply::Shape shape,
             std::optional<size_t> size = std::nullopt);
  ReplyArray(const ReplyArray&) = delete;
  ReplyArray& operator=(const ReplyArray&) = delete;
  // Without Finish, after an exception, the client is closed.
  ~ReplyArray();

  void Add(Reply element);
  // As Add(Reply::Bulk(text)), which copies the text only if the host does not take the elements.
  void AddBulk(std::string_view text);
  // The reply of a command within a transaction. The host may have it already.
  void AddReplyOfCall(Reply reply);
  // A pair of a kMapOfPairs. `value` returns a handler's reply.
  void AddPair(Reply key, absl::FunctionRef<Reply()> value);
  size_t size() const { return size_; }
  // False if the elements go nowhere any more.
  bool wanted() const { return sink_ == nullptr || !sink_->closed(); }

  // Returns the handler's reply.
  Reply Finish() &&;

 private:
  // Calls `pass` with the sink, and begins or ends the pair of RESP3 that the element belongs to.
  template <typename Pass>
  void PassElement(Pass pass);

  SessionCore& session_;
  ReplySink* sink_;
  const Reply::Shape shape_;
  const bool is_resp3_;
  size_t size_ = 0;
  bool is_finished_ = false;
  std::vector<Reply> elements_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_REPLY_ARRAY_H_
