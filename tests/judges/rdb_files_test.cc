// Goal: files of keys pass between each server and the engine of its version in both directions,
// and from each server to the engine of 7.0, for every type and encoding that the servers write.
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/backends/memory/snapshot/snapshot.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/table/version.h"
#include "redouble/tests/differential/run_program.h"
#include "redouble/tests/judges/judges.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/server_target.h"
#include "redouble/tests/support/target/words.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOk;
using base::StatusIs;
using store::Reply;
using store::Version;
using ::testing::HasSubstr;
using ::testing::ValuesIn;

// The encodings in which servers keep these keys, and in which files have them.
constexpr std::array kLines = {
    // Strings: empty, of bytes, numbers in each of the widths of a file.
    "SET empty ''",
    R"(SET bytes "a\x00\xff\r\n")",
    "SET int8 -128",
    "SET int16 30000",
    "SET int32 -2147483648",
    "SET int64 9223372036854775807",
    "SET nearly 007",
    "SETBIT bits 100 1",
    "SET expiring v PXAT 4102444800123",
    "PFADD sparse a b c",
    "PFADD dense a",
    "PFDEBUG TODENSE dense",
    // Lists: one node, and a node of one long element.
    "RPUSH list a 1 -70000 ''",
    "DEBUG QUICKLIST-PACKED-THRESHOLD 100b",
    "DEBUG QUICKLIST-PACKED-THRESHOLD 0",
    // Sets: integers of each width, strings.
    "SADD set:16 1 2 -3",
    "SADD set:32 1 70000",
    "SADD set:64 1 5000000000",
    "SADD set:text a b 7",
    "HSET hash a 1 b '' c text",
    "ZADD zset 1.5 a -inf b inf c 3 d 0.5 e 1e20 f",
    "GEOADD geo 13.361389 38.115556 Palermo 15.087269 37.502669 Catania",
    // Streams: with deleted entries, a group, pending entries; and one without entries.
    "XADD stream 1-1 f v",
    "XADD stream 1-2 f w g x",
    "XADD stream 7-0 h y",
    "XGROUP CREATE stream group 0",
    "XREADGROUP GROUP group ann COUNT 2 STREAMS stream >",
    "XREADGROUP GROUP group bob COUNT 1 STREAMS stream >",
    "XACK stream group 1-1",
    "XDEL stream 1-2",
    "XGROUP CREATECONSUMER stream group idle",
    "XGROUP CREATE stream:empty group $ MKSTREAM",
    "XADD stream:emptied 5-1 f v",
    "XDEL stream:emptied 5-1",
    "SELECT 3",
    "SET other 1",
    "SELECT 0",
};

// Collections above the limits of the small encodings, and strings that are compressed or not.
std::vector<Words> LargeKeys() {
  std::vector<Words> all = {{"SET", "repeated", std::string(5000, 'r')}};
  std::string text(3000, ' ');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * i % 251 + i / 7);
  all.push_back({"SET", "noise", text});
  all.push_back({"RPUSH", "list:long", text, std::string(9000, 'x')});
  all.push_back({"HSET", "hash:long", "f", std::string(100, 'v')});
  all.push_back({"ZADD", "zset:long", "2", std::string(100, 'm')});
  all.push_back({"SADD", "set:long", std::string(100, 'm')});
  for (int i = 0; i < 600; ++i) {
    const std::string number = absl::StrCat(i);
    all.push_back({"RPUSH", "list:many", number, "element " + number});
    all.push_back({"SADD", "set:many", "member " + number});
    all.push_back({"SADD", "set:numbers", number});
    all.push_back({"HSET", "hash:many", "field " + number, number});
    all.push_back({"ZADD", "zset:many", absl::StrCat(i / 7, ".25"), "member " + number});
    all.push_back({"XADD", "stream:many", number + "-1", "field", number, "other", "value"});
  }
  return all;
}

class RdbFiles : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::optional<std::string> program = ServerProgram(GetParam());
    if (!program) GTEST_SKIP() << GetParam() << " is not there: run tools/judges";
    judge_.emplace(std::vector<std::string>{"enable-debug-command yes"}, /*resp3=*/false, *program);
    path_ = Ask(*judge_, {"CONFIG", "GET", "dir"}).elements()[1].text() + "/dump.rdb";
  }

  static Reply Ask(Target& target, const Words& command) {
    return target.RunAll(0, std::span(&command, 1))[0];
  }
  void Do(const Words& command) {
    const Reply reply = Ask(*judge_, command);
    EXPECT_FALSE(reply.is_error()) << JoinWords(command) << ": " << reply.DebugString();
  }

  void FillJudge() {
    for (const char* line : kLines) {
      ASSERT_OK_AND_ASSIGN(const Words words, SplitWords(line));
      Do(words);
      if (words[0] != "DEBUG" || words[2] == "0") continue;
      Do({"RPUSH", "list:plain", "short", std::string(200, 'p'), "short"});
    }
    for (const Words& words : LargeKeys()) Do(words);
    Do({"FUNCTION", "LOAD", "#!lua name=one\nredis.register_function('f', function() end)"});
  }

  memory::EngineOptions OptionsOf(Version version) {
    memory::EngineOptions options;
    options.compatibility = version;
    return options;
  }
  Version version() const { return store::VersionNamed(GetParam()).value(); }

  // Both have the same keys, deadlines, encodings and functions.
  static void ExpectEqual(Target& actual, Target& expected) {
    for (const Words& command : {Words{"DEBUG", "DIGEST"}, Words{"FUNCTION", "LIST", "WITHCODE"}}) {
      EXPECT_EQ(Ask(actual, command), Ask(expected, command)) << JoinWords(command);
    }
  }

  std::optional<ServerTarget> judge_;
  std::string path_;
};

TEST_P(RdbFiles, PassBetweenAServerAndTheEngineOfItsVersion) {
  FillJudge();
  MemoryTarget engine(OptionsOf(version()));
  engine.Reset(judge_->now());
  Do({"DEBUG", "RELOAD"});  // Saves; and a server chooses encodings anew when it loads.
  ASSERT_THAT(memory::LoadRdbFile(engine.engine(), path_), IsOk());
  ExpectEqual(engine, *judge_);
  EXPECT_EQ(CompareKeyspaces(*judge_, engine), std::nullopt);

  ASSERT_THAT(memory::SaveRdbFile(engine.engine(), path_), IsOk());
  Do({"FLUSHALL"});
  Do({"FUNCTION", "FLUSH"});
  Do({"DEBUG", "RELOAD", "NOSAVE"});
  ExpectEqual(*judge_, engine);
  EXPECT_EQ(CompareKeyspaces(*judge_, engine), std::nullopt);
}

TEST_P(RdbFiles, AreReadByTheEngineOf70AndPassOnToItsServer) {
  FillJudge();
  Do({"SAVE"});
  MemoryTarget engine;
  engine.Reset(judge_->now());
  ASSERT_THAT(memory::LoadRdbFile(engine.engine(), path_), IsOk());
  ExpectEqual(engine, *judge_);

  ServerTarget server({"enable-debug-command yes"});
  server.Reset(judge_->now());
  const std::string path = Ask(server, {"CONFIG", "GET", "dir"}).elements()[1].text() + "/dump.rdb";
  ASSERT_THAT(memory::SaveRdbFile(engine.engine(), path), IsOk());
  ASSERT_EQ(Ask(server, {"DEBUG", "RELOAD", "NOSAVE"}), Reply::Ok());
  ExpectEqual(server, *judge_);
  EXPECT_EQ(CompareKeyspaces(server, engine), std::nullopt);
}

TEST_P(RdbFiles, HaveTheDeadlinesOfHashFields) {
  if (Ask(*judge_, {"HPEXPIRE", "none", "1", "FIELDS", "1", "f"}).is_error()) {
    GTEST_SKIP() << GetParam() << " has no deadlines of hash fields";
  }
  const std::string deadline = "4102444800123";
  Do({"HSET", "hash", "a", "1", "b", "2"});
  Do({"HPEXPIREAT", "hash", deadline, "FIELDS", "1", "a"});
  for (int i = 0; i < 600; ++i) Do({"HSET", "hash:many", absl::StrCat("field ", i), "v"});
  Do({"HPEXPIREAT", "hash:many", deadline, "FIELDS", "2", "field 7", "field 599"});
  Do({"SAVE"});
  MemoryTarget engine(OptionsOf(version()));
  engine.Reset(judge_->now());
  ASSERT_THAT(memory::LoadRdbFile(engine.engine(), path_), IsOk());
  const auto expect_deadlines = [&] {
    ExpectEqual(engine, *judge_);
    for (const Words& command :
         {Words{"HPEXPIRETIME", "hash", "FIELDS", "2", "a", "b"},
          Words{"HPEXPIRETIME", "hash:many", "FIELDS", "3", "field 7", "field 8", "field 599"}}) {
      EXPECT_EQ(Ask(engine, command), Ask(*judge_, command)) << JoinWords(command);
    }
  };
  expect_deadlines();
  ASSERT_THAT(memory::SaveRdbFile(engine.engine(), path_), IsOk());
  Do({"FLUSHALL"});
  Do({"DEBUG", "RELOAD", "NOSAVE"});
  expect_deadlines();

  Do({"DEL", "hash:many"});
  Do({"SAVE"});
  MemoryTarget old;
  EXPECT_THAT(memory::LoadRdbFile(old.engine(), path_).status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("the key \"hash\" in database 0 has the type 25, hash")));
  Do({"HPERSIST", "hash", "FIELDS", "1", "a"});
  Do({"SAVE"});
  ASSERT_THAT(memory::LoadRdbFile(old.engine(), path_), IsOk());
  EXPECT_EQ(Ask(old, {"HMGET", "hash", "a", "b"}), Ask(*judge_, {"HMGET", "hash", "a", "b"}));
}

INSTANTIATE_TEST_SUITE_P(Of, RdbFiles, ValuesIn(ServerNames()),
                         [](const auto& info) { return TestName(info.param); });

}  // namespace
}  // namespace redouble::inline v0_1::tests
