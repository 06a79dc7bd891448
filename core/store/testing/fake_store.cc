#include "redouble/core/store/testing/fake_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "gtest/gtest.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::store {
namespace {

constexpr std::string_view kKindWords[] = {"", "pipeline: ", "transaction: "};

std::string Describe(Request::Kind kind, const std::vector<FakeStore::Words>& commands) {
  std::string out(kKindWords[static_cast<size_t>(kind)]);
  for (const FakeStore::Words& words : commands) {
    if (&words != &commands.front()) out += "; ";
    out += absl::AsciiStrToUpper(words.front());
    for (size_t i = 1; i < words.size(); ++i) out += " " + QuoteBytes(words[i]);
  }
  return out;
}

std::string Describe(const Request& request) {
  std::vector<FakeStore::Words> commands;
  for (const Command& command : request.commands()) {
    FakeStore::Words& words = commands.emplace_back(1, std::string(command.name()));
    words.insert(words.end(), command.arguments().begin(), command.arguments().end());
  }
  return Describe(request.kind(), commands);
}

}  // namespace

FakeStore::~FakeStore() {
  for (const Expectation& expectation : expected_) {
    ADD_FAILURE() << "never came: " << Describe(expectation.kind, expectation.commands);
  }
  for (Request* request : held_) request->SetKeeper(nullptr);
}

void FakeStore::Expect(Words words, absl::StatusOr<Reply> result) {
  ExpectBatch(Request::Kind::kCommand, {std::move(words)}, std::move(result));
}

void FakeStore::ExpectBatch(Request::Kind kind, std::vector<Words> commands,
                            absl::StatusOr<Reply> result) {
  expected_.push_back({kind, std::move(commands), std::move(result)});
}

void FakeStore::ExpectHeld(Words words) {
  ExpectHeldBatch(Request::Kind::kCommand, {std::move(words)});
}

void FakeStore::ExpectHeldBatch(Request::Kind kind, std::vector<Words> commands) {
  expected_.push_back({kind, std::move(commands), std::nullopt});
}

void FakeStore::Answer(absl::StatusOr<Reply> result) {
  if (held_.empty()) {
    ADD_FAILURE() << "no request is held that could be answered";
    return;
  }
  Request* const request = held_.front();
  held_.pop_front();
  request->Complete(std::move(result));
}

void FakeStore::Submit(Request& request) {
  const std::string came = Describe(request);
  if (expected_.empty()) {
    ADD_FAILURE() << "came, but nothing was expected: " << came;
    return request.Complete(NotSentError("not expected by the test"));
  }
  Expectation expectation = std::move(expected_.front());
  expected_.pop_front();
  EXPECT_EQ(came, Describe(expectation.kind, expectation.commands));
  if (expectation.result) return request.Complete(*std::move(expectation.result));
  request.SetKeeper(this);
  held_.push_back(&request);
}

void FakeStore::Abandon(Request& request) {
  ++abandoned_;
  held_.erase(std::find(held_.begin(), held_.end(), &request));
}

}  // namespace redouble::inline v0_1::store
