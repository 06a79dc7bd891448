#include "redouble/core/store/typed/sets.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/testing/fake_store.h"

namespace redouble::inline v0_1::store {
namespace {

using base::IsOkAndHolds;

using Words = FakeStore::Words;

constexpr std::array<std::string_view, 2> kTwo = {"a", "b"};

Reply Members() { return Reply::Set({Reply::Bulk("x"), Reply::Bulk("y")}); }

const std::vector<std::string> kMembers = {"x", "y"};

TEST(Sets, AddAndRemoveManyMembers) {
  const auto add = [](Store& store) { return SAdd(store, "k", kTwo); };
  const auto remove = [](Store& store) { return SRem(store, "k", kTwo); };
  EXPECT_THAT(Ask({"SADD", "k", "a", "b"}, Reply::Integer(2), add), IsOkAndHolds(2));
  EXPECT_THAT(Ask({"SREM", "k", "a", "b"}, Reply::Integer(1), remove), IsOkAndHolds(1));
}

TEST(Sets, AddAndRemoveOneMember) {
  const auto add = [](Store& store) { return SAdd(store, "k", "a"); };
  const auto remove = [](Store& store) { return SRem(store, "k", "a"); };
  EXPECT_THAT(Ask({"SADD", "k", "a"}, Reply::Integer(1), add), IsOkAndHolds(true));
  EXPECT_THAT(Ask({"SADD", "k", "a"}, Reply::Integer(0), add), IsOkAndHolds(false));
  EXPECT_THAT(Ask({"SREM", "k", "a"}, Reply::Integer(0), remove), IsOkAndHolds(false));
}

TEST(Sets, MoveAndPop) {
  const auto move = [](Store& store) { return SMove(store, "a", "b", "m"); };
  const auto pop = [](Store& store) { return SPop(store, "k"); };
  EXPECT_THAT(Ask({"SMOVE", "a", "b", "m"}, Reply::Integer(1), move), IsOkAndHolds(true));
  EXPECT_THAT(Ask({"SPOP", "k"}, Reply::Bulk("m"), pop), IsOkAndHolds("m"));
  EXPECT_THAT(Ask({"SPOP", "k"}, Reply::Nil(), pop), IsOkAndHolds(std::nullopt));
}

TEST(Sets, LookAtMembers) {
  const auto is_member = [](Store& store) { return SIsMember(store, "k", "m"); };
  const auto size = [](Store& store) { return SCard(store, "k"); };
  const auto members = [](Store& store) { return SMembers(store, "k"); };
  EXPECT_THAT(Ask({"SISMEMBER", "k", "m"}, Reply::Integer(1), is_member), IsOkAndHolds(true));
  EXPECT_THAT(Ask({"SCARD", "k"}, Reply::Integer(3), size), IsOkAndHolds(3));
  EXPECT_THAT(Ask({"SMEMBERS", "k"}, Members(), members), IsOkAndHolds(kMembers));
}

TEST(Sets, Combine) {
  const auto inter = [](Store& store) { return SInter(store, kTwo); };
  const auto unite = [](Store& store) { return SUnion(store, kTwo); };
  const auto diff = [](Store& store) { return SDiff(store, kTwo); };
  EXPECT_THAT(Ask({"SINTER", "a", "b"}, Members(), inter), IsOkAndHolds(kMembers));
  EXPECT_THAT(Ask({"SUNION", "a", "b"}, Members(), unite), IsOkAndHolds(kMembers));
  EXPECT_THAT(Ask({"SDIFF", "a", "b"}, Members(), diff), IsOkAndHolds(kMembers));
}

TEST(Sets, PassErrorsOn) {
  const auto size = [](Store& store) { return SCard(store, "k"); };
  const Reply wrong_type =
      Reply::Error("WRONGTYPE Operation against a key holding the wrong kind of value");
  EXPECT_TRUE(absl::IsFailedPrecondition(Ask({"SCARD", "k"}, wrong_type, size).status()));
  EXPECT_TRUE(absl::IsUnavailable(
      Ask({"SCARD", "k"}, absl::UnavailableError("not connected"), size).status()));
}

}  // namespace
}  // namespace redouble::inline v0_1::store
