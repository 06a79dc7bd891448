// The guide to test suites: a property of the service of the guides.
// [readme: a property]
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <vector>

#include "cart.h"
#include "redouble/rapidcheck.h"
#include "redouble/testing.h"

using redouble::testing::Commands;
using redouble::testing::Members;

// Alice adds articles while other clients do anything to other keys.
RC_GTEST_PROP(Cart, CountsEachArticle, ()) {
  redouble::testing::Redis redis;
  const auto client = redis.Connect();
  Cart cart(*client, "alice");
  std::map<std::string, int64_t> expected;
  for (const std::string& article : *rc::gen::container<std::vector<std::string>>(Members())) {
    redis.Do(*Commands());
    RC_ASSERT(redis.Await(cart.Add(article)).value() == ++expected[article]);
  }
}
// [end]
