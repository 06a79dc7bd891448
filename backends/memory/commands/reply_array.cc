#include "redouble/backends/memory/commands/reply_array.h"

#include <utility>

#include "redouble/backends/memory/engine/session_core.h"

namespace redouble::inline v0_1::memory {
namespace {

Reply ArrayOf(Reply::Shape shape, std::vector<Reply> elements) {
  switch (shape) {
    case Reply::Shape::kMap:
      return Reply::Map(std::move(elements));
    case Reply::Shape::kSet:
      return Reply::Set(std::move(elements));
    case Reply::Shape::kPairs:
      return Reply::Pairs(std::move(elements));
    case Reply::Shape::kMapOfPairs:
      return Reply::MapOfPairs(std::move(elements));
    default:
      return Reply::Array(std::move(elements));
  }
}

}  // namespace

ReplyArray::ReplyArray(const CommandContext& context, Reply::Shape shape,
                       std::optional<size_t> size)
    : session_(context.session()),
      sink_(session_.reply_sink()),
      shape_(shape),
      is_resp3_(session_.protocol() == 3) {
  if (sink_ != nullptr && shape == Reply::Shape::kMapOfPairs) {
    sink_->BeginArray(is_resp3_ ? Reply::Shape::kMap : Reply::Shape::kPlain,
                      *size * (is_resp3_ ? 2 : 1));
  } else if (sink_ != nullptr) {
    sink_->BeginArray(shape, size);
  } else if (size) {
    elements_.reserve(*size);
  }
}

ReplyArray::~ReplyArray() {
  if (sink_ != nullptr && !is_finished_) sink_->Abort();
}

template <typename Pass>
void ReplyArray::PassElement(Pass pass) {
  const bool splits_pairs = is_resp3_ && shape_ == Reply::Shape::kPairs;
  if (splits_pairs && size_ % 2 == 0) sink_->BeginArray(Reply::Shape::kPlain, 2);
  pass(*sink_);
  if (splits_pairs && size_ % 2 == 1) sink_->EndArray(2);
}

void ReplyArray::Add(Reply element) {
  if (sink_ == nullptr) {
    elements_.push_back(std::move(element));
  } else {
    PassElement([&](ReplySink& sink) { sink.Add(element); });
  }
  ++size_;
}

void ReplyArray::AddBulk(std::string_view text) {
  if (sink_ == nullptr) {
    elements_.push_back(Reply::Bulk(text));
  } else {
    PassElement([&](ReplySink& sink) { sink.AddBulk(text); });
  }
  ++size_;
}

void ReplyArray::AddReplyOfCall(Reply reply) {
  if (!session_.TakeStreamed()) return Add(std::move(reply));
  ++size_;
}

void ReplyArray::AddPair(Reply key, absl::FunctionRef<Reply()> value) {
  ++size_;
  if (sink_ == nullptr) {
    std::vector<Reply> pair;
    pair.push_back(std::move(key));
    pair.push_back(value());
    elements_.push_back(Reply::Array(std::move(pair)));
    return;
  }
  if (!is_resp3_) sink_->BeginArray(Reply::Shape::kPlain, 2);
  sink_->Add(key);
  const Reply reply = value();
  if (!session_.TakeStreamed()) sink_->Add(reply);
  if (!is_resp3_) sink_->EndArray(2);
}

Reply ReplyArray::Finish() && {
  is_finished_ = true;
  if (sink_ == nullptr) return ArrayOf(shape_, std::move(elements_));
  sink_->EndArray(size_);
  session_.set_streamed();
  return Reply::EmptyArray();
}

}  // namespace redouble::inline v0_1::memory
