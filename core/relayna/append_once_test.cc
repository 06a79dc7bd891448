#include "redouble/core/relayna/append_once.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "redouble/backends/testing/backends.h"
#include "redouble/core/base/hash/digest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::relayna {
namespace {

using base::IsOkAndHolds;
using base::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using tests::InterceptedStore;

Append Marked(std::string marker, std::string payload) {
  return {.marker = std::move(marker),
          .list = "list",
          .payload = std::move(payload),
          .maxlen = 3,
          .ttl_seconds = 60};
}

template <typename Backend>
class AppendOnceTest : public tests::BackendTest<Backend> {
 protected:
  absl::StatusOr<bool> Put(const Append& append, bool atomically) {
    if (!atomically) return this->Run(AppendOnce(this->store(), append));
    const std::array<Append, 1> one = {append};
    return this->Run(AppendOnceAtomically(this->store(), one));
  }
  std::vector<std::string> List(std::string_view key = "list") {
    std::vector<std::string> elements;
    const store::Reply reply = this->Ask({"LRANGE", key, "0", "-1"});
    for (const store::Reply& element : reply.elements()) elements.push_back(element.text());
    return elements;
  }
};
TYPED_TEST_SUITE(AppendOnceTest, tests::Backends, tests::BackendNames);

TYPED_TEST(AppendOnceTest, SetsTheMarkerThenWritesInOneTransaction) {
  InterceptedStore watched(this->store());
  Append append = Marked("marker", "payload");
  append.membership = {"set", "member"};
  append.channels.documented = "channel";
  EXPECT_THAT(this->Run(AppendOnce(watched, append)), IsOkAndHolds(true));
  EXPECT_THAT(watched.log(), ElementsAre("SET marker 1 NX EX 60", "MULTI", "LPUSH list payload",
                                         "LTRIM list 0 2", "EXPIRE list 60", "SADD set member",
                                         "EXPIRE set 60", "PUBLISH channel payload", "EXEC"));
}

TYPED_TEST(AppendOnceTest, KeepsTheNewestInFrontByEitherWay) {
  for (const bool atomically : {false, true}) {
    this->Ask({"FLUSHALL"});
    for (const char* payload : {"1", "2", "3", "4"}) {
      EXPECT_THAT(this->Put(Marked(std::string("m") + payload, payload), atomically),
                  IsOkAndHolds(true));
    }
    EXPECT_THAT(this->Put(Marked("m4", "again"), atomically), IsOkAndHolds(false));
    EXPECT_THAT(this->List(), ElementsAre("4", "3", "2"));
    EXPECT_EQ(this->Ttl("list"), 60);
    EXPECT_EQ(this->Ttl("m1"), 60);
  }
}

TYPED_TEST(AppendOnceTest, ReadsZeroAsNoTtlAndNoLimit) {
  for (const bool atomically : {false, true}) {
    this->Ask({"FLUSHALL"});
    for (const char* payload : {"1", "2", "3", "4"}) {
      Append append = Marked(std::string("m") + payload, payload);
      append.ttl_seconds = 0;
      append.maxlen = 0;
      EXPECT_THAT(this->Put(append, atomically), IsOkAndHolds(true));
    }
    EXPECT_EQ(this->List().size(), 4u);
    EXPECT_EQ(this->Ttl("list"), -1);
    EXPECT_EQ(this->Ttl("m1"), -1);
  }
}

TYPED_TEST(AppendOnceTest, LeavesAMarkerAfterAFailureUnlessAtomic) {
  for (const bool atomically : {false, true}) {
    this->Ask({"FLUSHALL"});
    this->Ask({"SET", "list", "text"});
    EXPECT_EQ(store::ServerErrorCode(this->Put(Marked("m", "1"), atomically).status()),
              "WRONGTYPE");
    EXPECT_EQ(this->Ask({"EXISTS", "m"}).integer(), atomically ? 0 : 1);
  }
}

TYPED_TEST(AppendOnceTest, WritesNothingOfSeveralWhenTheFirstIsKnown) {
  Append second = Marked("m2", "2");
  second.list = "other";
  std::array<Append, 2> both = {Marked("m1", "1"), second};
  EXPECT_THAT(this->Run(AppendOnceAtomically(this->store(), both)), IsOkAndHolds(true));
  EXPECT_THAT(this->List("other"), ElementsAre("2"));
  both[1].marker = "m3";
  EXPECT_THAT(this->Run(AppendOnceAtomically(this->store(), both)), IsOkAndHolds(false));
  EXPECT_THAT(this->List("other"), ElementsAre("2"));
  both[0].marker = "m4";
  both[1].marker = "m2";
  EXPECT_THAT(this->Run(AppendOnceAtomically(this->store(), both)), IsOkAndHolds(true));
  EXPECT_THAT(this->List("other"), ElementsAre("2")) << "its own marker exists";
}

TYPED_TEST(AppendOnceTest, PutsAPayloadInItsPlaceOfTheListThatWasRead) {
  this->Ask({"RPUSH", "list", "c", "a"});
  const std::string seen = base::Sha1Hex("c\na\n");
  Append append = Marked("m", "b");
  append.place = {seen, 1};
  EXPECT_THAT(this->Put(append, /*atomically=*/true), IsOkAndHolds(true));
  EXPECT_THAT(this->List(), ElementsAre("c", "b", "a"));
  append.marker = "m2";
  EXPECT_THAT(this->Put(append, true), StatusIs(absl::StatusCode::kAborted))
      << "the list has changed";
  EXPECT_EQ(this->Ask({"EXISTS", "m2"}).integer(), 0);
  append.place = {base::Sha1Hex("c\nb\na\n"), 3};
  append.payload = "last";
  append.maxlen = 9;
  EXPECT_THAT(this->Put(append, true), IsOkAndHolds(true));
  EXPECT_EQ(this->List().back(), "last");
}

TYPED_TEST(AppendOnceTest, ReturnsTheErrorsOfTheStore) {
  for (const size_t failing : {0u, 1u}) {
    InterceptedStore watched(this->store());
    watched.on_request = [&](size_t index) -> std::optional<absl::StatusOr<store::Reply>> {
      if (index != failing) return std::nullopt;
      return absl::StatusOr<store::Reply>(store::OutcomeUnknownError("gone"));
    };
    const Append append = Marked("m" + std::to_string(failing), "1");
    EXPECT_THAT(this->Run(AppendOnce(watched, append)), StatusIs(absl::StatusCode::kUnavailable));
  }
  EXPECT_THAT(this->List(), IsEmpty());
}

TEST(HasTtl, IsPythonsTruth) {
  EXPECT_FALSE(HasTtl(std::nullopt));
  EXPECT_FALSE(HasTtl(0));
  EXPECT_TRUE(HasTtl(1));
  EXPECT_TRUE(HasTtl(-1));
}

}  // namespace
}  // namespace redouble::inline v0_1::relayna
