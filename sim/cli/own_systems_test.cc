// A program with a system of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/cli/program.h"
#include "redouble/sim/cli/support/systems.h"
#include "redouble/sim/inspect/rules_file.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;
using base::StatusIs;
using ::testing::HasSubstr;

base::Task<OperationResult> Add(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string item = reader.String("item");
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  const std::string key = "stock:" + item;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t count, co_await store::Incr(context.store, key));
  co_return Json(count);
}

OperationTable ShopOperations() {
  OperationTable table;
  table.Add("add", Add);
  return table;
}

class OwnSystemsTest : public ::testing::Test {
 protected:
  int Run(std::vector<std::string> arguments, const Systems& systems) {
    out_.str("");
    err_.str("");
    const ProgramContext context{out_, err_, folder_, {folder_}, systems};
    return RunProgram(std::move(arguments), context);
  }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }

  const std::filesystem::path folder_ = std::getenv("TEST_TMPDIR");
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(OwnSystemsTest, AreNamedByFilesAndJudgedByInspect) {
  Write("add.json", R"({"name": "t", "description": "d", "system": "shop",
      "start": "2026-05-09T14:03:02Z", "steps": [
        {"kind": "call", "operation": "add", "arguments": {"item": "book"}, "expect": 1}]})");
  const absl::StatusOr<RulesFile> rules = RulesFile::Parse(R"({"system": "shop", "families": [
      {"id": "shop.stock", "pattern": "stock:{item}", "type": "string"}]})");
  ASSERT_TRUE(rules.ok()) << rules.status();
  Systems systems;
  ASSERT_THAT(systems.Add({"shop", ShopOperations(), rules->rules()}), IsOk());
  EXPECT_EQ(Run({"replay", "add.json"}, systems), kExitPassed) << err_.str();
  EXPECT_EQ(Run({"inspect", "add.json"}, systems), kExitPassed) << out_.str() << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("shop.stock"));
  EXPECT_EQ(Run({"keys", "--system", "shop"}, systems), kExitPassed);
  EXPECT_THAT(out_.str(), HasSubstr("stock:{item}"));
  // The systems of this project are still there, and the other way round they know no shop.
  EXPECT_EQ(Run({"keys", "--system", "gateway"}, systems), kExitPassed);
  EXPECT_EQ(Run({"replay", "add.json"}, BuiltInSystems()), kExitBadUsage);
  EXPECT_THAT(err_.str(), HasSubstr("shop"));
}

TEST_F(OwnSystemsTest, NeedANameOfTheirOwn) {
  Systems systems;
  EXPECT_THAT(systems.Add({"", ShopOperations()}),
              StatusIs(absl::StatusCode::kInvalidArgument, "a system needs a name"));
  EXPECT_THAT(
      systems.Add({"gateway", ShopOperations()}),
      StatusIs(absl::StatusCode::kInvalidArgument, "there is a system \"gateway\" already"));
  ASSERT_THAT(systems.Add({"shop", ShopOperations()}), IsOk());
  EXPECT_THAT(systems.Add({"shop", ShopOperations()}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
