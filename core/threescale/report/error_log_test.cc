#include "redouble/core/threescale/report/error_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/testing/process_for_test.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::ElementsAre;

template <typename Backend>
class ErrorLogTest : public ProcessTest<Backend> {
 protected:
  absl::Status StoreError(std::string_view metric) {
    return this->Run(ErrorLog(this->process())
                         .Store("2", MakeError(ErrorCode::kMetricInvalid, metric), "{\"a\":1}"));
  }
};
TYPED_TEST_SUITE(ErrorLogTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(ErrorLogTest, KeepsTheNewestFirst) {
  ASSERT_THAT(this->StoreError("one"), IsOk());
  ASSERT_THAT(this->StoreError("two"), IsOk());
  const auto entries = this->Run(ErrorLog(this->process()).List("2"));
  ASSERT_THAT(entries, IsOk());
  EXPECT_THAT(*entries,
              ElementsAre(R"({"code":"metric_invalid","message":"metric \"two\" is invalid",)"
                          R"("timestamp":"2026-05-09 14:03:02 UTC","context_info":{"a":1}})",
                          R"({"code":"metric_invalid","message":"metric \"one\" is invalid",)"
                          R"("timestamp":"2026-05-09 14:03:02 UTC","context_info":{"a":1}})"));
  EXPECT_THAT(this->Run(ErrorLog(this->process()).Count("2")), IsOkAndHolds(2));
}

TYPED_TEST(ErrorLogTest, TrimsInASecondRoundTrip) {
  tests::InterceptedStore store(this->store());
  ASSERT_THAT(
      this->Run(
          ErrorLog(this->process_on(store)).Store("2", MakeError(ErrorCode::kNotValidData), "{}")),
      IsOk());
  EXPECT_EQ(store.requests(), 2u);
  EXPECT_EQ(this->Documented(store.log()).back(), "LTRIM errors/service_id:2 0 999");
}

TYPED_TEST(ErrorLogTest, TrimsInTheSameTransactionWhenHardened) {
  tests::InterceptedStore store(this->store());
  ErrorLog errors(this->process_on(store), {.trim_errors_atomically = true});
  ASSERT_THAT(this->Run(errors.Store("2", MakeError(ErrorCode::kNotValidData), "{}")), IsOk());
  EXPECT_EQ(store.requests(), 1u);
  EXPECT_EQ(store.log().front(), "MULTI");
  EXPECT_EQ(this->Documented(store.log())[2], "LTRIM errors/service_id:2 0 999");
  EXPECT_THAT(this->Run(errors.Count("2")), IsOkAndHolds(1));
}

TYPED_TEST(ErrorLogTest, KeepsNoMoreThanAThousandInPagesOfAHundred) {
  for (int i = 0; i < 1005; ++i) ASSERT_THAT(this->StoreError(std::to_string(i)), IsOk());
  ErrorLog errors(this->process());
  EXPECT_THAT(this->Run(errors.Count("2")), IsOkAndHolds(1000));
  const auto last = this->Run(errors.List("2", 10));
  ASSERT_EQ(last.value().size(), 100u);
  EXPECT_THAT(last->back(), ::testing::HasSubstr("\\\"5\\\""));
  EXPECT_TRUE(this->Run(errors.List("2", 11)).value().empty());
  EXPECT_THAT(this->Run(errors.List("2", 0)), IsOkAndHolds(this->Run(errors.List("2", 1)).value()));
}

TYPED_TEST(ErrorLogTest, ForgetsWhenTold) {
  ASSERT_THAT(this->StoreError("one"), IsOk());
  ASSERT_THAT(this->Run(ErrorLog(this->process()).Delete("2")), IsOk());
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(ErrorLogTest, PassesAStoreErrorOn) {
  this->Ask({"SET", "errors/service_id:2", "x"});
  EXPECT_EQ(this->StoreError("one").code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
