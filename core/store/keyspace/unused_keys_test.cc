#include "redouble/core/store/keyspace/unused_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/testing/fake_store.h"

namespace redouble::inline v0_1::store {
namespace {

using base::StatusIs;
using Kind = Request::Kind;

constexpr char kScript[] = R"(
local idle = redis.call('OBJECT', 'IDLETIME', KEYS[1])
if not idle or idle < tonumber(ARGV[1]) then return 0 end
return redis.call('DEL', KEYS[1])
)";

const Reply kRaw = Reply::Bulk("raw");

// The commands by which a page of keys is looked at.
std::vector<FakeStore::Words> Questions(const std::vector<std::string>& keys) {
  std::vector<FakeStore::Words> commands;
  for (const std::string& key : keys) {
    commands.push_back({"OBJECT", "encoding", key});
    commands.push_back({"OBJECT", "idletime", key});
  }
  return commands;
}

Reply Page(std::string cursor, std::vector<std::string> keys) {
  std::vector<Reply> names;
  for (std::string& key : keys) names.push_back(Reply::Bulk(std::move(key)));
  return Reply::Array({Reply::Bulk(std::move(cursor)), Reply::Array(std::move(names))});
}

class DeleteUnusedKeysTest : public ::testing::Test {
 protected:
  absl::StatusOr<UnusedKeysReport> Delete(absl::Duration unused_for = absl::Seconds(60)) {
    const UnusedKeys unused = {
        .unused_for = unused_for,
        .selects = [](std::string_view key) { return key.starts_with("mine:"); },
        .page_size = 3};
    return base::Run(DeleteUnusedKeys(store_, unused));
  }

  FakeStore store_;
};

TEST_F(DeleteUnusedKeysTest, DeletesSelectedKeysPageByPage) {
  store_.Expect({"SCAN", "0", "COUNT", "3"}, Page("7", {"mine:a", "other", "mine:b"}));
  store_.ExpectBatch(Kind::kPipeline, Questions({"mine:a", "mine:b"}),
                     Reply::Array({kRaw, Reply::Integer(60), kRaw, Reply::Integer(59)}));
  store_.ExpectBatch(Kind::kPipeline, {{"EVAL", kScript, "1", "mine:a", "60"}},
                     Reply::Array({Reply::Integer(1)}));
  store_.Expect({"SCAN", "7", "COUNT", "3"}, Page("0", {"other"}));
  ASSERT_OK_AND_ASSIGN(const UnusedKeysReport report, Delete());
  EXPECT_EQ(report.selected, 2);
  EXPECT_EQ(report.deleted, 1);
}

TEST_F(DeleteUnusedKeysTest, LeavesKeysThatAreGoneOrUsedMeanwhile) {
  store_.Expect({"SCAN", "0", "COUNT", "3"}, Page("0", {"mine:a", "mine:b"}));
  store_.ExpectBatch(Kind::kPipeline, Questions({"mine:a", "mine:b"}),
                     Reply::Array({Reply::Nil(), Reply::Nil(), kRaw, Reply::Integer(100)}));
  store_.ExpectBatch(Kind::kPipeline, {{"EVAL", kScript, "1", "mine:b", "60"}},
                     Reply::Array({Reply::Integer(0)}));
  ASSERT_OK_AND_ASSIGN(const UnusedKeysReport report, Delete());
  EXPECT_EQ(report.selected, 2);
  EXPECT_EQ(report.deleted, 0);
}

// All keys with the value 1 share one object, and with it the idle time.
TEST_F(DeleteUnusedKeysTest, GivesIntegersATtl) {
  store_.Expect({"SCAN", "0", "COUNT", "3"}, Page("0", {"mine:a", "mine:b"}));
  store_.ExpectBatch(Kind::kPipeline, Questions({"mine:a", "mine:b"}),
                     Reply::Array({Reply::Bulk("int"), Reply::Integer(60), Reply::Bulk("int"),
                                   Reply::Integer(0)}));
  store_.ExpectBatch(Kind::kPipeline,
                     {{"EXPIRE", "mine:a", "60", "NX"}, {"EXPIRE", "mine:b", "60", "NX"}},
                     Reply::Array({Reply::Integer(1), Reply::Integer(0)}));
  ASSERT_OK_AND_ASSIGN(const UnusedKeysReport report, Delete());
  EXPECT_EQ(report.deleted, 0);
  EXPECT_EQ(report.expiring, 1);
}

TEST_F(DeleteUnusedKeysTest, NeedsATimeOfAtLeastASecond) {
  EXPECT_THAT(
      Delete(absl::Milliseconds(999)),
      StatusIs(absl::StatusCode::kInvalidArgument, "unused_for: expected at least 1s, got 999ms"));
}

TEST_F(DeleteUnusedKeysTest, PassesErrorsOn) {
  store_.Expect({"SCAN", "0", "COUNT", "3"}, NotSentError("down"));
  EXPECT_EQ(ErrorKindOf(Delete().status()), ErrorKind::kNotSent);
  store_.Expect({"SCAN", "0", "COUNT", "3"}, Page("0", {"mine:a"}));
  store_.ExpectBatch(Kind::kPipeline, Questions({"mine:a"}),
                     Reply::Array({kRaw, Reply::Error("ERR An LFU maxmemory policy is selected")}));
  EXPECT_EQ(Delete().status().message(), "ERR An LFU maxmemory policy is selected");
  store_.Expect({"SCAN", "0", "COUNT", "3"}, Page("0", {"mine:a"}));
  store_.ExpectBatch(Kind::kPipeline, Questions({"mine:a"}),
                     Reply::Array({kRaw, Reply::Integer(60)}));
  store_.ExpectBatch(Kind::kPipeline, {{"EVAL", kScript, "1", "mine:a", "60"}},
                     OutcomeUnknownError("lost"));
  EXPECT_EQ(ErrorKindOf(Delete().status()), ErrorKind::kOutcomeUnknown);
}

}  // namespace
}  // namespace redouble::inline v0_1::store
