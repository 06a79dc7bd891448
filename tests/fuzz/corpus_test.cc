// Every kept input of the fuzzer, once, in the ordinary build.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "gtest/gtest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

TEST(RequestFuzz, HoldsForEveryKeptInput) {
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/fuzz/corpus")) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    ++inputs;
  }
  EXPECT_GT(inputs, 100);
}

}  // namespace
