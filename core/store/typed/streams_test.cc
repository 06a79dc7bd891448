#include "redouble/core/store/typed/streams.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/testing/fake_store.h"

namespace redouble::inline v0_1::store {
namespace {

using Field = std::pair<std::string_view, std::string_view>;
using Words = FakeStore::Words;
using base::IsOkAndHolds;

const std::vector<Field> kFields = {{"f", "1"}, {"g", "2"}};
const std::vector<StreamId> kIds = {{1, 1}, {1, 2}};

Reply EntryReply(std::string_view id) {
  return Reply::Array({Reply::Bulk(id), Reply::Array({Reply::Bulk("f"), Reply::Bulk("1")})});
}

StreamEntry Entry(StreamId id) {
  StreamEntry entry;
  entry.id = id;
  entry.fields = {{"f", "1"}};
  return entry;
}

TEST(Streams, XAddLetsTheServerChooseTheId) {
  const auto id = Ask({"XADD", "s", "*", "f", "1", "g", "2"}, Reply::Bulk("5-1"),
                      [](Store& s) { return XAdd(s, "s", kFields); });
  EXPECT_EQ(*id, (StreamId{5, 1}));
}

TEST(Streams, XAddWithAnIdOrItsMilliseconds) {
  const auto given =
      Ask({"XADD", "s", "5-1", "f", "1", "g", "2"}, Reply::Bulk("5-1"), [](Store& s) {
        return XAdd(s, "s", kFields, {.id = StreamId{5, 1}});
      });
  EXPECT_EQ(*given, (StreamId{5, 1}));
  const auto half = Ask({"XADD", "s", "5-*", "f", "1", "g", "2"}, Reply::Bulk("5-2"),
                        [](Store& s) { return XAdd(s, "s", kFields, {.id_ms = 5}); });
  EXPECT_EQ(*half, (StreamId{5, 2}));
}

TEST(Streams, XAddGivesNothingWhenTheStreamShouldExist) {
  const auto id = Ask({"XADD", "s", "NOMKSTREAM", "*", "f", "1", "g", "2"}, Reply::Nil(),
                      [](Store& s) { return XAdd(s, "s", kFields, {.only_if_exists = true}); });
  EXPECT_EQ(*id, std::nullopt);
}

TEST(Streams, XAddTrims) {
  Ask({"XADD", "s", "MAXLEN", "~", "100", "LIMIT", "7", "*", "f", "1", "g", "2"},
      Reply::Bulk("1-1"),
      [](Store& s) {
        XAddOptions options;
        options.trimming = {.max_length = 100, .approximate = true, .limit = 7};
        return XAdd(s, "s", kFields, options);
      })
      .IgnoreError();
}

TEST(Streams, XAddSaysWhatRedisRefuses) {
  const auto id = Ask({"XADD", "s", "*", "f", "1", "g", "2"},
                      Reply::Error("WRONGTYPE Operation against a key holding the wrong kind of "
                                   "value"),
                      [](Store& s) { return XAdd(s, "s", kFields); });
  EXPECT_EQ(ServerErrorCode(id.status()), "WRONGTYPE");
}

TEST(Streams, XAddRefusesAReplyThatIsNoId) {
  const auto id = Ask({"XADD", "s", "*", "f", "1", "g", "2"}, Reply::Bulk("x"),
                      [](Store& s) { return XAdd(s, "s", kFields); });
  EXPECT_EQ(ErrorKindOf(id.status()), ErrorKind::kProtocol);
}

TEST(Streams, XLenXDelAndXTrim) {
  EXPECT_THAT(Ask({"XLEN", "s"}, Reply::Integer(3), [](Store& s) { return XLen(s, "s"); }),
              IsOkAndHolds(3));
  EXPECT_THAT(Ask({"XDEL", "s", "1-1", "1-2"}, Reply::Integer(2),
                  [](Store& s) { return XDel(s, "s", kIds); }),
              IsOkAndHolds(2));
  EXPECT_THAT(Ask({"XTRIM", "s", "MINID", "5-0"}, Reply::Integer(4),
                  [](Store& s) {
                    return XTrim(s, "s", {.min_id = StreamId{5, 0}});
                  }),
              IsOkAndHolds(4));
}

TEST(Streams, XRangeReadsEntries) {
  const auto entries = Ask({"XRANGE", "s", "0-0", "18446744073709551615-18446744073709551615"},
                           Reply::Array({EntryReply("1-1"), EntryReply("1-2")}),
                           [](Store& s) { return XRange(s, "s"); });
  EXPECT_EQ(*entries, (std::vector{Entry({1, 1}), Entry({1, 2})}));
}

TEST(Streams, XRevRangeTurnsTheRangeRound) {
  const auto entries =
      Ask({"XREVRANGE", "s", "9-0", "1-1", "COUNT", "1"}, Reply::Array({EntryReply("1-2")}),
          [](Store& s) {
            return XRevRange(s, "s", {.first = {1, 1}, .last = {9, 0}, .count = 1});
          });
  EXPECT_EQ(*entries, std::vector{Entry({1, 2})});
}

TEST(Streams, XReadGivesNothingWhenTheTimeIsOver) {
  const std::vector<StreamRead> reads = {{.key = "a"}, {.key = "b", .after = StreamId{1, 1}}};
  const auto streams = Ask(
      {"XREAD", "COUNT", "2", "BLOCK", "5000", "STREAMS", "a", "b", "$", "1-1"}, Reply::NilArray(),
      [&](Store& s) { return XRead(s, reads, {.count = 2, .block = absl::Seconds(5)}); });
  EXPECT_TRUE(streams->empty());
}

TEST(Streams, XReadBlocksForeverOnlyWithAnInfiniteTimeout) {
  const std::vector<StreamRead> reads = {{.key = "a"}};
  for (const auto& [block, text] :
       {std::pair(absl::InfiniteDuration(), "0"), std::pair(absl::ZeroDuration(), "1"),
        std::pair(absl::Microseconds(1500), "2")}) {
    EXPECT_TRUE(
        Ask({"XREAD", "BLOCK", text, "STREAMS", "a", "$"}, Reply::NilArray(), [&](Store& s) {
          return XRead(s, reads, {.block = block});
        }).ok());
  }
}

TEST(Streams, XReadGroupTellsLostEntriesFromOthers) {
  const std::vector<StreamRead> reads = {{.key = "s", .after = StreamId::Min()}};
  const Reply lost = Reply::Array({Reply::Bulk("1-2"), Reply::NilArray()});
  const auto streams =
      Ask({"XREADGROUP", "GROUP", "g", "ann", "NOACK", "STREAMS", "s", "0-0"},
          Reply::Array({Reply::Array({Reply::Bulk("s"), Reply::Array({EntryReply("1-1"), lost})})}),
          [&](Store& s) {
            return XReadGroup(s, {"g", "ann"}, reads, {.no_ack = true});
          });
  ASSERT_EQ(streams->size(), 1U);
  EXPECT_EQ((*streams)[0].key, "s");
  EXPECT_EQ((*streams)[0].entries[0], Entry({1, 1}));
  EXPECT_TRUE((*streams)[0].entries[1].deleted);
}

TEST(Streams, XReadGroupAsksForNewEntries) {
  const std::vector<StreamRead> reads = {{.key = "s"}};
  const auto streams = Ask({"XREADGROUP", "GROUP", "g", "ann", "STREAMS", "s", ">"},
                           Reply::Error("NOGROUP No such key"), [&](Store& s) {
                             return XReadGroup(s, {"g", "ann"}, reads);
                           });
  EXPECT_EQ(streams.status().code(), absl::StatusCode::kNotFound);
}

TEST(Streams, XAck) {
  EXPECT_THAT(Ask({"XACK", "s", "g", "1-1", "1-2"}, Reply::Integer(1),
                  [](Store& s) { return XAck(s, "s", "g", kIds); }),
              IsOkAndHolds(1));
}

TEST(Streams, XPendingSummary) {
  const auto summary =
      Ask({"XPENDING", "s", "g"},
          Reply::Array({Reply::Integer(2), Reply::Bulk("1-1"), Reply::Bulk("1-2"),
                        Reply::Array({Reply::Array({Reply::Bulk("ann"), Reply::Bulk("2")})})}),
          [](Store& s) { return XPending(s, "s", "g"); });
  EXPECT_EQ(summary->count, 2);
  EXPECT_EQ(summary->last, (StreamId{1, 2}));
  EXPECT_EQ(summary->consumers, (std::vector<std::pair<std::string, int64_t>>{{"ann", 2}}));
}

TEST(Streams, XPendingSummaryOfNothing) {
  const auto summary =
      Ask({"XPENDING", "s", "g"},
          Reply::Array({Reply::Integer(0), Reply::Nil(), Reply::Nil(), Reply::NilArray()}),
          [](Store& s) { return XPending(s, "s", "g"); });
  EXPECT_EQ(*summary, PendingSummary());
}

TEST(Streams, XPendingRange) {
  const auto entries = Ask({"XPENDING", "s", "g", "IDLE", "1500", "1-1", "9-9", "10", "ann"},
                           Reply::Array({Reply::Array({Reply::Bulk("1-1"), Reply::Bulk("ann"),
                                                       Reply::Integer(2000), Reply::Integer(3)})}),
                           [](Store& s) {
                             return XPendingRange(s, "s", "g",
                                                  {.first = {1, 1},
                                                   .last = {9, 9},
                                                   .count = 10,
                                                   .min_idle = absl::Milliseconds(1500),
                                                   .consumer = "ann"});
                           });
  EXPECT_EQ(*entries, (std::vector{PendingEntry{{1, 1}, "ann", absl::Seconds(2), 3}}));
}

TEST(Streams, XClaim) {
  const auto entries =
      Ask({"XCLAIM", "s", "g", "ann", "50", "1-1", "1-2", "IDLE", "7", "RETRYCOUNT", "4", "FORCE"},
          Reply::Array({EntryReply("1-1")}), [](Store& s) {
            return XClaim(s, "s", {"g", "ann"}, kIds,
                          {.min_idle = absl::Milliseconds(50),
                           .idle = absl::Milliseconds(7),
                           .deliveries = 4,
                           .force = true});
          });
  EXPECT_EQ(*entries, std::vector{Entry({1, 1})});
}

TEST(Streams, XClaimIds) {
  const auto ids = Ask({"XCLAIM", "s", "g", "ann", "0", "1-1", "1-2", "JUSTID"},
                       Reply::Array({Reply::Bulk("1-2")}), [](Store& s) {
                         return XClaimIds(s, "s", {"g", "ann"}, kIds);
                       });
  EXPECT_EQ(*ids, (std::vector<StreamId>{{1, 2}}));
}

TEST(Streams, XAutoClaim) {
  const auto claimed =
      Ask({"XAUTOCLAIM", "s", "g", "ann", "45000", "1-1", "COUNT", "2"},
          Reply::Array({Reply::Bulk("5-0"), Reply::Array({EntryReply("1-1")}),
                        Reply::Array({Reply::Bulk("1-2")})}),
          [](Store& s) {
            return XAutoClaim(s, "s", {"g", "ann"},
                              {.min_idle = absl::Seconds(45), .start = {1, 1}, .count = 2});
          });
  EXPECT_EQ(claimed->next, (StreamId{5, 0}));
  EXPECT_EQ(claimed->entries, std::vector{Entry({1, 1})});
  EXPECT_EQ(claimed->deleted, (std::vector<StreamId>{{1, 2}}));
}

TEST(Streams, XGroupCreateAndSetId) {
  EXPECT_TRUE(Ask({"XGROUP", "create", "s", "g", "0-0", "MKSTREAM"}, Reply::Ok(), [](Store& s) {
                return XGroupCreate(s, "s", "g", {.make_stream = true});
              }).ok());
  const auto exists = Ask({"XGROUP", "create", "s", "g", "0-0"},
                          Reply::Error("BUSYGROUP Consumer Group name already exists"),
                          [](Store& s) { return XGroupCreate(s, "s", "g"); });
  EXPECT_EQ(exists.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(
      Ask({"XGROUP", "setid", "s", "g", "$", "ENTRIESREAD", "5"}, Reply::Ok(), [](Store& s) {
        return XGroupSetId(s, "s", "g", {.after = std::nullopt, .entries_read = 5});
      }).ok());
}

TEST(Streams, XGroupDestroyAndConsumers) {
  EXPECT_THAT(Ask({"XGROUP", "destroy", "s", "g"}, Reply::Integer(1),
                  [](Store& s) { return XGroupDestroy(s, "s", "g"); }),
              IsOkAndHolds(true));
  EXPECT_THAT(Ask({"XGROUP", "createconsumer", "s", "g", "ann"}, Reply::Integer(0),
                  [](Store& s) {
                    return XGroupCreateConsumer(s, "s", {"g", "ann"});
                  }),
              IsOkAndHolds(false));
  EXPECT_THAT(Ask({"XGROUP", "delconsumer", "s", "g", "ann"}, Reply::Integer(2),
                  [](Store& s) {
                    return XGroupDelConsumer(s, "s", {"g", "ann"});
                  }),
              IsOkAndHolds(2));
}

TEST(Streams, XInfoRefusesMapsThatLackSomething) {
  const auto groups = Ask({"XINFO", "groups", "s"},
                          Reply::Array({Reply::Map({Reply::Bulk("name"), Reply::Bulk("g")})}),
                          [](Store& s) { return XInfoGroups(s, "s"); });
  EXPECT_EQ(ErrorKindOf(groups.status()), ErrorKind::kProtocol);
  const auto consumers = Ask({"XINFO", "consumers", "s", "g"}, Reply::Array({Reply::Integer(1)}),
                             [](Store& s) { return XInfoConsumers(s, "s", "g"); });
  EXPECT_EQ(ErrorKindOf(consumers.status()), ErrorKind::kProtocol);
  const auto stream = Ask({"XINFO", "stream", "s"}, Reply::Error("ERR no such key"),
                          [](Store& s) { return XInfoStream(s, "s"); });
  EXPECT_EQ(ErrorKindOf(stream.status()), ErrorKind::kServer);
}

TEST(Streams, FindsTheFirstValueOfAField) {
  StreamEntry entry;
  entry.fields = {{"f", "1"}, {"f", "2"}};
  EXPECT_EQ(entry.Find("f"), "1");
  EXPECT_EQ(entry.Find("g"), std::nullopt);
}

}  // namespace
}  // namespace redouble::inline v0_1::store
