#include "core/threescale/application.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/threescale/errors.h"
#include "core/threescale/process_for_test.h"
#include "core/threescale/service_token.h"
#include "tests/support/intercepted_store.h"

namespace redouble::threescale {
namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;
using ::testing::UnorderedElementsAre;

constexpr ApplicationRef kApplication = {"2", "a1"};

template <typename Backend>
class ApplicationStoreTest : public ProcessTest<Backend> {
 protected:
  ApplicationStore applications() { return ApplicationStore(this->process()); }
  absl::Status Save(std::string_view id = "a1") {
    return this->Run(applications().Save({.service_id = "2", .id = id, .state = "active"}));
  }
  std::optional<ErrorCode> FindError(ApplicationIdentity identity) {
    return ErrorCodeOf(this->Run(applications().FindId("2", identity)).status());
  }

  base::Rng rng_{7};
};
TYPED_TEST_SUITE(ApplicationStoreTest, tests::Backends, tests::BackendNames);

TYPED_TEST(ApplicationStoreTest, SavesWhatIsGivenInOnePipeline) {
  tests::InterceptedStore store(this->store());
  ApplicationSave save = {.service_id = "2", .id = "a1", .state = "active"};
  save.plan_id = "44";
  save.redirect_url = "https://example.com";
  ASSERT_TRUE(this->Run(ApplicationStore(this->process_on(store)).Save(save)).ok());
  EXPECT_EQ(store.requests(), 1u);
  EXPECT_THAT(store.log(),
              ElementsAre("SET application/service_id:2/id:a1/state active",
                          "SET application/service_id:2/id:a1/plan_id 44",
                          "SET application/service_id:2/id:a1/redirect_url https://example.com",
                          "SADD service_id:2/applications a1"));
}

TYPED_TEST(ApplicationStoreTest, CannotTakeAnAttributeBack) {
  ApplicationSave save = {.service_id = "2", .id = "a1", .state = "active"};
  save.plan_id = "44";
  save.plan_name = "Test plan";
  ASSERT_TRUE(this->Run(this->applications().Save(save)).ok());
  save = {.service_id = "2", .id = "a1", .state = "whatever"};
  ASSERT_TRUE(this->Run(this->applications().Save(save)).ok());
  const auto application = this->Run(this->applications().LoadOrFail(kApplication));
  ASSERT_TRUE(application.ok());
  EXPECT_EQ(application->plan_id, "44");
  EXPECT_EQ(application->plan_name, "Test plan");
  EXPECT_EQ(application->redirect_url, std::nullopt);
  EXPECT_FALSE(application->active());
}

TYPED_TEST(ApplicationStoreTest, NeedsAnIdAndAState) {
  tests::InterceptedStore store(this->store());
  ApplicationStore applications(this->process_on(store));
  EXPECT_EQ(ErrorCodeOf(this->Run(applications.Save({.service_id = "2", .state = "active"}))),
            ErrorCode::kApplicationHasNoID);
  EXPECT_EQ(ErrorCodeOf(this->Run(applications.Save({.service_id = "2", .id = "x"}))),
            ErrorCode::kApplicationHasNoState);
  EXPECT_EQ(store.requests(), 0u);
}

TYPED_TEST(ApplicationStoreTest, LeavesMostOfADeletedApplicationBehind) {
  ASSERT_TRUE(this->Save().ok());
  ASSERT_TRUE(this->Run(this->applications().CreateKey(kApplication, "k1", this->rng_)).ok());
  ASSERT_TRUE(this->Run(this->applications().CreateReferrerFilter(kApplication, "f")).ok());
  ASSERT_TRUE(this->Run(this->applications().SaveUserKey({"2", "uk"}, "a1")).ok());
  ASSERT_TRUE(this->Run(this->applications().Delete(kApplication)).ok());
  EXPECT_EQ(ErrorCodeOf(this->Run(this->applications().Delete(kApplication))),
            ErrorCode::kApplicationNotFound);
  EXPECT_EQ(this->KeyCount(), 3);
  EXPECT_EQ(this->FindError({.user_key = "uk"}), ErrorCode::kApplicationNotFound);
  ASSERT_TRUE(this->Save().ok());
  EXPECT_TRUE(*this->Run(this->applications().HasKey(kApplication, "k1")));
}

TYPED_TEST(ApplicationStoreTest, FindsTheApplicationThatATransactionMeans) {
  ASSERT_TRUE(this->Save().ok());
  ASSERT_TRUE(this->Run(this->applications().SaveUserKey({"2", "uk"}, "a1")).ok());
  EXPECT_EQ(*this->Run(this->applications().FindId("2", {.app_id = "a1"})), "a1");
  EXPECT_EQ(*this->Run(this->applications().FindId("2", {.user_key = "uk"})), "a1");
  EXPECT_EQ(this->FindError({.app_id = "a1", .user_key = "uk"}), ErrorCode::kAuthenticationError);
  EXPECT_EQ(this->FindError({.app_id = "", .user_key = "uk"}), ErrorCode::kAuthenticationError);
  EXPECT_EQ(this->FindError({.user_key = "nope"}), ErrorCode::kUserKeyInvalid);
  EXPECT_EQ(this->FindError({.app_id = "nope"}), ErrorCode::kApplicationNotFound);
  EXPECT_EQ(this->FindError({}), ErrorCode::kApplicationNotFound);
}

TYPED_TEST(ApplicationStoreTest, KeepsUserKeys) {
  const auto load = [&](std::string_view key) {
    return *this->Run(this->applications().LoadIdByUserKey({"2", key}));
  };
  ASSERT_TRUE(this->Run(this->applications().SaveUserKey({"2", "uk"}, "a1")).ok());
  ASSERT_TRUE(this->Run(this->applications().SaveUserKey({"2", "uk"}, "a2")).ok());
  ASSERT_TRUE(this->Run(this->applications().SaveUserKey({"2", "uk2"}, "a2")).ok());
  EXPECT_EQ(load("uk"), "a2");
  EXPECT_EQ(load("uk2"), "a2");
  EXPECT_TRUE(*this->Run(this->applications().DeleteUserKey({"2", "uk"})));
  EXPECT_FALSE(*this->Run(this->applications().DeleteUserKey({"2", "uk"})));
  EXPECT_EQ(load("uk"), std::nullopt);
  for (const auto& [key, id] : {std::pair{" ", "a1"}, std::pair{"uk", ""}}) {
    EXPECT_EQ(ErrorCodeOf(this->Run(this->applications().SaveUserKey({"2", key}, id))),
              ErrorCode::kApplicationHasInconsistentData);
  }
}

TYPED_TEST(ApplicationStoreTest, KeepsKeys) {
  EXPECT_EQ(ErrorCodeOf(
                this->Run(this->applications().CreateKey(kApplication, "k", this->rng_)).status()),
            ErrorCode::kApplicationNotFound);
  ASSERT_TRUE(this->Save().ok());
  EXPECT_FALSE(*this->Run(this->applications().HasKeys(kApplication)));
  EXPECT_EQ(*this->Run(this->applications().CreateKey(kApplication, "k", this->rng_)), "k");
  EXPECT_EQ(*this->Run(this->applications().CreateKey(kApplication, "k", this->rng_)), "k");
  const std::string drawn =
      *this->Run(this->applications().CreateKey(kApplication, std::nullopt, this->rng_));
  EXPECT_THAT(drawn, MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(drawn.size(), 32u);
  EXPECT_THAT(*this->Run(this->applications().Keys(kApplication)),
              UnorderedElementsAre("k", drawn));
  EXPECT_TRUE(*this->Run(this->applications().DeleteKey(kApplication, "k")));
  EXPECT_FALSE(*this->Run(this->applications().DeleteKey(kApplication, "k")));
  EXPECT_TRUE(*this->Run(this->applications().HasKeys(kApplication)));
  EXPECT_FALSE(*this->Run(this->applications().HasKey(kApplication, "k")));
  EXPECT_EQ(ErrorCodeOf(this->Run(this->applications().DeleteKey({"2", "x"}, "k")).status()),
            ErrorCode::kApplicationNotFound);
}

TYPED_TEST(ApplicationStoreTest, KeepsReferrerFilters) {
  ASSERT_TRUE(this->Save().ok());
  EXPECT_EQ(*this->Run(this->applications().CreateReferrerFilter(kApplication, "*.a.b")), "*.a.b");
  EXPECT_EQ(
      ErrorCodeOf(this->Run(this->applications().CreateReferrerFilter(kApplication, " ")).status()),
      ErrorCode::kReferrerFilterInvalid);
  EXPECT_TRUE(*this->Run(this->applications().HasReferrerFilters(kApplication)));
  EXPECT_THAT(*this->Run(this->applications().ReferrerFilters(kApplication)), ElementsAre("*.a.b"));
  EXPECT_TRUE(*this->Run(this->applications().DeleteReferrerFilter(kApplication, "*.a.b")));
  EXPECT_FALSE(*this->Run(this->applications().DeleteReferrerFilter(kApplication, "*.a.b")));
  EXPECT_FALSE(*this->Run(this->applications().HasReferrerFilters(kApplication)));
}

// What is known of a single key is not forgotten when that key is deleted.
TYPED_TEST(ApplicationStoreTest, AcceptsADeletedKeyForAMinuteWithAMemoizer) {
  Memoizer memoizer(this->clock());
  Process process = this->process();
  process.memoizer = &memoizer;
  ApplicationStore applications(process);
  ASSERT_TRUE(this->Save().ok());
  ASSERT_TRUE(this->Run(applications.CreateKey(kApplication, "k", this->rng_)).ok());
  EXPECT_TRUE(*this->Run(applications.HasKey(kApplication, "k")));
  EXPECT_TRUE(*this->Run(applications.HasKeys(kApplication)));
  EXPECT_TRUE(*this->Run(applications.DeleteKey(kApplication, "k")));
  EXPECT_TRUE(*this->Run(applications.HasKey(kApplication, "k")));
  EXPECT_FALSE(*this->Run(applications.HasKeys(kApplication)));
  this->Advance(absl::Seconds(61));
  EXPECT_FALSE(*this->Run(applications.HasKey(kApplication, "k")));
}

TYPED_TEST(ApplicationStoreTest, DeniesANewApplicationForAMinuteWithAMemoizer) {
  Memoizer memoizer(this->clock());
  Process process = this->process();
  process.memoizer = &memoizer;
  EXPECT_FALSE(*this->Run(ApplicationStore(process).Exists(kApplication)));
  ASSERT_TRUE(this->Save().ok());  // By another process.
  EXPECT_FALSE(*this->Run(ApplicationStore(process).Exists(kApplication)));
  const ApplicationSave save = {.service_id = "2", .id = "a1", .state = "active"};
  ASSERT_TRUE(this->Run(ApplicationStore(process).Save(save)).ok());
  EXPECT_TRUE(*this->Run(ApplicationStore(process).Exists(kApplication)));
}

TYPED_TEST(ApplicationStoreTest, PassesOnTheErrorsOfRedis) {
  this->Ask({"SET", "service_id:2/applications", "x"});
  EXPECT_TRUE(absl::IsFailedPrecondition(this->Save()));
  this->Ask({"SADD", "application/service_id:2/key:uk/id", "x"});
  EXPECT_FALSE(this->Run(this->applications().LoadIdByUserKey({"2", "uk"})).ok());
}

template <typename Backend>
class ServiceTokenStoreTest : public ProcessTest<Backend> {};
TYPED_TEST_SUITE(ServiceTokenStoreTest, tests::Backends, tests::BackendNames);

TYPED_TEST(ServiceTokenStoreTest, KeepsTokens) {
  ServiceTokenStore tokens(this->process());
  const ServiceTokenPair pairs[] = {{"t1", "2"}, {"t2", "3"}};
  ASSERT_TRUE(this->Run(tokens.SavePairs(pairs)).ok());
  EXPECT_TRUE(*this->Run(tokens.Exists({"t1", "2"})));
  EXPECT_FALSE(*this->Run(tokens.Exists({"t1", "3"})));
  EXPECT_EQ(this->Ask({"HGET", "service_token/token:t2/service_id:3", "permissions"}),
            store::Reply::Bulk(""));
  EXPECT_TRUE(*this->Run(tokens.Delete({"t1", "2"})));
  EXPECT_FALSE(*this->Run(tokens.Delete({"t1", "2"})));
}

TYPED_TEST(ServiceTokenStoreTest, SavesNothingWhenOnePairIsBlank) {
  ServiceTokenStore tokens(this->process());
  const ServiceTokenPair no_token[] = {{"t1", "2"}, {"", "2"}};
  EXPECT_EQ(ErrorCodeOf(this->Run(tokens.SavePairs(no_token))), ErrorCode::kInvalidServiceToken);
  const ServiceTokenPair no_service[] = {{"t1", "2"}, {"t2", std::nullopt}};
  EXPECT_EQ(ErrorCodeOf(this->Run(tokens.SavePairs(no_service))), ErrorCode::kInvalidServiceId);
  EXPECT_EQ(this->KeyCount(), 0);
}

}  // namespace
}  // namespace redouble::threescale
