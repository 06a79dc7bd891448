#include "redouble/sim/operations/operation.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"

namespace redouble::inline v0_1::sim {
namespace {

class NoStore : public store::Store {
 public:
  void Submit(store::Request& request) override { request.Complete(store::Reply::Nil()); }
};

base::Task<OperationResult> Double(OperationContext, const Json& arguments) {
  co_return Json(arguments.at("n").get<int>() * 2);
}

TEST(OperationTable, FindsWhatWasAdded) {
  OperationTable table;
  table.Add("double", Double);
  NoStore store;
  base::VirtualClock clock;
  base::Rng rng(1);
  const Json arguments = {{"n", 21}};
  const Operation* operation = table.Find("double");
  ASSERT_NE(operation, nullptr);
  const OperationContext context(store, clock, rng);
  EXPECT_EQ(base::Run((*operation)(context, arguments)).value(), Json(42));
}

TEST(OperationTable, DoesNotFindWhatWasNotAdded) {
  EXPECT_EQ(OperationTable().Find("double"), nullptr);
}

TEST(OperationTable, NamesItsOperationsInOrder) {
  OperationTable table;
  table.Add("b", Double);
  table.Add("a", Double);
  EXPECT_EQ(table.Names(), (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
