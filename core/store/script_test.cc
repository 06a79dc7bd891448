#include "redouble/core/store/script.h"

#include <array>
#include <string_view>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/testing/fake_store.h"

namespace redouble::inline v0_1::store {
namespace {

using base::IsOkAndHolds;

constexpr char kSource[] = "return 1";
constexpr char kSha1[] = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";
constexpr char kUnknown[] = "NOSCRIPT No matching script. Please use EVAL.";
constexpr std::array<std::string_view, 2> kKeys = {"a", "b"};
constexpr std::array<std::string_view, 1> kArguments = {"x"};

const FakeStore::Words kBySha1 = {"EVALSHA", kSha1, "2", "a", "b", "x"};
const FakeStore::Words kBySource = {"EVAL", kSource, "2", "a", "b", "x"};

absl::StatusOr<Reply> RunOn(FakeStore& store) {
  const Script script(kSource);
  return base::Run(script.Run(store, kKeys, kArguments));
}

TEST(Script, IsNamedByTheSha1OfItsText) {
  const Script script(kSource);
  EXPECT_EQ(script.source(), kSource);
  EXPECT_EQ(script.sha1(), kSha1);
}

TEST(Script, TakesOneRoundTripWhenTheServerKnowsIt) {
  FakeStore store;
  store.Expect(kBySha1, Reply::Integer(1));
  EXPECT_THAT(RunOn(store), IsOkAndHolds(Reply::Integer(1)));
}

TEST(Script, IsSentWholeWhenTheServerDoesNotKnowIt) {
  FakeStore store;
  store.Expect(kBySha1, Reply::Error(kUnknown));
  store.Expect(kBySource, Reply::Integer(1));
  EXPECT_THAT(RunOn(store), IsOkAndHolds(Reply::Integer(1)));
}

TEST(Script, RunsWithoutKeysAndArguments) {
  FakeStore store;
  store.Expect({"EVALSHA", kSha1, "0"}, Reply::Nil());
  const Script script(kSource);
  EXPECT_THAT(base::Run(script.Run(store, {}, {})), IsOkAndHolds(Reply::Nil()));
}

TEST(Script, GivesTheServersErrorWhenItFails) {
  FakeStore store;
  store.Expect(kBySha1, Reply::Error("WRONGTYPE Operation against a key"));
  EXPECT_EQ(RunOn(store).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Script, GivesTheServersErrorWhenItFailsTheSecondTime) {
  FakeStore store;
  store.Expect(kBySha1, Reply::Error(kUnknown));
  store.Expect(kBySource, Reply::Error("ERR Error compiling script (new function)"));
  const absl::StatusOr<Reply> reply = RunOn(store);
  EXPECT_EQ(reply.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorKindOf(reply.status()), ErrorKind::kServer);
}

TEST(Script, IsNotSentAgainWhenTheOutcomeIsUnknown) {
  FakeStore store;
  store.Expect(kBySha1, OutcomeUnknownError("connection lost"));
  EXPECT_EQ(ErrorKindOf(RunOn(store).status()), ErrorKind::kOutcomeUnknown);
}

TEST(Script, IsSentWholeInABatch) {
  FakeStore store;
  store.ExpectBatch(Request::Kind::kTransaction, {{"SET", "a", "1"}, kBySource},
                    Reply::Array({Reply::Ok(), Reply::Integer(1)}));
  const Script script(kSource);
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kSet, {"a", "1"});
  script.AddTo(batch, kKeys, {}).Add("x");
  EXPECT_TRUE(base::Run(Execute(store, batch)).ok());
}

}  // namespace
}  // namespace redouble::inline v0_1::store
