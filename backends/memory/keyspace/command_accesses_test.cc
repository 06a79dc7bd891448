#include "redouble/backends/memory/keyspace/command_accesses.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;

class Log final : public AccessObserver {
 public:
  void OnRead(std::string_view key) override { text += "read " + std::string(key) + ";"; }
  void OnWrite(std::string_view key) override { text += "write " + std::string(key) + ";"; }
  void OnRead(State) override { text += "read state;"; }
  void OnWrite(State) override { text += "write state;"; }
  void OnAll() override { text += "all;"; }

  std::string text;
};

std::string AccessesOf(CommandId id, std::vector<std::string_view> arguments) {
  Log log;
  ReportAccesses(id, arguments, log);
  return log.text;
}

TEST(ReportAccesses, OfDeclaredKeys) {
  EXPECT_EQ(AccessesOf(CommandId::kGet, {"a"}), "read a;");
  EXPECT_EQ(AccessesOf(CommandId::kWatch, {"a", "b"}), "read a;read b;");
  EXPECT_EQ(AccessesOf(CommandId::kRename, {"a", "b"}), "write a;write b;");
}

TEST(ReportAccesses, OfCommandsWithoutKeysIsEverything) {
  EXPECT_EQ(AccessesOf(CommandId::kFlushAll, {}), "all;");
  EXPECT_EQ(AccessesOf(CommandId::kDbSize, {}), "all;");
  EXPECT_EQ(AccessesOf(CommandId::kPublish, {"channel", "text"}), "all;");
}

TEST(ReportAccesses, OfTheConnectionIsNothing) {
  EXPECT_EQ(AccessesOf(CommandId::kPing, {}), "");
  EXPECT_EQ(AccessesOf(CommandId::kExec, {}), "");
}

TEST(ReportAccesses, OfScriptsIsTheirCache) {
  EXPECT_EQ(AccessesOf(CommandId::kEvalSha, {"0123", "1", "a"}), "read state;");
  EXPECT_EQ(AccessesOf(CommandId::kEval, {"return 1", "1", "a"}), "read state;");
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
