#include "redouble/backends/memory/compatibility/server_text.h"

#include "gtest/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

TEST(ServerText, KeepsTheTextsOfRedis) {
  for (const store::Version version : {store::Version::kRedis70, store::Version::kRedis80}) {
    const std::string text = "ERR This Redis instance has redis.log()";
    EXPECT_EQ(ServerText(Compatibility(version), text), text);
  }
}

TEST(ServerText, LeavesTheNameOfRedisOutForValkey) {
  const Compatibility valkey(store::Version::kValkey80);
  EXPECT_EQ(ServerText(valkey, "ERR redis.log() requires two arguments or more."),
            "ERR server.log() requires two arguments or more.");
  EXPECT_EQ(ServerText(valkey, "ERR Please specify at least one argument for this redis lib call"),
            "ERR Please specify at least one argument for this call");
  EXPECT_EQ(ServerText(valkey, "ERR Lua redis lib command arguments must be strings or integers"),
            "ERR Command arguments must be strings or integers");
  EXPECT_EQ(ServerText(valkey, "ERR Unknown Redis command called from script"),
            "ERR Unknown command called from script");
  EXPECT_EQ(ServerText(valkey, "BUSY Redis is busy running a script."),
            "BUSY Valkey is busy running a script.");
  EXPECT_EQ(ServerText(valkey, "NOSCRIPT No matching script. Please use EVAL."),
            "NOSCRIPT No matching script.");
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
