// Reads the project's goldens, so that a test can change them in one place and parse them.
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
#include "redouble/tests/golden/replay/golden.h"

namespace redouble::inline v0_1::golden {

// The folder of the gateway's goldens, relative to a test's working directory.
inline constexpr std::string_view kGatewayFolder = "tests/data/golden/gateway";

// Returns the file `name` of the goldens of `system`, such as "relayna"; if it does not exist,
// null, which no parser accepts.
inline Json ReadGolden(std::string_view system, std::string_view name) {
  std::string path = "tests/data/golden/";
  path.append(system).append("/").append(name).append(".json");
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

inline Json ReadGatewayGolden(std::string_view name) { return ReadGolden("gateway", name); }

// Parses a golden. If `json` is not one, the test fails and the result is an empty golden.
inline Golden MustParse(const Json& json, System system, std::string_view file = "x.json",
                        const Scripts& scripts = {}) {
  absl::StatusOr<Golden> golden = ParseGolden(json.dump(), file, system, scripts);
  EXPECT_TRUE(golden.ok()) << golden.status().message();
  return golden.ok() ? *std::move(golden) : Golden{};
}

}  // namespace redouble::inline v0_1::golden

#endif  // REDOUBLE_TESTS_GOLDEN_GOLDEN_FOR_TEST_H_
