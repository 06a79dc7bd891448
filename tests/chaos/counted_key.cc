#include "redouble/tests/chaos/counted_key.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::Batch;
using store::CommandId;
using store::ErrorKind;
using store::Reply;

constexpr size_t kLargeBytes = size_t{16} << 20;
constexpr size_t kMostProblems = 10;

}  // namespace

base::Task<void> CountedKey::Increment(store::Store& store, base::Clock& clock) {
  // A large value is rare, because it takes as long as thousands of increments.
  const uint64_t drawn = rng_.Below(1000);
  const auto form =
      drawn == 0 ? IncrementForm::kLargeValue : static_cast<IncrementForm>(drawn % (kForms - 1));
  switch (form) {
    case IncrementForm::kLargeValue:
      if (!co_await ExchangeLargeValue(store)) co_return;
      [[fallthrough]];
    case IncrementForm::kCommand:
      co_return co_await SendCommand(store);
    case IncrementForm::kPipeline:
    case IncrementForm::kTransaction:
      co_return co_await SendBatch(store, form);
    case IncrementForm::kScript:
      co_return co_await SendScript(store);
    case IncrementForm::kCancelled:
      co_return co_await SendAndCancel(store, clock);
  }
}

base::Task<void> CountedKey::SendCommand(store::Store& store) {
  Take(co_await store::Incr(store, key_), IncrementForm::kCommand);
}

base::Task<void> CountedKey::SendBatch(store::Store& store, IncrementForm form) {
  const bool pipeline = form == IncrementForm::kPipeline;
  Batch batch(pipeline ? Batch::Atomicity::kPipeline : Batch::Atomicity::kTransaction);
  if (pipeline) batch.Add(CommandId::kEcho, {key_});
  batch.Add(CommandId::kIncr, {key_});
  batch.Add(pipeline ? CommandId::kEcho : CommandId::kIncr, {key_});
  const absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(store, batch);
  if (!replies.ok()) co_return TakeFailure(replies.status(), pipeline ? 1 : 2);
  for (size_t i = 0; i < replies->size(); ++i) {
    const Reply& reply = (*replies)[i];
    if (pipeline && i != 1) {
      const bool echoed = reply.is_error() || reply == Reply::Bulk(key_);
      if (!echoed) Fail(absl::StrCat("ECHO got ", reply.DebugString()));
    } else {
      TakeReply(reply, form);
    }
  }
}

base::Task<void> CountedKey::SendScript(store::Store& store) {
  const store::Command script(CommandId::kEval, {"return redis.call('INCR', KEYS[1])", "1", key_});
  const absl::StatusOr<Reply> reply = co_await store.Execute(script);
  if (!reply.ok()) co_return TakeFailure(reply.status(), 1);
  TakeReply(*reply, IncrementForm::kScript);
}

base::Task<void> CountedKey::SendAndCancel(store::Store& store, base::Clock& clock) {
  auto increment = std::make_optional(store::Incr(store, key_));
  increment->Start();
  co_await clock.Sleep(absl::Microseconds(rng_.Below(2000)));
  if (increment->done()) {
    co_return Take(increment->TakeResult(), IncrementForm::kCancelled);
  }
  increment.reset();
  ++unknown_;
  ++unseen_;
}

// Returns whether both commands were done.
base::Task<bool> CountedKey::ExchangeLargeValue(store::Store& store) {
  const std::string key = absl::StrCat(key_, ":large");
  std::string value(kLargeBytes, static_cast<char>('a' + rng_.Below(26)));
  const auto set = co_await store::Set(store, key, value);
  if (!set.ok()) co_return false;
  const auto read = co_await store::Get(store, key);
  if (!read.ok()) co_return false;
  if (!may_lose_ && *read != value) Fail("a large value came back changed");
  ++by_form_[static_cast<size_t>(IncrementForm::kLargeValue)];
  co_return true;
}

void CountedKey::Take(const absl::StatusOr<int64_t>& value, IncrementForm form) {
  if (!value.ok()) return TakeFailure(value.status(), 1);
  Acknowledge(*value, form);
}

void CountedKey::TakeReply(const Reply& reply, IncrementForm form) {
  if (reply.is_integer()) return Acknowledge(reply.integer(), form);
  if (reply.is_error()) {
    ++not_done_;
  } else {
    Fail(absl::StrCat("an increment got ", reply.DebugString()));
  }
}

void CountedKey::Acknowledge(int64_t value, IncrementForm form) {
  ++acknowledged_;
  ++by_form_[static_cast<size_t>(form)];
  const bool lost = value <= last_ && !may_lose_;
  if (lost || value > highest_ + 1 + unseen_) {
    Fail(absl::StrCat("acknowledged ", value, " after ", last_, ", highest ", highest_, ", with ",
                      unseen_, " unknown increments in between"));
  }
  unseen_ = std::max<int64_t>(0, unseen_ - std::max<int64_t>(0, value - highest_ - 1));
  last_ = value;
  highest_ = std::max(highest_, value);
}

void CountedKey::TakeFailure(const absl::Status& status, uint64_t count) {
  const std::optional<ErrorKind> kind = store::ErrorKindOf(status);
  if (kind == ErrorKind::kOutcomeUnknown) {
    unknown_ += count;
    unseen_ += static_cast<int64_t>(count);
  } else if (kind == ErrorKind::kServer || kind == ErrorKind::kNotSent) {
    not_done_ += count;
    if (status.code() == absl::StatusCode::kResourceExhausted) refused_ += count;
  } else {
    Fail("unexpected outcome: " + status.ToString());
  }
}

void CountedKey::CheckFinal(int64_t value) {
  const bool lost = value < last_ && !may_lose_;
  if (lost || value > highest_ + unseen_) {
    Fail(absl::StrCat("has ", value, " at the end, after ", last_, ", highest ", highest_,
                      ", with ", unseen_, " unknown increments"));
  }
}

void CountedKey::Fail(const std::string& what) {
  if (problems_.size() < kMostProblems) problems_.push_back(absl::StrCat(key_, ": ", what));
}

}  // namespace redouble::inline v0_1::tests
