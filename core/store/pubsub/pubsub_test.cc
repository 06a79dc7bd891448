#include "redouble/core/store/pubsub/pubsub.h"

#include <array>

#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/testing/fake_store.h"

namespace redouble::inline v0_1::store {
namespace {

using Names = std::span<const std::string_view>;
using base::IsOkAndHolds;

constexpr std::array<std::string_view, 2> kNames = {"a", "b"};

Reply Confirmation(const char* what) {
  return Reply::Push({Reply::Bulk(what), Reply::Bulk("a"), Reply::Integer(1)});
}

TEST(PubSub, SubscribesAndUnsubscribesByName) {
  using Change = base::Task<absl::Status> (*)(Store&, Names);
  const std::pair<const char*, Change> kChanges[] = {
      {"SUBSCRIBE", Subscribe},     {"PSUBSCRIBE", PSubscribe},     {"SSUBSCRIBE", SSubscribe},
      {"UNSUBSCRIBE", Unsubscribe}, {"PUNSUBSCRIBE", PUnsubscribe}, {"SUNSUBSCRIBE", SUnsubscribe},
  };
  for (const auto& [name, change] : kChanges) {
    FakeStore store;
    store.Expect({name, "a", "b"}, Confirmation(name));
    EXPECT_TRUE(base::Run(change(store, kNames)).ok()) << name;
  }
}

TEST(PubSub, UnsubscribesFromAllWhenNothingIsNamed) {
  FakeStore store;
  store.Expect({"UNSUBSCRIBE"},
               Reply::Push({Reply::Bulk("unsubscribe"), Reply::Nil(), Reply::Integer(0)}));
  EXPECT_TRUE(base::Run(Unsubscribe(store)).ok());
}

TEST(PubSub, ReturnsTheErrorOfTheSubscription) {
  FakeStore store;
  store.Expect({"SUBSCRIBE", "a", "b"}, Reply::Error("NOPERM no channel"));
  EXPECT_FALSE(base::Run(Subscribe(store, kNames)).ok());
}

TEST(PubSub, PublishesAndCountsReceivers) {
  FakeStore store;
  store.Expect({"PUBLISH", "a", "hello"}, Reply::Integer(2));
  store.Expect({"SPUBLISH", "a", "hello"}, Reply::Integer(1));
  store.Expect({"PUBLISH", "a", "hello"}, OutcomeUnknownError("lost"));
  EXPECT_THAT(base::Run(Publish(store, "a", "hello")), IsOkAndHolds(2));
  EXPECT_THAT(base::Run(SPublish(store, "a", "hello")), IsOkAndHolds(1));
  EXPECT_FALSE(base::Run(Publish(store, "a", "hello")).ok());
}

}  // namespace
}  // namespace redouble::inline v0_1::store
