#include "core/relayna/workflow_contract_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/python/error.h"
#include "core/store/errors.h"
#include "tests/support/backends.h"
#include "tests/support/intercepted_store.h"

namespace redouble::relayna {
namespace {

using python::Object;
using store::Reply;
using ::testing::ElementsAre;
using tests::InterceptedStore;

// Golden workflow_contract_release.
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
class WorkflowContractStoreTest : public tests::BackendTest<Backend> {
 protected:
  WorkflowContractStore Store(std::string owner = "",
                              std::optional<int64_t> ttl_seconds = kDefaultTtlSeconds) {
    return WorkflowContractStore(this->store(),
                                 {.ttl_seconds = ttl_seconds, .owner_token = std::move(owner)});
  }
  bool Acquire(std::string owner = "", std::optional<int64_t> ttl_seconds = kDefaultTtlSeconds) {
    WorkflowContractStore store = Store(std::move(owner), ttl_seconds);
    const absl::StatusOr<bool> acquired = this->Run(store.AcquireDedup(Contract()));
    EXPECT_TRUE(acquired.ok()) << acquired.status();
    return acquired.value_or(false);
  }
};
TYPED_TEST_SUITE(WorkflowContractStoreTest, tests::Backends, tests::BackendNames);

TYPED_TEST(WorkflowContractStoreTest, LeavesNothingBehindAFullRound) {
  InterceptedStore watched(this->store());
  WorkflowContractStore store(watched);
  const WorkflowContract contract = Contract();
  EXPECT_TRUE(*this->Run(store.AcquireDedup(contract)));
  EXPECT_FALSE(*this->Run(store.AcquireDedup(contract)));
  EXPECT_TRUE(this->Run(store.MarkInflight(contract)).ok());
  EXPECT_EQ(this->Ttl(kInflight), 86400);
  EXPECT_TRUE(this->Run(store.ClearInflight(contract)).ok());
  EXPECT_TRUE(this->Run(store.ReleaseDedup(contract)).ok());
  const std::string signature(kSignature), inflight(kInflight);
  EXPECT_THAT(watched.log(),
              ElementsAre("SET " + kMarker + " 1 NX EX 86400", "SET " + kMarker + " 1 NX EX 86400",
                          "HSET " + inflight + " " + signature +
                              R"( {"action": "x", "dedup_key_fields": ["doc"], )"
                              R"("payload": {"doc": "D1"}, "stage": "ocr", "task_id": "t1"})",
                          "EXPIRE " + inflight + " 86400", "HDEL " + inflight + " " + signature,
                          "DEL " + kMarker));
  EXPECT_EQ(watched.requests(), 6u);
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(WorkflowContractStoreTest, TakesNoTimeToLiveForForEver) {
  EXPECT_TRUE(this->Acquire("", std::nullopt));
  WorkflowContractStore store = this->Store("", std::nullopt);
  EXPECT_TRUE(this->Run(store.MarkInflight(Contract())).ok());
  EXPECT_EQ(this->Ttl(kMarker), -1);
  EXPECT_EQ(this->Ttl(kInflight), -1);
}

// Golden workflow_contract_ttl: unlike elsewhere zero is a time to live.
TYPED_TEST(WorkflowContractStoreTest, ATimeToLiveOfZeroIsRefusedOrDeletes) {
  WorkflowContractStore store = this->Store("", 0);
  EXPECT_FALSE(this->Run(store.AcquireDedup(Contract())).ok());
  EXPECT_TRUE(this->Run(store.MarkInflight(Contract())).ok());
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(WorkflowContractStoreTest, RefusesToStoreWhatItCouldSign) {
  WorkflowContract contract = Contract();
  contract.payload = Object({{"doc", python::Opaque{"UUID", "u"}}});
  WorkflowContractStore store = this->Store();
  EXPECT_TRUE(*this->Run(store.AcquireDedup(contract)));
  EXPECT_EQ(python::ErrorType(this->Run(store.MarkInflight(contract))), "TypeError");
  EXPECT_EQ(this->Ask({"EXISTS", kInflight}).integer(), 0);
}

TYPED_TEST(WorkflowContractStoreTest, RefusesWhatItCannotSignBeforeItSendsAnything) {
  WorkflowContract contract = Contract();
  contract.task_id = "\xFF";
  InterceptedStore watched(this->store());
  for (const std::string owner : {"", "me"}) {
    WorkflowContractStore store(watched, {.owner_token = owner});
    EXPECT_FALSE(this->Run(store.AcquireDedup(contract)).ok());
    EXPECT_FALSE(this->Run(store.MarkInflight(contract)).ok());
    EXPECT_FALSE(this->Run(store.ClearInflight(contract)).ok());
    EXPECT_FALSE(this->Run(store.ReleaseDedup(contract)).ok());
  }
  EXPECT_EQ(watched.requests(), 0u);
}

// W2, and its remedy.
TYPED_TEST(WorkflowContractStoreTest, AReleaseFreesTheMarkerOfTheNextUnlessItKnowsItsOwner) {
  for (const bool owned : {false, true}) {
    this->Ask({"FLUSHALL"});
    const WorkflowContract contract = Contract();
    WorkflowContractStore first = this->Store(owned ? "a" : "", 60);
    WorkflowContractStore second = this->Store(owned ? "b" : "", 60);
    EXPECT_TRUE(*this->Run(first.AcquireDedup(contract)));
    EXPECT_TRUE(this->Run(first.MarkInflight(contract)).ok());
    this->Advance(absl::Seconds(61));
    EXPECT_TRUE(*this->Run(second.AcquireDedup(contract)));
    EXPECT_TRUE(this->Run(second.MarkInflight(contract)).ok());
    EXPECT_TRUE(this->Run(first.ClearInflight(contract)).ok());
    EXPECT_TRUE(this->Run(first.ReleaseDedup(contract)).ok());
    EXPECT_EQ(this->Ask({"HEXISTS", kInflight, kSignature}).integer(), owned);
    EXPECT_EQ(this->Acquire(owned ? "c" : "", 60), !owned);
    if (!owned) continue;
    EXPECT_TRUE(this->Run(second.ClearInflight(contract)).ok());
    EXPECT_EQ(this->Ask({"EXISTS", kInflight}).integer(), 0);
    EXPECT_TRUE(this->Run(second.ReleaseDedup(contract)).ok());
    EXPECT_TRUE(this->Acquire("c", 60));
  }
}

// W3, and its remedy.
TYPED_TEST(WorkflowContractStoreTest, AnEntryWithoutItsTimeToLiveStaysUnlessTheyComeTogether) {
  for (const bool owned : {false, true}) {
    this->Ask({"FLUSHALL"});
    InterceptedStore watched(this->store());
    watched.on_request = [](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index == 0) return std::nullopt;
      return absl::StatusOr<Reply>(store::NotSentError("crashed"));
    };
    WorkflowContractStore store(watched, {.owner_token = owned ? "me" : ""});
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
    EXPECT_FALSE(this->Run(store.ClearInflight(Contract())).ok());
    this->Ask({"DEL", kMarker});
  }
}

TYPED_TEST(WorkflowContractStoreTest, PassesTheErrorsOfTheStoreOn) {
  InterceptedStore watched(this->store());
  watched.on_request = [](size_t) -> std::optional<absl::StatusOr<Reply>> {
    return absl::StatusOr<Reply>(store::OutcomeUnknownError("gone"));
  };
  for (const std::string owner : {"", "me"}) {
    WorkflowContractStore store(watched, {.owner_token = owner});
    EXPECT_TRUE(absl::IsUnavailable(this->Run(store.AcquireDedup(Contract())).status()));
    EXPECT_TRUE(absl::IsUnavailable(this->Run(store.MarkInflight(Contract()))));
    EXPECT_TRUE(absl::IsUnavailable(this->Run(store.ClearInflight(Contract()))));
    EXPECT_TRUE(absl::IsUnavailable(this->Run(store.ReleaseDedup(Contract()))));
  }
}

}  // namespace
}  // namespace redouble::relayna
