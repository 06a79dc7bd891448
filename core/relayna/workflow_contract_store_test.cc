#include "redouble/core/relayna/workflow_contract_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/python/error.h"
#include "redouble/core/relayna/testing/relayna_for_test.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::relayna {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using python::Object;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::Not;
using tests::InterceptedStore;

// From tests/data/golden/relayna/workflow_contract_release.json.
constexpr std::string_view kSignature =
    "67b816dca4e41aa515eece93fd78e301630a78bf24f97f6d94251622f6d98f8c";
constexpr std::string_view kInflight = "relayna:workflow:contract:ocr:inflight:t1";
const std::string kMarker = "relayna:workflow:contract:ocr:dedup:t1:" + std::string(kSignature);

WorkflowContract Contract() {
  return {.stage = "ocr",
          .task_id = "t1",
          .action = "x",
          .payload = Object({{"doc", "D1"}, {"junk", 1}}),
          .dedup_key_fields = {"doc"}};
}

template <typename Backend>
class WorkflowContractStoreTest : public RelaynaTest<Backend> {
 protected:
  WorkflowContractStore Store(std::string owner = "",
                              std::optional<int64_t> ttl_seconds = kDefaultTtlSeconds) {
    return WorkflowContractStore(
        this->store(),
        this->Options(WorkflowContractOptions{.ttl_seconds = ttl_seconds,
                                              .hardening = {.owner_token = std::move(owner)}}));
  }
  bool Acquire(std::string owner = "", std::optional<int64_t> ttl_seconds = kDefaultTtlSeconds) {
    WorkflowContractStore store = Store(std::move(owner), ttl_seconds);
    const absl::StatusOr<bool> acquired = this->Run(store.AcquireDedup(Contract()));
    EXPECT_THAT(acquired, IsOk());
    return acquired.value_or(false);
  }
};
TYPED_TEST_SUITE(WorkflowContractStoreTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(WorkflowContractStoreTest, DeletesItsKeysAfterAFullRound) {
  InterceptedStore watched(this->store());
  WorkflowContractStore store(watched, this->Options(WorkflowContractOptions()));
  const WorkflowContract contract = Contract();
  EXPECT_THAT(this->Run(store.AcquireDedup(contract)), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(store.AcquireDedup(contract)), IsOkAndHolds(false));
  EXPECT_THAT(this->Run(store.MarkInflight(contract)), IsOk());
  EXPECT_EQ(this->Ttl(kInflight), 86400);
  EXPECT_THAT(this->Run(store.ClearInflight(contract)), IsOk());
  EXPECT_THAT(this->Run(store.ReleaseDedup(contract)), IsOk());
  const std::string signature(kSignature), inflight(kInflight);
  EXPECT_THAT(this->Documented(watched.log()),
              ElementsAre("SET " + kMarker + " 1 NX EX 86400", "SET " + kMarker + " 1 NX EX 86400",
                          "HSET " + inflight + " " + signature +
                              R"( {"action": "x", "dedup_key_fields": ["doc"], )"
                              R"("payload": {"doc": "D1"}, "stage": "ocr", "task_id": "t1"})",
                          "EXPIRE " + inflight + " 86400", "HDEL " + inflight + " " + signature,
                          "DEL " + kMarker));
  EXPECT_EQ(watched.requests(), 6u);
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(WorkflowContractStoreTest, SetsNoTtlWithoutOne) {
  EXPECT_TRUE(this->Acquire("", std::nullopt));
  WorkflowContractStore store = this->Store("", std::nullopt);
  EXPECT_THAT(this->Run(store.MarkInflight(Contract())), IsOk());
  EXPECT_EQ(this->Ttl(kMarker), -1);
  EXPECT_EQ(this->Ttl(kInflight), -1);
}

// docs/systems/relayna.md 4.12 and 4.13: unlike in the status store, a TTL of 0 is sent.
TYPED_TEST(WorkflowContractStoreTest, ATtlOfZeroIsRefusedOrDeletes) {
  WorkflowContractStore store = this->Store("", 0);
  EXPECT_THAT(this->Run(store.AcquireDedup(Contract())), Not(IsOk()));
  EXPECT_THAT(this->Run(store.MarkInflight(Contract())), IsOk());
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(WorkflowContractStoreTest, RejectsAnEntryWithoutAJsonForm) {
  WorkflowContract contract = Contract();
  contract.payload = Object({{"doc", python::Opaque{"UUID", "u"}}});
  WorkflowContractStore store = this->Store();
  EXPECT_THAT(this->Run(store.AcquireDedup(contract)), IsOkAndHolds(true));
  EXPECT_EQ(python::ErrorType(this->Run(store.MarkInflight(contract))), "TypeError");
  EXPECT_EQ(this->Ask({"EXISTS", kInflight}).integer(), 0);
}

TYPED_TEST(WorkflowContractStoreTest, RejectsAnUnsignableContractBeforeSending) {
  WorkflowContract contract = Contract();
  contract.task_id = "\xFF";
  InterceptedStore watched(this->store());
  for (const std::string owner : {"", "me"}) {
    WorkflowContractStore store(
        watched, this->Options(WorkflowContractOptions{.hardening = {.owner_token = owner}}));
    EXPECT_THAT(this->Run(store.AcquireDedup(contract)), Not(IsOk()));
    EXPECT_THAT(this->Run(store.MarkInflight(contract)), Not(IsOk()));
    EXPECT_THAT(this->Run(store.ClearInflight(contract)), Not(IsOk()));
    EXPECT_THAT(this->Run(store.ReleaseDedup(contract)), Not(IsOk()));
  }
  EXPECT_EQ(watched.requests(), 0u);
}

// W2 and its remedy.
TYPED_TEST(WorkflowContractStoreTest, AReleaseDeletesTheNextMarkerUnlessMarkersHaveOwners) {
  for (const bool owned : {false, true}) {
    this->Ask({"FLUSHALL"});
    const WorkflowContract contract = Contract();
    WorkflowContractStore first = this->Store(owned ? "a" : "", 60);
    WorkflowContractStore second = this->Store(owned ? "b" : "", 60);
    EXPECT_THAT(this->Run(first.AcquireDedup(contract)), IsOkAndHolds(true));
    EXPECT_THAT(this->Run(first.MarkInflight(contract)), IsOk());
    this->Advance(absl::Seconds(61));
    EXPECT_THAT(this->Run(second.AcquireDedup(contract)), IsOkAndHolds(true));
    EXPECT_THAT(this->Run(second.MarkInflight(contract)), IsOk());
    EXPECT_THAT(this->Run(first.ClearInflight(contract)), IsOk());
    EXPECT_THAT(this->Run(first.ReleaseDedup(contract)), IsOk());
    EXPECT_EQ(this->Ask({"HEXISTS", kInflight, kSignature}).integer(), owned);
    EXPECT_EQ(this->Acquire(owned ? "c" : "", 60), !owned);
    if (!owned) continue;
    EXPECT_THAT(this->Run(second.ClearInflight(contract)), IsOk());
    EXPECT_EQ(this->Ask({"EXISTS", kInflight}).integer(), 0);
    EXPECT_THAT(this->Run(second.ReleaseDedup(contract)), IsOk());
    EXPECT_TRUE(this->Acquire("c", 60));
  }
}

// W3 and its remedy.
TYPED_TEST(WorkflowContractStoreTest, AnEntryMayLackItsTtlUnlessBothAreSetTogether) {
  for (const bool owned : {false, true}) {
    this->Ask({"FLUSHALL"});
    InterceptedStore watched(this->store());
    watched.on_request = [](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index == 0) return std::nullopt;
      return absl::StatusOr<Reply>(store::NotSentError("crashed"));
    };
    WorkflowContractStore store(
        watched,
        this->Options(WorkflowContractOptions{.hardening = {.owner_token = owned ? "me" : ""}}));
    EXPECT_EQ(this->Run(store.MarkInflight(Contract())).ok(), owned);
    EXPECT_EQ(this->Ttl(kInflight), owned ? 86400 : -1);
  }
}

TYPED_TEST(WorkflowContractStoreTest, AKeyOfTheWrongTypeFails) {
  this->Ask({"SET", kInflight, "x"});
  for (const std::string owner : {"", "me"}) {
    WorkflowContractStore store = this->Store(owner);
    EXPECT_EQ(store::ServerErrorCode(this->Run(store.MarkInflight(Contract()))), "WRONGTYPE");
    EXPECT_TRUE(this->Acquire(owner) || owner.empty());
    EXPECT_THAT(this->Run(store.ClearInflight(Contract())), Not(IsOk()));
    this->Ask({"DEL", kMarker});
  }
}

TYPED_TEST(WorkflowContractStoreTest, ReturnsTheErrorsOfTheStore) {
  InterceptedStore watched(this->store());
  watched.on_request = [](size_t) -> std::optional<absl::StatusOr<Reply>> {
    return absl::StatusOr<Reply>(store::OutcomeUnknownError("gone"));
  };
  for (const std::string owner : {"", "me"}) {
    WorkflowContractStore store(
        watched, this->Options(WorkflowContractOptions{.hardening = {.owner_token = owner}}));
    EXPECT_THAT(this->Run(store.AcquireDedup(Contract())),
                StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_THAT(this->Run(store.MarkInflight(Contract())),
                StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_THAT(this->Run(store.ClearInflight(Contract())),
                StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_THAT(this->Run(store.ReleaseDedup(Contract())),
                StatusIs(absl::StatusCode::kUnavailable));
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::relayna
