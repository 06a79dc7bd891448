#include "redouble/core/studio/registry/registry_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/python/json.h"
#include "redouble/tests/support/studio_test.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kRecordA = "studio:services:by-id:a";
constexpr std::string_view kAll = "studio:services:all";

std::string Pair(std::string_view url) {
  return "studio:services:by-env-url:prod:" + std::string(url);
}

std::string TextOf(const ServiceRecord& record) {
  return python::PydanticJson(ToValue(record)).value();
}

template <typename Backend>
class RegistryStoreTest : public StudioBackendTest<Backend> {
 protected:
  RegistryStore Records(store::Store& store, bool hardened = false) {
    return RegistryStore(
        store, this->Options(RegistryStoreOptions{.hardening = {.atomic_registry = hardened}}));
  }
  absl::Status Create(const ServiceRecord& record) {
    RegistryStore records = Records(this->store());
    return this->Run(records.Create(record));
  }
  absl::Status Create(const std::string& id, const std::string& url) {
    return Create(Service(id, url));
  }
  absl::Status Update(const ServiceRecord& record) {
    RegistryStore records = Records(this->store());
    return this->Run(records.Update(record));
  }
  absl::Status Delete(std::string_view id) {
    RegistryStore records = Records(this->store());
    return this->Run(records.Delete(id));
  }
  std::vector<std::string> ListedIds() {
    RegistryStore records = Records(this->store());
    std::vector<std::string> ids;
    const std::vector<ServiceRecord> listed = this->Run(records.List()).value();
    for (const ServiceRecord& record : listed) ids.push_back(record.service_id);
    return ids;
  }
  static RegistryStore::Change Rename(const std::string& name) {
    return [name](const ServiceRecord& present) -> absl::StatusOr<ServiceRecord> {
      ServiceRecord next = present;
      next.name = name;
      return next;
    };
  }
};
TYPED_TEST_SUITE(RegistryStoreTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(RegistryStoreTest, CreatesByThreeCommands) {
  const ServiceRecord record = Service("a", "http://a.test");
  const auto log = this->LogOf([&](store::Store& store) {
    RegistryStore records = this->Records(store);
    return this->Run(records.Create(record));
  });
  EXPECT_THAT(log, ElementsAre("SET studio:services:by-id:a " + TextOf(record) + " NX",
                               "SET " + Pair("http://a.test") + " a NX",
                               "SADD " + std::string(kAll) + " a"));
  EXPECT_EQ(this->Ttl(kRecordA), -1);
  EXPECT_EQ(this->Ttl(kAll), -1);
  EXPECT_EQ(this->Ttl(Pair("http://a.test")), -1);
}

TYPED_TEST(RegistryStoreTest, DeletesTheRecordIfItsPairIsTaken) {
  ASSERT_THAT(this->Create("a", "http://a.test"), IsOk());
  const auto log = this->LogOf([&](store::Store& store) {
    RegistryStore records = this->Records(store);
    const absl::Status status = this->Run(records.Create(Service("b", "http://a.test")));
    EXPECT_EQ(ErrorOf(status), "DuplicateServiceError");
    EXPECT_EQ(status.message(),
              "A service is already registered for environment 'prod' and base_url "
              "'http://a.test'.");
    return status;
  });
  EXPECT_EQ(log.size(), 3u);
  EXPECT_EQ(log.back(), "DEL studio:services:by-id:b");
  EXPECT_THAT(this->ListedIds(), ElementsAre("a"));
}

TYPED_TEST(RegistryStoreTest, LetsTwoEnvironmentsHaveOneUrl) {
  ASSERT_THAT(this->Create("a", "http://a.test"), IsOk());
  ServiceRecord staging = Service("b", "http://a.test");
  staging.environment = "staging";
  EXPECT_THAT(this->Create(staging), IsOk());
  EXPECT_EQ(this->Value("studio:services:by-env-url:staging:http://a.test"), "b");
}

TYPED_TEST(RegistryStoreTest, SaysThatAnIdIsTaken) {
  ASSERT_THAT(this->Create("a", "http://a.test"), IsOk());
  const absl::Status status = this->Create("a", "http://b.test");
  EXPECT_EQ(ErrorOf(status), "DuplicateServiceError");
  EXPECT_EQ(status.message(), "Service 'a' is already registered.");
  EXPECT_FALSE(this->Exists(Pair("http://b.test")));
}

TYPED_TEST(RegistryStoreTest, ListsByEnvironmentThenNameThenId) {
  const auto add = [&](const char* id, const char* name, const char* environment) {
    ServiceRecord record = Service(id, std::string("http://") + id + ".test");
    record.name = name;
    record.environment = environment;
    EXPECT_THAT(this->Create(record), IsOk());
  };
  add("z", "alpha", "prod");
  add("y", "BETA", "prod");
  add("x", "beta", "prod");
  add("w", "alpha", "dev");
  EXPECT_THAT(this->ListedIds(), ElementsAre("w", "z", "x", "y"));
}

TYPED_TEST(RegistryStoreTest, PassesOverIdsWithoutARecord) {
  ASSERT_THAT(this->Create("a", "http://a.test"), IsOk());
  this->Ask({"SADD", kAll, "gone"});
  EXPECT_THAT(this->ListedIds(), ElementsAre("a"));
}

TYPED_TEST(RegistryStoreTest, ReturnsNulloptForAMissingId) {
  RegistryStore records = this->Records(this->store());
  EXPECT_THAT(this->Run(records.Get("none")), IsOkAndHolds(Eq(std::nullopt)));
  EXPECT_EQ(ErrorOf(this->Update(Service("none", "http://a.test"))), "ServiceNotFoundError");
  const absl::Status deleted = this->Delete("none");
  EXPECT_EQ(deleted.message(), "Service 'none' was not found.");
}

TYPED_TEST(RegistryStoreTest, UpdatesByFiveCommandsAndSixWhenThePairMoves) {
  ASSERT_THAT(this->Create("a", "http://a.test"), IsOk());
  const auto update = [&](const ServiceRecord& record) {
    return this->LogOf([&](store::Store& store) {
      RegistryStore records = this->Records(store);
      return this->Run(records.Update(record));
    });
  };
  ServiceRecord record = Service("a", "http://a.test");
  record.name = "Renamed";
  EXPECT_THAT(
      update(record),
      ElementsAre("GET studio:services:by-id:a", "GET " + Pair("http://a.test"),
                  "SET studio:services:by-id:a " + TextOf(record),
                  "SADD " + std::string(kAll) + " a", "SET " + Pair("http://a.test") + " a"));
  record.base_url = "http://b.test";
  const auto log = update(record);
  EXPECT_EQ(log.size(), 6u);
  EXPECT_EQ(log.back(), "DEL " + Pair("http://a.test"));
}

TYPED_TEST(RegistryStoreTest, RefusesAnUpdateToAPairThatAnotherHas) {
  ASSERT_THAT(this->Create("a", "http://a.test"), IsOk());
  ASSERT_THAT(this->Create("b", "http://b.test"), IsOk());
  EXPECT_EQ(ErrorOf(this->Update(Service("b", "http://a.test"))), "DuplicateServiceError");
  EXPECT_EQ(this->Value(Pair("http://b.test")), "b") << "nothing was written";
}

TYPED_TEST(RegistryStoreTest, DeletesThePairThatTheRecordNames) {
  ASSERT_THAT(this->Create("a", "http://a.test"), IsOk());
  const auto log = this->LogOf([&](store::Store& store) {
    RegistryStore records = this->Records(store);
    return this->Run(records.Delete("a"));
  });
  EXPECT_THAT(log, ElementsAre("GET studio:services:by-id:a", "DEL studio:services:by-id:a",
                               "DEL " + Pair("http://a.test"), "SREM " + std::string(kAll) + " a"));
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(RegistryStoreTest, ReturnsTheErrorOfAChange) {
  for (const bool hardened : {false, true}) {
    this->Ask({"FLUSHALL"});
    ASSERT_THAT(this->Create("a", "http://a.test"), IsOk());
    RegistryStore records = this->Records(this->store(), hardened);
    const RegistryStore::Change refuse = [](const ServiceRecord&) {
      return absl::StatusOr<ServiceRecord>(python::ValueError("no"));
    };
    EXPECT_EQ(ErrorOf(this->Run(records.Modify("a", refuse)).status()), "ValueError");
    EXPECT_EQ(ErrorOf(this->Run(records.Modify("b", refuse)).status()), "ServiceNotFoundError");
    EXPECT_EQ(this->Run(records.Modify("a", this->Rename("New"))).value().name, "New");
  }
}

TYPED_TEST(RegistryStoreTest, FailsOnAnInvalidRecord) {
  const std::string_view corrupt[] = {
      "",
      "{bad",
      "[]",
      "1",
      "{}",
      R"({"service_id": "a"})",
      R"({"service_id": "", "name": "n", "base_url": "http://a.test", "environment": "e",)"
      R"( "auth_mode": "none"})",
      R"({"service_id": "a", "name": "n", "base_url": "ftp://a.test", "environment": "e",)"
      R"( "auth_mode": "none"})",
      R"({"service_id": "a", "name": "n", "base_url": "http://a.test", "environment": "e",)"
      R"( "auth_mode": "none", "status": "lost"})",
      R"({"service_id": "a", "name": "n", "base_url": "http://a.test", "environment": "e",)"
      R"( "auth_mode": "none", "tags": "core"})",
      R"({"service_id": "a", "name": "n", "base_url": "http://a.test", "environment": "e",)"
      R"( "auth_mode": "none", "last_seen_at": "soon"})",
      "\xff",
  };
  for (const std::string_view text : corrupt) {
    this->Ask({"FLUSHALL"});
    this->Ask({"SET", kRecordA, text});
    this->Ask({"SADD", kAll, "a"});
    for (const bool hardened : {false, true}) {
      RegistryStore records = this->Records(this->store(), hardened);
      const ServiceRecord record = Service("a", "http://a.test");
      EXPECT_EQ(ErrorOf(this->Run(records.Get("a")).status()), "ValidationError") << text;
      EXPECT_EQ(ErrorOf(this->Run(records.List()).status()), "ValidationError") << text;
      EXPECT_EQ(ErrorOf(this->Run(records.Update(record))), "ValidationError") << text;
      EXPECT_EQ(ErrorOf(this->Run(records.Modify("a", this->Rename("x"))).status()),
                "ValidationError")
          << text;
      EXPECT_EQ(ErrorOf(this->Run(records.Delete("a"))), "ValidationError") << text;
    }
    EXPECT_EQ(this->Value(kRecordA), text) << "nothing was written";
  }
}

TYPED_TEST(RegistryStoreTest, FailsOnKeysOfAnotherType) {
  for (const bool hardened : {false, true}) {
    this->Ask({"FLUSHALL"});
    this->Ask({"LPUSH", kRecordA, "x"});
    RegistryStore records = this->Records(this->store(), hardened);
    EXPECT_EQ(store::ServerErrorCode(this->Run(records.Get("a")).status()), "WRONGTYPE");
    EXPECT_EQ(store::ServerErrorCode(this->Run(records.Delete("a"))), "WRONGTYPE");
    const ServiceRecord record = Service("a", "http://a.test");
    EXPECT_EQ(store::ServerErrorCode(this->Run(records.Update(record))), "WRONGTYPE");
    this->Ask({"SET", kAll, "x"});
    EXPECT_EQ(store::ServerErrorCode(this->Run(records.List()).status()), "WRONGTYPE");
  }
}

TYPED_TEST(RegistryStoreTest, RefusesARecordThatCannotBeWritten) {
  ServiceRecord record = Service("a", "http://a.test");
  record.name = "\xff";
  for (const bool hardened : {false, true}) {
    RegistryStore records = this->Records(this->store(), hardened);
    EXPECT_THAT(this->Run(records.Create(record)), Not(IsOk()));
    EXPECT_EQ(this->KeyCount(), 0);
  }
  ASSERT_THAT(this->Create("a", "http://a.test"), IsOk());
  for (const bool hardened : {false, true}) {
    RegistryStore records = this->Records(this->store(), hardened);
    EXPECT_THAT(this->Run(records.Update(record)), Not(IsOk()));
  }
}

TYPED_TEST(RegistryStoreTest, PassesEveryFailureOn) {
  const auto nothing = [] {};
  const auto service = [&] { EXPECT_THAT(this->Create("a", "http://a.test"), IsOk()); };
  for (const bool hardened : this->OffAndOn()) {
    const auto with = [&](auto operation) {
      return [this, hardened, operation](store::Store& store) {
        RegistryStore records = this->Records(store, hardened);
        return operation(records);
      };
    };
    const ServiceRecord moved = Service("a", "http://b.test");
    const size_t created = this->ExpectFailuresPassedOn(
        nothing, with([&](RegistryStore& records) { return this->Run(records.Create(moved)); }));
    EXPECT_EQ(created, hardened ? 1u : 3u);
    const size_t updated = this->ExpectFailuresPassedOn(
        service, with([&](RegistryStore& records) { return this->Run(records.Update(moved)); }));
    EXPECT_EQ(updated, hardened ? 2u : 6u);
    const size_t modified = this->ExpectFailuresPassedOn(
        service, with([&](RegistryStore& records) {
          return this->Run(records.Modify("a", this->Rename("x"))).status();
        }));
    EXPECT_EQ(modified, hardened ? 2u : 6u);
    const size_t deleted = this->ExpectFailuresPassedOn(
        service, with([&](RegistryStore& records) { return this->Run(records.Delete("a")); }));
    EXPECT_EQ(deleted, hardened ? 2u : 4u);
    const size_t listed = this->ExpectFailuresPassedOn(
        service, with([&](RegistryStore& records) { return this->Run(records.List()).status(); }));
    EXPECT_EQ(listed, 2u);
  }
}

TYPED_TEST(RegistryStoreTest, SaysWhyItCouldNotTakeARecordBack) {
  ASSERT_THAT(this->Create("a", "http://a.test"), IsOk());
  for (const bool pair_taken : {true, false}) {
    if (!pair_taken) {
      this->Ask({"DEL", kAll});
      this->Ask({"SET", kAll, "x"});
    }
    tests::InterceptedStore watched(this->store());
    watched.on_request = [&](size_t index) -> std::optional<absl::StatusOr<store::Reply>> {
      if (index != (pair_taken ? 2u : 3u)) return std::nullopt;
      return absl::StatusOr<store::Reply>(store::OutcomeUnknownError("gone"));
    };
    RegistryStore records = this->Records(watched);
    const ServiceRecord record = Service("b", pair_taken ? "http://a.test" : "http://b.test");
    EXPECT_THAT(this->Run(records.Create(record)), StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_TRUE(this->Exists("studio:services:by-id:b")) << "half registered (G5)";
    this->Ask({"DEL", "studio:services:by-id:b"});
  }
}

// G1: two updates move two services to one free URL, and one runs between the other's check and its
// write.
TYPED_TEST(RegistryStoreTest, LetsTwoServicesTakeOneUrlUnlessHardened) {
  for (const bool hardened : this->OffAndOn()) {
    this->Ask({"FLUSHALL"});
    ASSERT_THAT(this->Create("a", "http://a.test"), IsOk());
    ASSERT_THAT(this->Create("b", "http://b.test"), IsOk());
    const absl::Status status = this->RunWith(
        hardened ? 1 : 2, [&] { EXPECT_THAT(this->Update(Service("b", "http://x.test")), IsOk()); },
        [&](store::Store& store) {
          RegistryStore records = this->Records(store, hardened);
          return this->Run(records.Update(Service("a", "http://x.test")));
        });
    EXPECT_EQ(ErrorOf(status), hardened ? "DuplicateServiceError" : "OK");
    EXPECT_EQ(this->Value(Pair("http://x.test")), hardened ? "b" : "a");
  }
}

// G2: a delete runs between the read and the write of an update.
TYPED_TEST(RegistryStoreTest, BringsADeletedServiceBackUnlessHardened) {
  for (const bool hardened : this->OffAndOn()) {
    this->Ask({"FLUSHALL"});
    ASSERT_THAT(this->Create("a", "http://a.test"), IsOk());
    const absl::Status status = this->RunWith(
        1, [&] { EXPECT_THAT(this->Delete("a"), IsOk()); },
        [&](store::Store& store) {
          RegistryStore records = this->Records(store, hardened);
          return this->Run(records.Update(Service("a", "http://a.test")));
        });
    EXPECT_EQ(ErrorOf(status), hardened ? "ServiceNotFoundError" : "OK");
    EXPECT_EQ(this->Exists(kRecordA), !hardened);
  }
}

// G3: the record of a refused service is visible until the rollback.
TYPED_TEST(RegistryStoreTest, ShowsARefusedServiceUntilTheRollback) {
  ASSERT_THAT(this->Create("a", "http://a.test"), IsOk());
  bool seen = false;
  const absl::Status status = this->RunWith(
      1,
      [&] {
        seen = this->Exists("studio:services:by-id:b");
        EXPECT_EQ(ErrorOf(this->Create("b", "http://free.test")), "DuplicateServiceError");
      },
      [&](store::Store& store) {
        RegistryStore records = this->Records(store);
        return this->Run(records.Create(Service("b", "http://a.test")));
      });
  EXPECT_EQ(ErrorOf(status), "DuplicateServiceError");
  EXPECT_TRUE(seen);
}

// G4: the rollback deletes the record of another client.
TYPED_TEST(RegistryStoreTest, DeletesAnothersRecordInItsRollback) {
  ASSERT_THAT(this->Create("a", "http://a.test"), IsOk());
  const absl::Status status = this->RunWith(
      2,
      [&] {
        EXPECT_THAT(this->Delete("b"), IsOk());
        EXPECT_THAT(this->Create("b", "http://free.test"), IsOk());
      },
      [&](store::Store& store) {
        RegistryStore records = this->Records(store);
        return this->Run(records.Create(Service("b", "http://a.test")));
      });
  EXPECT_EQ(ErrorOf(status), "DuplicateServiceError");
  EXPECT_FALSE(this->Exists("studio:services:by-id:b"));
  EXPECT_THAT(this->Members(kAll), ElementsAre("a", "b"));
  EXPECT_EQ(this->Value(Pair("http://free.test")), "b") << "still blocked";
}

// G6: a crash before the DEL of the old pair.
TYPED_TEST(RegistryStoreTest, ACrashBeforeTheDeletionBlocksAnOldUrl) {
  ASSERT_THAT(this->Create("a", "http://old.test"), IsOk());
  tests::InterceptedStore watched(this->store());
  watched.on_request = [](size_t index) -> std::optional<absl::StatusOr<store::Reply>> {
    if (index < 5) return std::nullopt;
    return absl::StatusOr<store::Reply>(store::NotSentError("the process died"));
  };
  RegistryStore records = this->Records(watched);
  EXPECT_THAT(this->Run(records.Update(Service("a", "http://new.test"))), Not(IsOk()));
  EXPECT_EQ(ErrorOf(this->Create("b", "http://old.test")), "DuplicateServiceError");
}

// G7: of two concurrent changes one is lost.
TYPED_TEST(RegistryStoreTest, LosesOneOfTwoChangesUnlessHardened) {
  for (const bool hardened : this->OffAndOn()) {
    this->Ask({"FLUSHALL"});
    ASSERT_THAT(this->Create("a", "http://a.test"), IsOk());
    const RegistryStore::Change tag = [](const ServiceRecord& present) {
      ServiceRecord next = present;
      next.tags = {"core"};
      return absl::StatusOr<ServiceRecord>(next);
    };
    const absl::Status status = this->RunWith(
        1,
        [&] {
          RegistryStore other = this->Records(this->store());
          EXPECT_THAT(this->Run(other.Modify("a", this->Rename("New"))), IsOk());
        },
        [&](store::Store& store) {
          RegistryStore records = this->Records(store, hardened);
          return this->Run(records.Modify("a", tag)).status();
        });
    ASSERT_THAT(status, IsOk());
    RegistryStore records = this->Records(this->store());
    const ServiceRecord record = this->Run(records.Get("a")).value().value();
    EXPECT_THAT(record.tags, ElementsAre("core"));
    EXPECT_EQ(record.name, hardened ? "New" : "a");
  }
}

// A hardened delete starts again if the record has changed, and keeps a pair that another service
// owns.
TYPED_TEST(RegistryStoreTest, DeletesTheCurrentRecordWhenHardened) {
  if (this->in_cluster_layout()) return;
  ASSERT_THAT(this->Create("a", "http://a.test"), IsOk());
  const absl::Status status = this->RunWith(
      1, [&] { EXPECT_THAT(this->Update(Service("a", "http://b.test")), IsOk()); },
      [&](store::Store& store) {
        RegistryStore records = this->Records(store, /*hardened=*/true);
        return this->Run(records.Delete("a"));
      });
  EXPECT_THAT(status, IsOk());
  EXPECT_EQ(this->KeyCount(), 0);
  ASSERT_THAT(this->Create("a", "http://a.test"), IsOk());
  this->Ask({"SET", Pair("http://a.test"), "b"});
  RegistryStore records = this->Records(this->store(), /*hardened=*/true);
  EXPECT_THAT(this->Run(records.Delete("a")), IsOk());
  EXPECT_EQ(this->Value(Pair("http://a.test")), "b");
}

TYPED_TEST(RegistryStoreTest, KeepsItsKeysUnderItsPrefix) {
  RegistryStore records(this->store(), this->Options(RegistryStoreOptions{.prefix = "other"}));
  ASSERT_THAT(this->Run(records.Create(Service("a", "http://a.test"))), IsOk());
  EXPECT_TRUE(this->Exists("other:by-id:a"));
  EXPECT_TRUE(this->Exists("other:by-env-url:prod:http://a.test"));
  EXPECT_THAT(this->Members("other:all"), ElementsAre("a"));
  EXPECT_THAT(this->ListedIds(), IsEmpty());
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
