#include "redouble/backends/memory/eviction/client_memory_limit.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

std::optional<uint64_t> Limit(const std::string& text, uint64_t maxmemory_bytes = 0) {
  EngineOptions options;
  options.maxmemory_bytes = maxmemory_bytes;
  options.kept_parameters["maxmemory-clients"] = text;
  return ClientMemoryLimit(options);
}

TEST(ClientMemoryLimit, IsOffByDefault) {
  EXPECT_EQ(ClientMemoryLimit(EngineOptions()), std::nullopt);
  EXPECT_EQ(Limit("0"), std::nullopt);
}

TEST(ClientMemoryLimit, IsANumberOfBytes) { EXPECT_EQ(Limit("1000000"), 1'000'000u); }

TEST(ClientMemoryLimit, IsAShareOfMaxmemory) {
  EXPECT_EQ(Limit("10%", 100'000'000), 10'000'000u);
  EXPECT_EQ(Limit("10%"), std::nullopt);
}

TEST(ClientMemoryLimit, LeavesRoomForAnAdministrator) {
  EXPECT_EQ(Limit("1"), 128u * 1024);
  EXPECT_EQ(Limit("1%", 1000), 128u * 1024);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
