#include "redouble/core/threescale/model/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/testing/process_for_test.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

template <typename Backend>
class ServiceStoreTest : public ProcessTest<Backend> {
 protected:
  Service Save(ServiceSave save) {
    absl::StatusOr<Service> saved = this->Run(ServiceStore(this->process()).Save(save));
    EXPECT_THAT(saved, IsOk());
    return saved.value_or(Service());
  }
  Service Save(std::string_view id, std::string_view provider_key = "pk") {
    return Save({.id = id, .provider_key = provider_key});
  }
  std::optional<Service> Load(std::string_view id) {
    return this->Run(ServiceStore(this->process()).LoadById(id)).value();
  }
  std::optional<ErrorCode> DeleteError(std::string_view id) {
    return ErrorCodeOf(this->Run(ServiceStore(this->process()).Delete(id)));
  }
  std::optional<ErrorCode> ChangeError(std::optional<std::string_view> from,
                                       std::optional<std::string_view> to) {
    return ErrorCodeOf(this->Run(ServiceStore(this->process()).ChangeProviderKey({from, to})));
  }
  // Calls `other` before the request with that index, and returns the store.
  std::unique_ptr<tests::InterceptedStore> Before(size_t request, std::function<void()> other) {
    auto store = std::make_unique<tests::InterceptedStore>(this->store());
    store->on_request = [request, other = std::move(other)](
                            size_t index) -> std::optional<absl::StatusOr<store::Reply>> {
      if (index == request) other();
      return std::nullopt;
    };
    return store;
  }
  static constexpr Hardening kAtomic = {.change_services_atomically = true};
  absl::StatusOr<Service> LoadWithKey(std::optional<std::string_view> id, std::string_view key) {
    return this->Run(ServiceStore(this->process()).LoadWithProviderKey(id, key));
  }
};
TYPED_TEST_SUITE(ServiceStoreTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(ServiceStoreTest, SavesInTheOrderOfTheOriginal) {
  tests::InterceptedStore store(this->store());
  ServiceSave save = {.id = "2", .provider_key = "pk"};
  save.backend_version = "oauth";
  save.state = "suspended";
  ASSERT_THAT(this->Run(ServiceStore(this->process_on(store)).Save(save)), IsOk());
  EXPECT_THAT(
      this->Documented(store.log()),
      ElementsAre("GET service/provider_key:pk/id", "SET service/provider_key:pk/id 2",
                  "SET service/id:2/referrer_filters_required 0",
                  "SET service/id:2/backend_version oauth", "SET service/id:2/provider_key pk",
                  "SET service/id:2/state suspended", "SADD service/provider_key:pk/ids 2",
                  "SADD services_set 2", "SADD provider_keys_set pk"));
  EXPECT_EQ(store.requests(), 9u);
}

TYPED_TEST(ServiceStoreTest, GivesBackWhatItSaved) {
  ServiceSave save = {.id = "2", .provider_key = "pk"};
  save.backend_version = "1";
  save.referrer_filters_required = true;
  save.state = "closed";
  this->Save(save);
  const std::optional<Service> service = this->Load("2");
  ASSERT_TRUE(service);
  EXPECT_EQ(service->provider_key, "pk");
  EXPECT_FALSE(service->active);
  EXPECT_TRUE(service->referrer_filters_required);
  EXPECT_TRUE(service->is_default);
  EXPECT_EQ(service->authentication(), BackendVersion::kUserKey);
  EXPECT_FALSE(this->Load("3"));
}

TYPED_TEST(ServiceStoreTest, MakesTheFirstServiceTheDefaultOne) {
  EXPECT_TRUE(this->Save("2").is_default);
  EXPECT_FALSE(this->Save("3").is_default);
  EXPECT_TRUE(this->Save({.id = "4", .provider_key = "pk", .is_default = true}).is_default);
  EXPECT_EQ(this->Value("service/provider_key:pk/id"), "4");
  EXPECT_FALSE(this->Load("2").value().is_default);
}

// Ids are compared as numbers, and these are both 0.
TYPED_TEST(ServiceStoreTest, StoresNoDefaultForAnIdThatIsNoNumber) {
  EXPECT_TRUE(this->Save("a").is_default);
  EXPECT_EQ(this->Value("service/provider_key:pk/id"), "nil");
  EXPECT_FALSE(this->Load("a").value().is_default);
}

TYPED_TEST(ServiceStoreTest, LeavesAMovedServiceAmongThoseOfTheOldProvider) {
  this->Save("2", "old");
  this->Save("2", "new");
  EXPECT_THAT(this->Run(ServiceStore(this->process()).List("old")), IsOkAndHolds(ElementsAre("2")));
  EXPECT_THAT(this->Run(ServiceStore(this->process()).List("new")), IsOkAndHolds(ElementsAre("2")));
}

TYPED_TEST(ServiceStoreTest, FindsTheServiceThatARequestMeans) {
  this->Save("2");
  this->Save("7");
  EXPECT_EQ(this->LoadWithKey(std::nullopt, "pk").value().id, "2");
  EXPECT_EQ(this->LoadWithKey("", "pk").value().id, "2");
  EXPECT_EQ(this->LoadWithKey("7", "pk").value().id, "7");
  EXPECT_EQ(this->LoadWithKey("x-7", "pk").value().id, "7");
  EXPECT_EQ(this->LoadWithKey("x-7-", "pk").value().id, "7");
}

TYPED_TEST(ServiceStoreTest, FindsAServiceWhoseIdHasADash) {
  this->Save("a-b");
  this->Save("2");
  EXPECT_EQ(this->LoadWithKey("a-b", "pk").value().id, "a-b");
}

TYPED_TEST(ServiceStoreTest, SaysWhyThereIsNoService) {
  this->Save("2");
  const auto code = [&](std::optional<std::string_view> id, std::string_view key) {
    return ErrorCodeOf(this->LoadWithKey(id, key).status());
  };
  this->Save("5", "other");
  EXPECT_EQ(code("9", "pk"), ErrorCode::kServiceIdInvalid);
  EXPECT_EQ(code("-", "pk"), ErrorCode::kServiceIdInvalid);
  EXPECT_EQ(code("2", "other"), ErrorCode::kServiceIdInvalid);
  EXPECT_EQ(code("2", "nobody"), ErrorCode::kProviderKeyInvalid);
  EXPECT_EQ(code(std::nullopt, "nobody"), ErrorCode::kProviderKeyInvalidOrServiceMissing);
}

TYPED_TEST(ServiceStoreTest, DeletesTheDefaultServiceLast) {
  this->Save("2");
  this->Save("3");
  EXPECT_EQ(this->DeleteError("2"), ErrorCode::kServiceIsDefaultService);
  EXPECT_EQ(this->DeleteError("9"), ErrorCode::kServiceIdInvalid);
  EXPECT_EQ(this->DeleteError("3"), std::nullopt);
  EXPECT_EQ(this->DeleteError("2"), std::nullopt);
  EXPECT_EQ(this->KeyCount(), 1);
  EXPECT_THAT(this->Ask({"SMEMBERS", "provider_keys_set"}).elements(),
              ElementsAre(store::Reply::Bulk("pk")));
}

TYPED_TEST(ServiceStoreTest, DeletesTheErrorsOfAService) {
  this->Save("2");
  this->Ask({"LPUSH", "errors/service_id:2", "{}"});
  this->Ask({"SADD", "service_id:2/applications", "a"});
  EXPECT_EQ(this->DeleteError("2"), std::nullopt);
  EXPECT_EQ(this->Ask({"EXISTS", "errors/service_id:2"}), store::Reply::Integer(0));
  EXPECT_EQ(this->Ask({"EXISTS", "service_id:2/applications"}), store::Reply::Integer(1));
}

TYPED_TEST(ServiceStoreTest, GivesAllServicesToANewKey) {
  this->Save("2", "old");
  this->Save("3", "old");
  EXPECT_EQ(this->ChangeError("old", "new"), std::nullopt);
  EXPECT_THAT(this->Run(ServiceStore(this->process()).List("new")),
              IsOkAndHolds(UnorderedElementsAre("2", "3")));
  EXPECT_THAT(this->Run(ServiceStore(this->process()).List("old")), IsOkAndHolds(IsEmpty()));
  EXPECT_EQ(this->Load("3").value().provider_key, "new");
  EXPECT_EQ(this->Value("service/provider_key:new/id"), "2");
  EXPECT_EQ(this->Ask({"SISMEMBER", "provider_keys_set", "new"}), store::Reply::Integer(0));
}

TYPED_TEST(ServiceStoreTest, RefusesAChangeOfKeysBeforeItWrites) {
  this->Save("2", "old");
  this->Save("3", "taken");
  EXPECT_EQ(this->ChangeError(std::nullopt, "new"), ErrorCode::kInvalidProviderKeys);
  EXPECT_EQ(this->ChangeError("old", ""), ErrorCode::kInvalidProviderKeys);
  EXPECT_EQ(this->ChangeError("old", "old"), ErrorCode::kInvalidProviderKeys);
  EXPECT_EQ(this->ChangeError("old", "taken"), ErrorCode::kProviderKeyExists);
  EXPECT_EQ(this->ChangeError("nobody", "new"), ErrorCode::kProviderKeyNotFound);
  EXPECT_EQ(this->Load("2").value().provider_key, "old");
}

// The services were already moved when the missing default fails the operation (4.2).
TYPED_TEST(ServiceStoreTest, BreaksOffAChangeOfKeysWithoutADefault) {
  this->Save("a", "old");
  const absl::Status changed =
      this->Run(ServiceStore(this->process()).ChangeProviderKey({"old", "new"}));
  EXPECT_TRUE(absl::IsInvalidArgument(changed));
  EXPECT_EQ(ErrorCodeOf(changed), std::nullopt);
  EXPECT_EQ(this->Load("a").value().provider_key, "new");
  EXPECT_THAT(this->Run(ServiceStore(this->process()).List("old")), IsOkAndHolds(ElementsAre("a")));
}

TYPED_TEST(ServiceStoreTest, DoesTheSameWhenHardened) {
  ServiceStore services(this->process(), this->kAtomic);
  ServiceSave save = {.id = "2", .provider_key = "pk"};
  save.backend_version = "1";
  save.referrer_filters_required = true;
  save.state = "closed";
  EXPECT_TRUE(this->Run(services.Save(save)).value().is_default);
  const Service service = this->Load("2").value();
  EXPECT_EQ(service.provider_key, "pk");
  EXPECT_FALSE(service.active);
  EXPECT_TRUE(service.referrer_filters_required);
  EXPECT_EQ(service.backend_version, "1");
  EXPECT_FALSE(this->Run(services.Save({.id = "3", .provider_key = "pk"})).value().is_default);
  EXPECT_THAT(this->Ask({"SMEMBERS", "services_set"}).elements(),
              UnorderedElementsAre(store::Reply::Bulk("2"), store::Reply::Bulk("3")));

  EXPECT_EQ(ErrorCodeOf(this->Run(services.ChangeProviderKey({"pk", "pk"}))),
            ErrorCode::kInvalidProviderKeys);
  EXPECT_EQ(ErrorCodeOf(this->Run(services.ChangeProviderKey({"nobody", "new"}))),
            ErrorCode::kProviderKeyNotFound);
  ASSERT_THAT(this->Run(services.ChangeProviderKey({"pk", "new"})), IsOk());
  EXPECT_EQ(ErrorCodeOf(this->Run(services.ChangeProviderKey({"old", "new"}))),
            ErrorCode::kProviderKeyExists);
  EXPECT_THAT(this->Run(services.List("new")), IsOkAndHolds(UnorderedElementsAre("2", "3")));
  EXPECT_THAT(this->Run(services.List("pk")), IsOkAndHolds(IsEmpty()));
  EXPECT_EQ(this->Value("service/provider_key:new/id"), "2");
  EXPECT_EQ(this->Value("service/provider_key:pk/id"), "nil");

  this->Ask({"LPUSH", "errors/service_id:3", "{}"});
  EXPECT_EQ(ErrorCodeOf(this->Run(services.Delete("9"))), ErrorCode::kServiceIdInvalid);
  EXPECT_EQ(ErrorCodeOf(this->Run(services.Delete("2"))), ErrorCode::kServiceIsDefaultService);
  ASSERT_THAT(this->Run(services.Delete("3")), IsOk());
  ASSERT_THAT(this->Run(services.Delete("2")), IsOk());
  EXPECT_EQ(this->KeyCount(), 1) << "provider_keys_set";
}

TYPED_TEST(ServiceStoreTest, MakesOneOfTwoFirstServicesTheDefaultWhenHardened) {
  if (this->in_cluster_layout()) return;  // There the option has no effect.
  const auto store = this->Before(1, [&] { this->Save("3"); });
  ServiceStore services(this->process_on(*store), this->kAtomic);
  EXPECT_FALSE(this->Run(services.Save({.id = "2", .provider_key = "pk"})).value().is_default);
  EXPECT_EQ(this->Value("service/provider_key:pk/id"), "3");
}

TYPED_TEST(ServiceStoreTest, KeepsWhatIsSavedDuringADeletionWhenHardened) {
  if (this->in_cluster_layout()) return;
  this->Save("2");
  const auto store = this->Before(1, [&] { this->Save("3"); });
  ServiceStore services(this->process_on(*store), this->kAtomic);
  EXPECT_EQ(ErrorCodeOf(this->Run(services.Delete("2"))), ErrorCode::kServiceIsDefaultService);
  EXPECT_THAT(this->Run(services.List("pk")), IsOkAndHolds(UnorderedElementsAre("2", "3")));

  const auto moving = this->Before(1, [&] { this->Save("3", "other"); });
  ServiceStore others(this->process_on(*moving), this->kAtomic);
  ASSERT_THAT(this->Run(others.Delete("3")), IsOk());
  EXPECT_EQ(this->Value("service/provider_key:other/id"), "nil")
      << "the default of the later provider was deleted";
}

TYPED_TEST(ServiceStoreTest, MovesWhatIsSavedDuringAChangeOfKeysWhenHardened) {
  if (this->in_cluster_layout()) return;
  this->Save("2", "old");
  const auto store = this->Before(1, [&] { this->Save("3", "old"); });
  ServiceStore services(this->process_on(*store), this->kAtomic);
  ASSERT_THAT(this->Run(services.ChangeProviderKey({"old", "new"})), IsOk());
  EXPECT_THAT(this->Run(services.List("new")), IsOkAndHolds(UnorderedElementsAre("2", "3")));
  EXPECT_EQ(this->Load("3").value().provider_key, "new");
}

TYPED_TEST(ServiceStoreTest, MovesNothingWithoutADefaultWhenHardened) {
  if (this->in_cluster_layout()) return;
  this->Save("a", "old");
  ServiceStore services(this->process(), this->kAtomic);
  EXPECT_TRUE(absl::IsInvalidArgument(this->Run(services.ChangeProviderKey({"old", "new"}))));
  EXPECT_EQ(this->Load("a").value().provider_key, "old");
  EXPECT_THAT(this->Run(services.List("new")), IsOkAndHolds(IsEmpty()));
}

TYPED_TEST(ServiceStoreTest, ForgetsWhatItChangedWhenHardened) {
  Memoizer memoizer(this->clock());
  Process process = this->process();
  process.memoizer = &memoizer;
  ServiceStore services(process, this->kAtomic);
  ASSERT_THAT(this->Run(services.Save({.id = "2", .provider_key = "pk"})), IsOk());
  EXPECT_TRUE(this->Run(services.LoadById("2")).value().has_value());
  ASSERT_THAT(this->Run(services.ChangeProviderKey({"pk", "new"})), IsOk());
  EXPECT_EQ(this->Run(services.LoadById("2")).value().value().provider_key, "new");
  EXPECT_THAT(this->Run(services.DefaultId("pk")), IsOkAndHolds(::testing::Eq(std::nullopt)));
  ASSERT_THAT(this->Run(services.Delete("2")), IsOk());
  EXPECT_FALSE(this->Run(services.LoadById("2")).value().has_value());
}

TYPED_TEST(ServiceStoreTest, KnowsWhoseAServiceIs) {
  this->Save("2");
  ServiceStore services(this->process());
  EXPECT_THAT(this->Run(services.IsOwnedBy("2", "pk")), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(services.IsOwnedBy("2", "other")), IsOkAndHolds(false));
  EXPECT_THAT(this->Run(services.IsOwnedBy("2", std::nullopt)), IsOkAndHolds(false));
  EXPECT_THAT(this->Run(services.IsOwnedBy("9", std::nullopt)), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(services.Exists("2")), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(services.Exists("9")), IsOkAndHolds(false));
}

TYPED_TEST(ServiceStoreTest, StaysStaleForAMinuteInAnotherProcess) {
  Memoizer own(this->clock());
  Memoizer others(this->clock());
  Process process = this->process();
  process.memoizer = &own;
  Process other = this->process();
  other.memoizer = &others;
  this->Save("2");
  EXPECT_TRUE(this->Run(ServiceStore(process).LoadById("2")).value().value().active);
  EXPECT_TRUE(this->Run(ServiceStore(other).LoadById("2")).value().value().active);
  ServiceSave save = {.id = "2", .provider_key = "pk"};
  save.state = "suspended";
  ASSERT_THAT(this->Run(ServiceStore(process).Save(save)), IsOk());
  EXPECT_FALSE(this->Run(ServiceStore(process).LoadById("2")).value().value().active);
  EXPECT_TRUE(this->Run(ServiceStore(other).LoadById("2")).value().value().active);
  this->Advance(absl::Seconds(61));
  EXPECT_FALSE(this->Run(ServiceStore(other).LoadById("2")).value().value().active);
}

TYPED_TEST(ServiceStoreTest, PassesOnTheErrorsOfRedis) {
  this->Ask({"SADD", "service/provider_key:pk/id", "x"});
  EXPECT_TRUE(absl::IsFailedPrecondition(
      this->Run(ServiceStore(this->process()).Save({.id = "2", .provider_key = "pk"})).status()));
  this->Ask({"SET", "service/provider_key:bad/ids", "x"});
  EXPECT_THAT(this->Run(ServiceStore(this->process()).Save({.id = "2", .provider_key = "bad"})),
              Not(IsOk()));
  EXPECT_THAT(this->Run(ServiceStore(this->process()).List("bad")), Not(IsOk()));
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
