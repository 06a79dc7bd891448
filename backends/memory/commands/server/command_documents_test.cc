#include "redouble/backends/memory/commands/server/command_documents.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/store/resp/reply_encoding.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::Reply;

std::string TextOf(std::string_view command, store::Version version = store::Version::kRedis70) {
  std::vector<Reply> pairs;
  AppendDocument(command, version, pairs);
  std::string text;
  store::AppendReply(Reply::Map(std::move(pairs)), store::Protocol::kResp3, text);
  return text;
}

TEST(CommandDocuments, TellArguments) {
  EXPECT_EQ(TextOf("get"),
            "%1\r\n$9\r\narguments\r\n*1\r\n%3\r\n$4\r\nname\r\n$3\r\nkey\r\n$4\r\ntype\r\n$3\r\n"
            "key\r\n$14\r\nkey_spec_index\r\n:0\r\n");
}

TEST(CommandDocuments, TellHistoryAndFlagsAsSets) {
  const std::string text = TextOf("getset");
  EXPECT_NE(text.find("$9\r\ndoc_flags\r\n~1\r\n+deprecated\r\n"), std::string::npos) << text;
  EXPECT_NE(TextOf("auth").find("$7\r\nhistory\r\n~1\r\n*2\r\n$5\r\n6.0.0\r\n"), std::string::npos);
}

TEST(CommandDocuments, OfLaterVersionsReplaceWhatIsThere) {
  std::vector<Reply> pairs = {Reply::Bulk("summary"), Reply::Bulk("old"), Reply::Bulk("group"),
                              Reply::Bulk("string")};
  AppendDocument("get", store::Version::kValkey80, pairs);
  ASSERT_EQ(pairs.size(), 6u);
  EXPECT_EQ(pairs[1], Reply::Bulk("Returns the string value of a key."));
  EXPECT_EQ(pairs[2], Reply::Bulk("group"));
  EXPECT_EQ(pairs[4], Reply::Bulk("arguments"));
  EXPECT_NE(TextOf("get", store::Version::kValkey80).find("display_text"), std::string::npos);
}

TEST(CommandDocuments, OfLaterVersionsMayRemoveAField) {
  std::vector<Reply> pairs = {Reply::Bulk("complexity"), Reply::Bulk("O(1)")};
  AppendDocument("xread", store::Version::kRedis80, pairs);
  EXPECT_EQ(pairs[0], Reply::Bulk("summary"));
  for (size_t i = 0; i < pairs.size(); i += 2) EXPECT_NE(pairs[i], Reply::Bulk("complexity"));
}

TEST(CommandDocuments, SayNothingOfWhatHasNoMore) {
  EXPECT_EQ(TextOf("nosuch"), "%0\r\n");
  EXPECT_EQ(TextOf("zzz"), "%0\r\n");
  EXPECT_EQ(TextOf("dbsize"), "%0\r\n");
}

TEST(CommandDocuments, AreFoundForEachCommandThatTakesArguments) {
  for (const store::CommandSpec& spec : store::AllCommands()) {
    if (!spec.versions.Has(store::Version::kRedis70)) continue;
    const bool takes_some = spec.arity != 1 && spec.arity != -1 && !spec.is_subcommand();
    if (!takes_some || store::IsContainer(spec.id) || spec.name == "debug") continue;
    EXPECT_NE(TextOf(spec.name), "%0\r\n") << spec.name;
  }
}

TEST(CommandDocuments, HaveNotesOnSomeKeys) {
  EXPECT_EQ(KeyNote("getex", 0, store::Version::kRedis70),
            "RW and UPDATE because it changes the TTL");
  EXPECT_NE(KeyNote("sort", 1, store::Version::kRedis70),
            KeyNote("sort", 2, store::Version::kRedis70));
  EXPECT_EQ(KeyNote("xread", 0, store::Version::kValkey81), "");
  EXPECT_NE(KeyNote("xread", 0, store::Version::kRedis80), "");
  EXPECT_EQ(KeyNote("sort", 0, store::Version::kRedis70), "");
  EXPECT_EQ(KeyNote("get", 0, store::Version::kRedis70), "");
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
