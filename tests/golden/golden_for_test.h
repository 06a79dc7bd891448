// Goldens for tests: read from the project's data, changed in one place, and parsed.
//
//   Json json = ReadGatewayGolden("rate_limit_basic");
//   json["/ops/0/result/count"_json_pointer] = 2;
//   const Golden golden = MustParse(json, System::kGateway);
//
// Thread-safety: free functions.
#ifndef REDOUBLE_TESTS_GOLDEN_GOLDEN_FOR_TEST_H_
#define REDOUBLE_TESTS_GOLDEN_GOLDEN_FOR_TEST_H_

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "gtest/gtest.h"
#include "tests/golden/golden.h"

namespace redouble::golden {

// Where the gateway's goldens are, from a test's working directory.
inline constexpr std::string_view kGatewayFolder = "tests/data/golden/gateway";

// One of those files; null, which no parser takes, when it is not there.
inline Json ReadGatewayGolden(std::string_view name) {
  std::ifstream file(std::string(kGatewayFolder) + "/" + std::string(name) + ".json");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// Fails the test, and gives an empty golden, when `json` is no golden of the system.
inline Golden MustParse(const Json& json, System system, std::string_view file = "x.json",
                        const Scripts& scripts = {}) {
  absl::StatusOr<Golden> golden = ParseGolden(json.dump(), file, system, scripts);
  EXPECT_TRUE(golden.ok()) << golden.status().message();
  return golden.ok() ? *std::move(golden) : Golden{};
}

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_GOLDEN_FOR_TEST_H_
