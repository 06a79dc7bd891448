#include "redouble/core/threescale/model/application.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/model/service_token.h"
#include "redouble/core/threescale/testing/process_for_test.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::MatchesRegex;
using ::testing::Not;
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
TYPED_TEST_SUITE(ApplicationStoreTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(ApplicationStoreTest, SavesWhatIsGivenInOnePipeline) {
  tests::InterceptedStore store(this->store());
  ApplicationSave save = {.service_id = "2", .id = "a1", .state = "active"};
  save.plan_id = "44";
  save.redirect_url = "https://example.com";
  ASSERT_THAT(this->Run(ApplicationStore(this->process_on(store)).Save(save)), IsOk());
  EXPECT_EQ(store.requests(), 1u);
  EXPECT_THAT(this->Documented(store.log()),
              ElementsAre("SET application/service_id:2/id:a1/state active",
                          "SET application/service_id:2/id:a1/plan_id 44",
                          "SET application/service_id:2/id:a1/redirect_url https://example.com",
                          "SADD service_id:2/applications a1"));
}

TYPED_TEST(ApplicationStoreTest, CannotTakeAnAttributeBack) {
  ApplicationSave save = {.service_id = "2", .id = "a1", .state = "active"};
  save.plan_id = "44";
  save.plan_name = "Test plan";
  ASSERT_THAT(this->Run(this->applications().Save(save)), IsOk());
  save = {.service_id = "2", .id = "a1", .state = "whatever"};
  ASSERT_THAT(this->Run(this->applications().Save(save)), IsOk());
  const auto application = this->Run(this->applications().LoadOrFail(kApplication));
  ASSERT_THAT(application, IsOk());
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
  ASSERT_THAT(this->Save(), IsOk());
  ASSERT_THAT(this->Run(this->applications().CreateKey(kApplication, "k1", this->rng_)), IsOk());
  ASSERT_THAT(this->Run(this->applications().CreateReferrerFilter(kApplication, "f")), IsOk());
  ASSERT_THAT(this->Run(this->applications().SaveUserKey({"2", "uk"}, "a1")), IsOk());
  ASSERT_THAT(this->Run(this->applications().Delete(kApplication)), IsOk());
  EXPECT_EQ(ErrorCodeOf(this->Run(this->applications().Delete(kApplication))),
            ErrorCode::kApplicationNotFound);
  EXPECT_EQ(this->KeyCount(), 3);
  EXPECT_EQ(this->FindError({.user_key = "uk"}), ErrorCode::kApplicationNotFound);
  ASSERT_THAT(this->Save(), IsOk());
  EXPECT_THAT(this->Run(this->applications().HasKey(kApplication, "k1")), IsOkAndHolds(true));
}

TYPED_TEST(ApplicationStoreTest, FindsTheApplicationThatATransactionMeans) {
  ASSERT_THAT(this->Save(), IsOk());
  ASSERT_THAT(this->Run(this->applications().SaveUserKey({"2", "uk"}, "a1")), IsOk());
  EXPECT_THAT(this->Run(this->applications().FindId("2", {.app_id = "a1"})), IsOkAndHolds("a1"));
  EXPECT_THAT(this->Run(this->applications().FindId("2", {.user_key = "uk"})), IsOkAndHolds("a1"));
  EXPECT_EQ(this->FindError({.app_id = "a1", .user_key = "uk"}), ErrorCode::kAuthenticationError);
  EXPECT_EQ(this->FindError({.app_id = "", .user_key = "uk"}), ErrorCode::kAuthenticationError);
  EXPECT_EQ(this->FindError({.user_key = "nope"}), ErrorCode::kUserKeyInvalid);
  EXPECT_EQ(this->FindError({.app_id = "nope"}), ErrorCode::kApplicationNotFound);
  EXPECT_EQ(this->FindError({}), ErrorCode::kApplicationNotFound);
}

TYPED_TEST(ApplicationStoreTest, KeepsUserKeys) {
  const auto load = [&](std::string_view key) {
    return this->Run(this->applications().LoadIdByUserKey({"2", key})).value();
  };
  ASSERT_THAT(this->Run(this->applications().SaveUserKey({"2", "uk"}, "a1")), IsOk());
  ASSERT_THAT(this->Run(this->applications().SaveUserKey({"2", "uk"}, "a2")), IsOk());
  ASSERT_THAT(this->Run(this->applications().SaveUserKey({"2", "uk2"}, "a2")), IsOk());
  EXPECT_EQ(load("uk"), "a2");
  EXPECT_EQ(load("uk2"), "a2");
  EXPECT_THAT(this->Run(this->applications().DeleteUserKey({"2", "uk"})), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(this->applications().DeleteUserKey({"2", "uk"})), IsOkAndHolds(false));
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
  ASSERT_THAT(this->Save(), IsOk());
  EXPECT_THAT(this->Run(this->applications().HasKeys(kApplication)), IsOkAndHolds(false));
  EXPECT_THAT(this->Run(this->applications().CreateKey(kApplication, "k", this->rng_)),
              IsOkAndHolds("k"));
  EXPECT_THAT(this->Run(this->applications().CreateKey(kApplication, "k", this->rng_)),
              IsOkAndHolds("k"));
  ASSERT_OK_AND_ASSIGN(const std::string drawn, this->Run(this->applications().CreateKey(
                                                    kApplication, std::nullopt, this->rng_)));
  EXPECT_THAT(drawn, MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(drawn.size(), 32u);
  EXPECT_THAT(this->Run(this->applications().Keys(kApplication)),
              IsOkAndHolds(UnorderedElementsAre("k", drawn)));
  EXPECT_THAT(this->Run(this->applications().DeleteKey(kApplication, "k")), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(this->applications().DeleteKey(kApplication, "k")), IsOkAndHolds(false));
  EXPECT_THAT(this->Run(this->applications().HasKeys(kApplication)), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(this->applications().HasKey(kApplication, "k")), IsOkAndHolds(false));
  EXPECT_EQ(ErrorCodeOf(this->Run(this->applications().DeleteKey({"2", "x"}, "k")).status()),
            ErrorCode::kApplicationNotFound);
}

TYPED_TEST(ApplicationStoreTest, KeepsReferrerFilters) {
  ASSERT_THAT(this->Save(), IsOk());
  EXPECT_THAT(this->Run(this->applications().CreateReferrerFilter(kApplication, "*.a.b")),
              IsOkAndHolds("*.a.b"));
  EXPECT_EQ(
      ErrorCodeOf(this->Run(this->applications().CreateReferrerFilter(kApplication, " ")).status()),
      ErrorCode::kReferrerFilterInvalid);
  EXPECT_THAT(this->Run(this->applications().HasReferrerFilters(kApplication)), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(this->applications().ReferrerFilters(kApplication)),
              IsOkAndHolds(ElementsAre("*.a.b")));
  EXPECT_THAT(this->Run(this->applications().DeleteReferrerFilter(kApplication, "*.a.b")),
              IsOkAndHolds(true));
  EXPECT_THAT(this->Run(this->applications().DeleteReferrerFilter(kApplication, "*.a.b")),
              IsOkAndHolds(false));
  EXPECT_THAT(this->Run(this->applications().HasReferrerFilters(kApplication)),
              IsOkAndHolds(false));
}

// The cache entry of a single key survives the deletion of that key.
TYPED_TEST(ApplicationStoreTest, AcceptsADeletedKeyForAMinuteWithAMemoizer) {
  Memoizer memoizer(this->clock());
  Process process = this->process();
  process.memoizer = &memoizer;
  ApplicationStore applications(process);
  ASSERT_THAT(this->Save(), IsOk());
  ASSERT_THAT(this->Run(applications.CreateKey(kApplication, "k", this->rng_)), IsOk());
  EXPECT_THAT(this->Run(applications.HasKey(kApplication, "k")), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(applications.HasKeys(kApplication)), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(applications.DeleteKey(kApplication, "k")), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(applications.HasKey(kApplication, "k")), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(applications.HasKeys(kApplication)), IsOkAndHolds(false));
  this->Advance(absl::Seconds(61));
  EXPECT_THAT(this->Run(applications.HasKey(kApplication, "k")), IsOkAndHolds(false));
}

TYPED_TEST(ApplicationStoreTest, DeniesANewApplicationForAMinuteWithAMemoizer) {
  Memoizer memoizer(this->clock());
  Process process = this->process();
  process.memoizer = &memoizer;
  EXPECT_THAT(this->Run(ApplicationStore(process).Exists(kApplication)), IsOkAndHolds(false));
  ASSERT_THAT(this->Save(), IsOk());  // By another process.
  EXPECT_THAT(this->Run(ApplicationStore(process).Exists(kApplication)), IsOkAndHolds(false));
  const ApplicationSave save = {.service_id = "2", .id = "a1", .state = "active"};
  ASSERT_THAT(this->Run(ApplicationStore(process).Save(save)), IsOk());
  EXPECT_THAT(this->Run(ApplicationStore(process).Exists(kApplication)), IsOkAndHolds(true));
}

TYPED_TEST(ApplicationStoreTest, PassesOnTheErrorsOfRedis) {
  this->Ask({"SET", "service_id:2/applications", "x"});
  EXPECT_TRUE(absl::IsFailedPrecondition(this->Save()));
  this->Ask({"SADD", "application/service_id:2/key:uk/id", "x"});
  EXPECT_THAT(this->Run(this->applications().LoadIdByUserKey({"2", "uk"})), Not(IsOk()));
}

template <typename Backend>
class ServiceTokenStoreTest : public ProcessTest<Backend> {};
TYPED_TEST_SUITE(ServiceTokenStoreTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(ServiceTokenStoreTest, KeepsTokens) {
  ServiceTokenStore tokens(this->process());
  const ServiceTokenPair pairs[] = {{"t1", "2"}, {"t2", "3"}};
  ASSERT_THAT(this->Run(tokens.SavePairs(pairs)), IsOk());
  EXPECT_THAT(this->Run(tokens.Exists({"t1", "2"})), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(tokens.Exists({"t1", "3"})), IsOkAndHolds(false));
  EXPECT_EQ(this->Ask({"HGET", "service_token/token:t2/service_id:3", "permissions"}),
            store::Reply::Bulk(""));
  EXPECT_THAT(this->Run(tokens.Delete({"t1", "2"})), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(tokens.Delete({"t1", "2"})), IsOkAndHolds(false));
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
}  // namespace redouble::inline v0_1::threescale
