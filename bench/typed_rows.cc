#include "redouble/bench/typed_rows.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/time/time.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/pubsub/pubsub.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/hashes.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/sorted_sets.h"
#include "redouble/core/store/typed/streams.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::bench {
namespace {

using Keys = TypedKeys;
using store::Store;
using Pair = std::pair<std::string_view, std::string_view>;

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}
template <typename T>
void Check(const absl::StatusOr<T>& result) {
  Check(result.status());
}

// Runs a typed function. Exits the program on an error.
template <typename T>
void Do(base::Task<T> task) {
  Check(base::Run(std::move(task)));
}

constexpr store::GroupConsumer kReader = {"g", "c1"};
constexpr store::GroupConsumer kOther = {"g", "c2"};
constexpr store::StreamId kFirstId[] = {{1, 1}};
constexpr Pair kField[] = {{"f", "v"}};

void DoMSet(Store& s, const Keys& k) {
  const Pair pairs[] = {{k.s, "value"}, {k.s2, "value"}};
  Do(store::MSet(s, pairs));
}
void DoMSetNx(Store& s, const Keys& k) {
  const Pair pairs[] = {{k.n, "value"}};
  Do(store::MSetNx(s, pairs));
}
void DoXRead(Store& s, const Keys& k) {
  const store::StreamRead reads[] = {{k.x, store::StreamId::Min()}};
  store::XReadOptions options;
  options.count = 2;
  Do(store::XRead(s, reads, options));
}
void DoXReadGroup(Store& s, const Keys& k) {
  const store::StreamRead reads[] = {{k.x, store::StreamId::Min()}};
  store::XReadGroupOptions options;
  options.count = 2;
  Do(store::XReadGroup(s, kReader, reads, options));
}
void DoXAdd(Store& s, const Keys& k) {
  store::XAddOptions options;
  options.trimming.max_length = 10;
  Do(store::XAdd(s, k.x, kField, options));
}
void DoXGroupCreate(Store& s, const Keys& k) {
  store::XGroupOptions options;
  options.make_stream = true;
  Do(store::XGroupCreate(s, k.n, "g", options));
}
void DoBatch(Store& s, const Keys& k) {
  store::Batch batch(store::Batch::Atomicity::kTransaction);
  batch.Add(store::Command(store::CommandId::kIncr, {k.i}));
  batch.Add(store::Command(store::CommandId::kGet, {k.s}));
  Check(base::Run(store::Execute(s, batch)));
}
void DoScript(Store& s, const Keys& k) {
  static const store::Script script("return redis.call('GET', KEYS[1])");
  const std::string_view keys[] = {k.s};
  Do(script.Run(s, keys, {}));
}
store::ListMove Rotation(const Keys& k) { return {.from = k.l, .to = k.l}; }

constexpr TypedRow kRows[] = {
    {"Get", [](Store& s, const Keys& k) { Do(store::Get(s, k.s)); }},
    {"Set", [](Store& s, const Keys& k) { Do(store::Set(s, k.s, "value")); }},
    {"SetAndGet", [](Store& s, const Keys& k) { Do(store::SetAndGet(s, k.s, "value")); }},
    {"GetEx", [](Store& s, const Keys& k) { Do(store::GetEx(s, k.s, store::Expiry())); }},
    {"GetDel", [](Store& s, const Keys& k) { Do(store::GetDel(s, k.n)); }, "SET {n} value"},
    {"MGet",
     [](Store& s, const Keys& k) {
       const std::string_view keys[] = {k.s, k.s2};
       Do(store::MGet(s, keys));
     }},
    {"MSet", DoMSet},
    {"MSetNx", DoMSetNx, "DEL {n}"},
    {"Append", [](Store& s, const Keys& k) { Do(store::Append(s, k.n, "x")); }},
    {"StrLen", [](Store& s, const Keys& k) { Do(store::StrLen(s, k.s)); }},
    {"GetRange", [](Store& s, const Keys& k) { Do(store::GetRange(s, k.s, 0, 3)); }},
    {"SetRange", [](Store& s, const Keys& k) { Do(store::SetRange(s, k.s, 2, "xx")); }},
    {"Incr", [](Store& s, const Keys& k) { Do(store::Incr(s, k.i)); }},
    {"IncrBy", [](Store& s, const Keys& k) { Do(store::IncrBy(s, k.i, 5)); }},
    {"Decr", [](Store& s, const Keys& k) { Do(store::Decr(s, k.i)); }},
    {"DecrBy", [](Store& s, const Keys& k) { Do(store::DecrBy(s, k.i, 5)); }},
    {"IncrByFloat", [](Store& s, const Keys& k) { Do(store::IncrByFloat(s, k.n, "1.5")); }},
    {"Del", [](Store& s, const Keys& k) { Do(store::Del(s, k.n)); }, "SET {n} value"},
    {"Unlink",
     [](Store& s, const Keys& k) {
       const std::string_view keys[] = {k.n};
       Do(store::Unlink(s, keys));
     },
     "SET {n} value"},
    {"Exists", [](Store& s, const Keys& k) { Do(store::Exists(s, k.s)); }},
    {"TypeOf", [](Store& s, const Keys& k) { Do(store::TypeOf(s, k.h)); }},
    {"ExpireIn", [](Store& s, const Keys& k) { Do(store::ExpireIn(s, k.s, absl::Hours(30))); }},
    {"ExpireAt",
     [](Store& s, const Keys& k) {
       Do(store::ExpireAt(s, k.s, absl::FromUnixSeconds(4'102'444'800)));
     }},
    {"Persist", [](Store& s, const Keys& k) { Do(store::Persist(s, k.s)); }, "EXPIRE {s} 100000"},
    {"TimeToLive", [](Store& s, const Keys& k) { Do(store::TimeToLive(s, k.s)); }},
    {"ExpiryTimeOf", [](Store& s, const Keys& k) { Do(store::ExpiryTimeOf(s, k.s)); }},
    {"TtlSeconds", [](Store& s, const Keys& k) { Do(store::TtlSeconds(s, k.s)); }},
    {"Rename", [](Store& s, const Keys& k) { Do(store::Rename(s, k.n, "renamed")); },
     "SET {n} value"},
    {"RenameNx", [](Store& s, const Keys& k) { Do(store::RenameNx(s, k.n, k.s)); },
     "SET {n} value"},
    {"Copy",
     [](Store& s, const Keys& k) {
       store::CopyOptions options;
       options.replace = true;
       Do(store::Copy(s, k.s, "copied", options));
     }},
    {"Scan", [](Store& s, const Keys&) { Do(store::Scan(s, "0")); }},
    {"ScanAll (all keys)",
     [](Store& s, const Keys&) {
       store::ScanOptions options;
       options.match = "nothing*";
       options.count = 1000;
       Do(store::ScanAll(s, options));
     }},
    {"Keys (all keys)", [](Store& s, const Keys&) { Do(store::Keys(s, "nothing*")); }},
    {"RandomKey", [](Store& s, const Keys&) { Do(store::RandomKey(s)); }},
    {"Touch",
     [](Store& s, const Keys& k) {
       const std::string_view keys[] = {k.s, k.s2};
       Do(store::Touch(s, keys));
     }},
    {"DbSize", [](Store& s, const Keys&) { Do(store::DbSize(s)); }},
    {"FlushDb", [](Store& s, const Keys&) { Do(store::FlushDb(s)); }, "SELECT 2"},
    {"Ping", [](Store& s, const Keys&) { Do(store::Ping(s)); }, "SELECT 0"},
    {"Time", [](Store& s, const Keys&) { Do(store::Time(s)); }},

    {"LPush", [](Store& s, const Keys& k) { Do(store::LPush(s, k.n, "a")); }},
    {"RPush", [](Store& s, const Keys& k) { Do(store::RPush(s, k.n, "a")); }},
    {"LPop", [](Store& s, const Keys& k) { Do(store::LPop(s, k.n)); }, "RPUSH {n} a"},
    {"RPop", [](Store& s, const Keys& k) { Do(store::RPop(s, k.n)); }, "RPUSH {n} a"},
    {"LMove", [](Store& s, const Keys& k) { Do(store::LMove(s, Rotation(k))); }},
    {"LLen", [](Store& s, const Keys& k) { Do(store::LLen(s, k.l)); }},
    {"LIndex", [](Store& s, const Keys& k) { Do(store::LIndex(s, k.l, 2)); }},
    {"LRange", [](Store& s, const Keys& k) { Do(store::LRange(s, k.l, 0, -1)); }},
    {"LSet", [](Store& s, const Keys& k) { Do(store::LSet(s, k.l, 1, "b")); }},
    {"LTrim", [](Store& s, const Keys& k) { Do(store::LTrim(s, k.n, 0, 0)); }, "RPUSH {n} a b c"},
    {"LRem", [](Store& s, const Keys& k) { Do(store::LRem(s, k.n, 1, "b")); }, "RPUSH {n} a b c"},
    {"BLPop",
     [](Store& s, const Keys& k) {
       const std::string_view keys[] = {k.n};
       Do(store::BLPop(s, keys, absl::InfiniteDuration()));
     },
     "RPUSH {n} a"},
    {"BRPop",
     [](Store& s, const Keys& k) {
       const std::string_view keys[] = {k.n};
       Do(store::BRPop(s, keys, absl::InfiniteDuration()));
     },
     "RPUSH {n} a"},
    {"BLMove",
     [](Store& s, const Keys& k) {
       Do(store::BLMove(s, Rotation(k), absl::InfiniteDuration()));
     }},

    {"HSet", [](Store& s, const Keys& k) { Do(store::HSet(s, k.h, "f1", "v")); }},
    {"HSetNx", [](Store& s, const Keys& k) { Do(store::HSetNx(s, k.h, "f1", "v")); }},
    {"HGet", [](Store& s, const Keys& k) { Do(store::HGet(s, k.h, "f1")); }},
    {"HMGet",
     [](Store& s, const Keys& k) {
       constexpr std::string_view kFields[] = {"f1", "f2", "f3"};
       Do(store::HMGet(s, k.h, kFields));
     }},
    {"HGetAll", [](Store& s, const Keys& k) { Do(store::HGetAll(s, k.h)); }},
    {"HKeys", [](Store& s, const Keys& k) { Do(store::HKeys(s, k.h)); }},
    {"HVals", [](Store& s, const Keys& k) { Do(store::HVals(s, k.h)); }},
    {"HDel",
     [](Store& s, const Keys& k) {
       constexpr std::string_view kFields[] = {"f"};
       Do(store::HDel(s, k.n, kFields));
     },
     "HSET {n} f v g v"},
    {"HExists", [](Store& s, const Keys& k) { Do(store::HExists(s, k.h, "f1")); }},
    {"HLen", [](Store& s, const Keys& k) { Do(store::HLen(s, k.h)); }},
    {"HIncrBy", [](Store& s, const Keys& k) { Do(store::HIncrBy(s, k.h, "n", 1)); }},
    {"HIncrByFloat", [](Store& s, const Keys& k) { Do(store::HIncrByFloat(s, k.h, "d", "1.5")); }},

    {"SAdd", [](Store& s, const Keys& k) { Do(store::SAdd(s, k.t, "m1")); }},
    {"SRem", [](Store& s, const Keys& k) { Do(store::SRem(s, k.n, "m1")); }, "SADD {n} m1"},
    {"SMove", [](Store& s, const Keys& k) { Do(store::SMove(s, k.n, k.t, "m1")); }, "SADD {n} m1"},
    {"SPop", [](Store& s, const Keys& k) { Do(store::SPop(s, k.n)); }, "SADD {n} m1"},
    {"SIsMember", [](Store& s, const Keys& k) { Do(store::SIsMember(s, k.t, "m1")); }},
    {"SCard", [](Store& s, const Keys& k) { Do(store::SCard(s, k.t)); }},
    {"SMembers", [](Store& s, const Keys& k) { Do(store::SMembers(s, k.t)); }},
    {"SInter",
     [](Store& s, const Keys& k) {
       const std::string_view keys[] = {k.t, k.t2};
       Do(store::SInter(s, keys));
     }},
    {"SUnion",
     [](Store& s, const Keys& k) {
       const std::string_view keys[] = {k.t, k.t2};
       Do(store::SUnion(s, keys));
     }},
    {"SDiff",
     [](Store& s, const Keys& k) {
       const std::string_view keys[] = {k.t, k.t2};
       Do(store::SDiff(s, keys));
     }},

    {"ZAdd",
     [](Store& s, const Keys& k) {
       constexpr store::ScoredView kMembers[] = {{"m1", 1}};
       Do(store::ZAdd(s, k.z, kMembers));
     }},
    {"ZIncrBy", [](Store& s, const Keys& k) { Do(store::ZIncrBy(s, k.z, 1, "m1")); }},
    {"ZRem",
     [](Store& s, const Keys& k) {
       constexpr std::string_view kMembers[] = {"m1"};
       Do(store::ZRem(s, k.n, kMembers));
     },
     "ZADD {n} 1 m1"},
    {"ZCard", [](Store& s, const Keys& k) { Do(store::ZCard(s, k.z)); }},
    {"ZScore", [](Store& s, const Keys& k) { Do(store::ZScore(s, k.z, "m1")); }},
    {"ZRank", [](Store& s, const Keys& k) { Do(store::ZRank(s, k.z, "m1")); }},
    {"ZRange", [](Store& s, const Keys& k) { Do(store::ZRange(s, k.z, 0, -1)); }},
    {"ZRangeWithScores",
     [](Store& s, const Keys& k) { Do(store::ZRangeWithScores(s, k.z, 0, -1)); }},
    {"ZRevRange", [](Store& s, const Keys& k) { Do(store::ZRevRange(s, k.z, 0, -1)); }},
    {"ZRangeByScore",
     [](Store& s, const Keys& k) { Do(store::ZRangeByScore(s, k.z, {.min = "1", .max = "3"})); }},
    {"ZCount",
     [](Store& s, const Keys& k) { Do(store::ZCount(s, k.z, {.min = "1", .max = "3"})); }},
    {"ZRemRangeByScore",
     [](Store& s, const Keys& k) { Do(store::ZRemRangeByScore(s, k.n, {.min = "0", .max = "5"})); },
     "ZADD {n} 1 m1"},
    {"ZRemRangeByRank", [](Store& s, const Keys& k) { Do(store::ZRemRangeByRank(s, k.n, 0, -1)); },
     "ZADD {n} 1 m1"},
    {"ZPopMin", [](Store& s, const Keys& k) { Do(store::ZPopMin(s, k.n)); }, "ZADD {n} 1 m1"},
    {"ZPopMax", [](Store& s, const Keys& k) { Do(store::ZPopMax(s, k.n)); }, "ZADD {n} 1 m1"},

    {"XAdd", DoXAdd},
    {"XLen", [](Store& s, const Keys& k) { Do(store::XLen(s, k.x)); }},
    {"XDel", [](Store& s, const Keys& k) { Do(store::XDel(s, k.x, kFirstId)); }},
    {"XTrim",
     [](Store& s, const Keys& k) {
       store::StreamTrimming trimming;
       trimming.max_length = 100;
       Do(store::XTrim(s, k.x, trimming));
     }},
    {"XRange", [](Store& s, const Keys& k) { Do(store::XRange(s, k.x)); }},
    {"XRevRange", [](Store& s, const Keys& k) { Do(store::XRevRange(s, k.x)); }},
    {"XRead", DoXRead},
    {"XReadGroup", DoXReadGroup},
    {"XAck", [](Store& s, const Keys& k) { Do(store::XAck(s, k.x, "g", kFirstId)); }},
    {"XPending", [](Store& s, const Keys& k) { Do(store::XPending(s, k.x, "g")); }},
    {"XPendingRange", [](Store& s, const Keys& k) { Do(store::XPendingRange(s, k.x, "g")); }},
    {"XClaim", [](Store& s, const Keys& k) { Do(store::XClaim(s, k.x, kOther, kFirstId)); }},
    {"XClaimIds", [](Store& s, const Keys& k) { Do(store::XClaimIds(s, k.x, kOther, kFirstId)); }},
    {"XAutoClaim", [](Store& s, const Keys& k) { Do(store::XAutoClaim(s, k.x, kOther)); }},
    {"XGroupCreate", DoXGroupCreate},
    {"XGroupSetId", [](Store& s, const Keys& k) { Do(store::XGroupSetId(s, k.x, "g")); }},
    {"XGroupDestroy", [](Store& s, const Keys& k) { Do(store::XGroupDestroy(s, k.n, "g")); },
     "XGROUP CREATE {n} g $ MKSTREAM"},
    {"XGroupCreateConsumer",
     [](Store& s, const Keys& k) { Do(store::XGroupCreateConsumer(s, k.n, kReader)); },
     "XGROUP CREATE {n} g $ MKSTREAM"},
    {"XGroupDelConsumer",
     [](Store& s, const Keys& k) { Do(store::XGroupDelConsumer(s, k.n, kReader)); },
     "XGROUP CREATE {n} g $ MKSTREAM;XGROUP CREATECONSUMER {n} g c1"},
    {"XInfoStream", [](Store& s, const Keys& k) { Do(store::XInfoStream(s, k.x)); }},
    {"XInfoGroups", [](Store& s, const Keys& k) { Do(store::XInfoGroups(s, k.x)); }},
    {"XInfoConsumers", [](Store& s, const Keys& k) { Do(store::XInfoConsumers(s, k.x, "g")); }},

    {"Publish", [](Store& s, const Keys&) { Do(store::Publish(s, "channel", "text")); }},
    {"SPublish", [](Store& s, const Keys&) { Do(store::SPublish(s, "channel", "text")); }},
    {"Execute, a transaction of two", DoBatch},
    {"Script::Run, a GET", DoScript},
};

}  // namespace

std::span<const TypedRow> TypedRows() { return kRows; }

}  // namespace redouble::inline v0_1::bench
