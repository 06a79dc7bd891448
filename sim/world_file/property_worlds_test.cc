// A world for each kind of event and for each kind of property: the explorer finds that the world
// breaks its property, and that it does not after one change.

#include <ostream>
#include <string>

#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/sim/explore/explore.h"
#include "redouble/sim/json/strict_json.h"
#include "redouble/sim/world_file/world_experiment.h"
#include "redouble/sim/world_file/world_file.h"
#include "redouble/sim/world_file/world_for_test.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;

struct Row {
  const char* name;
  const char* world;  // The members of the file that matter.
  const char* broke;  // How the violation begins.
  // The member that the remedy replaces, and its new value.
  const char* place;
  const char* remedy;
};

constexpr Row kRows[] = {
    {"SplitPipeline", R"({
       "events": "split",
       "actors": {
         "writer": [{"kind": "pipeline", "commands": [["SET", "p", "1"], ["SET", "q", "1"]]}],
         "reader": [{"kind": "command", "command": ["MGET", "p", "q"], "as": "both"}]},
       "invariants": [{"kind": "bound", "value": "both", "one_of": [[null, null], ["1", "1"]]}]
     })",
     R"(bound: both of reader is ["1",null])", "/actors/writer/0/kind", R"("transaction")"},
    {"BrokenPipeline", R"({
       "events": "split",
       "actors": {"writer": [
         {"kind": "pipeline", "commands": [["SET", "p", "1"], ["SET", "q", "1"]]}]},
       "faults": [{"fault": "give_up", "probability": 0.5}],
       "invariants": [{"kind": "equal", "commands": [["GET", "p"], ["GET", "q"]]}]
     })",
     "equal: ", "/actors/writer/0/kind", R"("transaction")"},
    // A lock without a fence: the first holder's write arrives after the second one's.
    {"ZombieWrite", R"({
       "events": "split", "clock_moves": 1,
       "actors": {"writer": [
         {"kind": "command", "command": ["INCR", "incarnation"], "as": "epoch"},
         {"kind": "command", "command": ["SET", "owner", "${epoch}"]}]},
       "faults": [{"fault": "crash_in_flight", "nth": 2, "for": "1s"}],
       "invariants": [{"kind": "reply", "command": ["GET", "owner"], "expect": "2"}]
     })",
     R"(reply: GET gives "1")", "/actors/writer/1/command",
     R"(["EVAL", "local epoch = tonumber(redis.call('GET', 'owner') or 0) if epoch > tonumber(ARGV[1]) then return 0 end redis.call('SET', 'owner', ARGV[1]) return 1", "1", "owner", "${epoch}"])"},
    {"LateDuplicate", R"({
       "events": "split",
       "actors": {"writer": [
         {"kind": "command", "command": ["SET", "n", "1"]},
         {"kind": "command", "command": ["SET", "n", "2"]}]},
       "faults": [{"fault": "duplicate", "probability": 0.5}],
       "invariants": [{"kind": "reply", "command": ["GET", "n"], "expect": "2"}]
     })",
     R"(reply: GET gives "1")", "/events", R"("atomic")"},
    // A heartbeat that does not reach the server while its lease expires.
    {"PartitionOfRequests", R"({
       "events": "split",
       "actors": {
         "holder": [
           {"kind": "command", "command": ["SET", "lease", "holder", "NX", "PX", "3000"]},
           {"kind": "advance", "by": "2s"},
           {"kind": "command", "command": ["PEXPIRE", "lease", "3000"]}],
         "other": [
           {"kind": "advance", "by": "4s"},
           {"kind": "command", "command": ["SET", "lease", "other", "NX"], "as": "taken"}]},
       "faults": [{"fault": "partition_requests", "actor": "holder", "nth": 2, "for": "5s"}],
       "invariants": [{"kind": "bound", "value": "taken", "actor": "other", "expect": null}]
     })",
     "bound: taken of other is", "/faults/0/for", R"("500ms")"},
    // The reply comes after another client has read what it says.
    {"PartitionOfReplies", R"({
       "events": "split", "request_timeout": "2s",
       "actors": {"client": [
           {"kind": "command", "command": ["INCR", "orders"], "as": "order"},
           {"kind": "command", "command": ["INCR", "orders"], "if": {"name": "order", "is": null}}]},
       "faults": [{"fault": "partition_replies", "nth": 1, "for": "5s"}],
       "invariants": [{"kind": "reply", "command": ["GET", "orders"], "expect": "1"}]
     })",
     R"(reply: GET gives "2")", "/faults/0/for", R"("1s")"},
    {"SlowReply", R"({
       "events": "split", "clock_moves": 1, "request_timeout": "2s",
       "actors": {"client": [
           {"kind": "command", "command": ["INCR", "orders"], "as": "order"},
           {"kind": "command", "command": ["INCR", "orders"], "if": {"name": "order", "is": null}}]},
       "invariants": [{"kind": "reply", "command": ["GET", "orders"], "one_of": [null, "1"]}]
     })",
     R"(reply: GET gives "2")", "/clock_moves", "0"},
    // Without events: the lease expires before the slow holder writes.
    {"SlowClient", R"({
       "clock_moves": 1,
       "actors": {
         "slow": [
           {"kind": "command", "command": ["SET", "lock", "slow", "NX", "PX", "1000"]},
           {"kind": "command", "command": ["GET", "lock"], "as": "holder"}]},
       "invariants": [{"kind": "bound", "value": "holder", "expect": "slow"}]
     })",
     "bound: holder of slow is null", "/clock_moves", "0"},
    // A field of a hash expires, which Redis has since 7.4.
    {"Compatibility", R"({
       "compatibility": "redis-8.0",
       "setup": [{"kind": "command", "command": ["HSET", "user", "token", "t"]},
                 {"kind": "command", "command": ["HPEXPIRE", "user", "1000", "FIELDS", "1", "token"]},
                 {"kind": "advance", "by": "1001ms"}],
       "actors": {"reader": [{"kind": "command", "command": ["HGET", "user", "token"], "as": "token"}]},
       "invariants": [{"kind": "bound", "value": "token", "expect": "t"}]
     })",
     "bound: token of reader is null", "/setup/1/command",
     R"(["HPERSIST", "user", "FIELDS", "1", "token"])"},
    {"Bound", R"({
       "actors": {
         "a": [{"kind": "command", "command": ["INCR", "n"], "as": "id"}],
         "b": [{"kind": "command", "command": ["INCR", "n"], "as": "id"}]},
       "invariants": [{"kind": "bound", "value": "id", "at_most": 1}]
     })",
     "bound: id of ", "/invariants/0/at_most", "2"},
    {"Monotone", R"({
       "actors": {
         "writer": [{"kind": "command", "command": ["SET", "n", "5"]},
                    {"kind": "command", "command": ["SET", "n", "3"]}],
         "reader": [{"kind": "repeat", "times": 2, "steps": [
                      {"kind": "command", "command": ["GET", "n"], "as": "seen"}]}]},
       "invariants": [{"kind": "monotone", "value": "seen"}]
     })",
     "monotone: seen of reader goes back from 5 to 3", "/actors/writer/1/command",
     R"(["SET", "n", "7"])"},
    {"MonotoneReply", R"({
       "actors": {
         "a": [{"kind": "command", "command": ["SET", "offset", "5"]}],
         "b": [{"kind": "command", "command": ["SET", "offset", "3"]}]},
       "invariants": [{"kind": "monotone", "command": ["GET", "offset"]}]
     })",
     "monotone: GET goes back from 5 to 3", "/actors/b/0/command", R"(["INCR", "offset"])"},
    // Two workers look at the first job before they remove it.
    {"ExactlyOnce", R"({
       "setup": [{"kind": "command", "command": ["RPUSH", "jobs", "j1", "j2"]}],
       "actors": {
         "a": [{"kind": "command", "command": ["LINDEX", "jobs", "0"], "as": "job"},
               {"kind": "command", "command": ["LREM", "jobs", "1", "${job}"]}],
         "b": [{"kind": "command", "command": ["LINDEX", "jobs", "0"], "as": "job"},
               {"kind": "command", "command": ["LREM", "jobs", "1", "${job}"]}]},
       "invariants": [{"kind": "exactly_once", "value": "job", "elements": ["j1", "j2"]}]
     })",
     "exactly_once: \"j1\" is there 2 times", "/actors", R"({
         "a": [{"kind": "command", "command": ["LPOP", "jobs"], "as": "job"}],
         "b": [{"kind": "command", "command": ["LPOP", "jobs"], "as": "job"}]})"},
    // A worker repeats until it has nothing left, and a crash loses the job that it has popped.
    {"ExactlyOnceOfARepetition", R"({
       "setup": [{"kind": "command", "command": ["RPUSH", "jobs", "j1", "j2"]}],
       "actors": {"worker": [{"kind": "repeat", "until": {"name": "job", "is": null}, "steps": [
           {"kind": "command", "command": ["LPOP", "jobs"], "as": "job"},
           {"kind": "command", "command": ["SET", "done:${job}", "1"], "as": "marked",
            "if": {"name": "job", "is_not": null}},
           {"kind": "command", "command": ["ECHO", "${job}"], "as": "done",
            "if": {"name": "job", "is_not": null}}]}]},
       "faults": [{"fault": "crash", "command": "ECHO", "probability": 0.5, "limit": 1, "for": "1s"}],
       "invariants": [{"kind": "exactly_once", "value": "done", "elements": ["j1", "j2"]}]
     })",
     "is missing among the values of done", "/invariants/0/may_be_missing", "true"},
    // A consumer deletes more than it has seen.
    {"ExactlyOnceOrWaiting", R"({
       "setup": [{"kind": "command", "command": ["ZADD", "jobs", "1", "j1"]}],
       "actors": {
         "producer": [{"kind": "command", "command": ["ZADD", "jobs", "2", "j2"]}],
         "consumer": [{"kind": "command", "command": ["ZRANGE", "jobs", "0", "-1", "WITHSCORES"],
                       "as": "seen"},
                      {"kind": "command", "command": ["DEL", "jobs"]}]},
       "invariants": [{"kind": "exactly_once", "value": "seen", "elements": ["j1", "j2"],
                       "waiting": ["ZRANGE", "jobs", "0", "-1"]}]
     })",
     "\"j2\" is missing among the values of seen and the reply of ZRANGE", "/actors/consumer/1",
     R"({"kind": "command", "command": ["ZREMRANGEBYSCORE", "jobs", "0", "${seen[-1]}"]})"},
    // A message is published before the subscription.
    {"Listen", R"({
       "actors": {
         "subscriber": [{"kind": "listen", "as": "news"},
                        {"kind": "command", "command": ["SUBSCRIBE", "c"]},
                        {"kind": "advance", "by": "3s"}],
         "publisher": [{"kind": "command", "command": ["PING"]},
                       {"kind": "command", "command": ["PUBLISH", "c", "one"]},
                       {"kind": "advance", "by": "1s"},
                       {"kind": "command", "command": ["PUBLISH", "c", "two"]}]},
       "invariants": [{"kind": "exactly_once", "value": "news", "elements": ["one", "two"]}]
     })",
     "exactly_once: \"one\" is missing among the values of news", "/actors/publisher/0",
     R"({"kind": "advance", "by": "1s"})"},
    // A client keeps a value after the server has told it that the key was changed.
    {"ListenToInvalidations", R"({
       "actors": {
         "reader": [{"kind": "command", "command": ["HELLO", "3"]},
                    {"kind": "command", "command": ["CLIENT", "TRACKING", "ON"]},
                    {"kind": "listen", "as": "invalid"},
                    {"kind": "command", "command": ["GET", "k"], "as": "cached"},
                    {"kind": "advance", "by": "1s"},
                    {"kind": "command", "command": ["GET", "k"], "as": "now"}],
         "writer": [{"kind": "command", "command": ["SET", "k", "1"]}]},
       "invariants": [{"kind": "bound", "value": "invalid", "expect": null}]
     })",
     R"(bound: invalid of reader is ["invalidate",["k"]])", "/invariants/0/expect",
     R"(["invalidate", ["k"]])"},
    // A failover loses an acknowledged write.
    {"Linearizable", R"({
       "actors": {
         "a": [{"kind": "command", "command": ["INCR", "n"]},
               {"kind": "command", "command": ["INCR", "n"]}],
         "b": [{"kind": "command", "command": ["GET", "n"], "may_fail": true}]},
       "faults": [{"fault": "failover", "actor": "b", "probability": 0.5, "count": 1},
                  {"fault": "failover", "actor": "a", "nth": 2, "count": 1}],
       "invariants": [{"kind": "linearizable", "model": "counter", "keys": "n"}]
     })",
     "linearizable: no order of the commands on n gives these replies", "/faults", "[]"},
    {"LinearizablePipeline", R"({
       "events": "split",
       "actors": {"a": [{"kind": "command", "command": ["SET", "k", "1"]},
                        {"kind": "pipeline", "commands": [["GET", "k"]]}],
                  "b": [{"kind": "command", "command": ["SET", "k", "2"]}]},
       "faults": [{"fault": "duplicate", "actor": "b", "probability": 0.5}],
       "invariants": [{"kind": "linearizable", "model": "register"}]
     })",
     "linearizable: no order of the commands on k gives these replies", "/faults", "[]"},
    // A replica lags behind what its reader has written.
    {"ReadFromAReplica", R"({
       "servers": {"replica": {"replica_of": "main"}},
       "actors": {"user": [
         {"kind": "command", "command": ["SET", "cart", "1"]},
         {"kind": "command", "command": ["GET", "cart"], "server": "replica", "as": "cart"}]},
       "invariants": [{"kind": "bound", "value": "cart", "expect": "1"}]
     })",
     "bound: cart of user is null", "/actors/user/1/server", R"("main")"},
    // Two readers, each of another server, see an old value after a new one.
    {"LinearizableOnReplicas", R"({
       "servers": {"replica": {"replica_of": "main"}},
       "actors": {
         "writer": [{"kind": "command", "command": ["SET", "k", "1"]}],
         "reader": [{"kind": "command", "command": ["GET", "k"]},
                    {"kind": "command", "command": ["GET", "k"], "server": "replica"}]},
       "invariants": [{"kind": "linearizable", "model": "register"}]
     })",
     "linearizable: no order of the commands on k gives these replies", "/actors/reader/1/server",
     R"("main")"},
    // An acknowledged write is lost when a replica without it takes over.
    {"LostAtAPromotion", R"({
       "servers": {"replica": {"replica_of": "main"}},
       "actors": {"user": [
         {"kind": "transaction", "commands": [["SET", "paid", "1"]]},
         {"kind": "command", "command": ["WAIT", "0", "0"]},
         {"kind": "command", "command": ["PING"]}]},
       "faults": [{"fault": "promote", "server": "replica", "command": "PING"}],
       "invariants": [{"kind": "reply", "command": ["GET", "paid"], "expect": "1"}]
     })",
     "reply: GET gives null", "/actors/user/1/command", R"(["WAIT", "1", "0"])"},
    {"EventuallyOnAReplica", R"({
       "servers": {"copy": {}},
       "setup": [{"kind": "command", "command": ["SET", "k", "0"], "server": "main"}],
       "actors": {"user": [{"kind": "command", "command": ["SET", "k", "1"]}]},
       "invariants": [{"kind": "eventually", "server": "copy", "command": ["GET", "k"],
                       "expect": "1", "within": "1s"}]
     })",
     "eventually: GET gives null, 1s after the last fault", "/servers/copy",
     R"({"replica_of": "main"})"},
    // A call and a batch on another server.
    {"OtherServer", R"({
       "system": "counter", "servers": {"other": {}},
       "actors": {"user": [
         {"kind": "call", "operation": "add", "arguments": {"key": "n"}, "server": "other"},
         {"kind": "pipeline", "commands": [["INCR", "n"]], "server": "other"}]},
       "invariants": [{"kind": "reply", "command": ["GET", "n"], "expect": "2"}]
     })",
     "reply: GET gives null", "/invariants/0/server", R"("other")"},
    // The sweeper frees what a crashed worker holds, if it is given the time.
    {"Eventually", R"({
       "actors": {
         "worker": [{"kind": "command", "command": ["SET", "busy", "1", "PX", "10000"]},
                    {"kind": "command", "command": ["DEL", "busy"]}],
         "sweeper": [{"kind": "repeat", "steps": [
             {"kind": "advance", "by": "1s"},
             {"kind": "command", "command": ["INCR", "sweeps"]}]}]},
       "daemons": ["sweeper"],
       "faults": [{"fault": "crash", "actor": "worker", "command": "DEL", "probability": 0.5,
                   "for": "inf"}],
       "invariants": [{"kind": "eventually", "command": ["EXISTS", "busy"], "expect": 0,
                       "within": "5s"}]
     })",
     "eventually: EXISTS gives 1, 5s after the last fault", "/invariants/0/within", R"("11s")"},
    {"Serializable", R"({
       "actors": {
         "a": [{"kind": "command", "command": ["GET", "n"], "as": "seen"},
               {"kind": "command", "command": ["SET", "n", "${seen}a"]}],
         "b": [{"kind": "command", "command": ["GET", "n"], "as": "seen"},
               {"kind": "command", "command": ["SET", "n", "${seen}b"]}]},
       "invariants": [{"kind": "serializable"}]
     })",
     "serializable: no serial order gives", "/actors", R"({
         "a": [{"kind": "command", "command": ["APPEND", "n", "a"]}],
         "b": [{"kind": "command", "command": ["APPEND", "n", "b"]}]})"},
};

Json JsonOf(const Row& row) {
  Json json = ParseStrictJson(row.world).value();
  json["name"] = row.name;
  json["description"] = "A test.";
  json["source"] = "this test";
  if (!json.contains("system")) json["system"] = "redis";
  json["start"] = "2026-01-01T00:00:00Z";
  return json;
}

Exploration Explore(const Json& json) {
  const absl::StatusOr<WorldFile> world = ParseCounter(json);
  EXPECT_THAT(world, IsOk());
  if (!world.ok()) return {};
  const WorldExperiment experiment(*world, {});
  return Explore(experiment.experiment(), experiment.Options({.schedules = 5'000}));
}

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class EveryProperty : public testing::TestWithParam<Row> {};

TEST_P(EveryProperty, IsBroken) {
  const Exploration found = Explore(JsonOf(GetParam()));
  EXPECT_EQ(found.mistake, absl::OkStatus());
  ASSERT_TRUE(found.violation.has_value());
  EXPECT_NE(std::string(found.violation->status.message()).find(GetParam().broke),
            std::string::npos)
      << found.violation->status;
}

TEST_P(EveryProperty, HoldsWithTheRemedy) {
  Json json = JsonOf(GetParam());
  json[Json::json_pointer(GetParam().place)] = ParseStrictJson(GetParam().remedy).value();
  const Exploration found = Explore(json);
  EXPECT_EQ(found.mistake, absl::OkStatus());
  EXPECT_FALSE(found.violation.has_value()) << found.violation->status;
  EXPECT_TRUE(found.complete);
}

INSTANTIATE_TEST_SUITE_P(Worlds, EveryProperty, testing::ValuesIn(kRows),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace redouble::inline v0_1::sim
