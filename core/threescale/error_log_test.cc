#include "core/threescale/error_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/threescale/errors.h"
#include "core/threescale/process_for_test.h"
#include "tests/support/intercepted_store.h"

namespace redouble::threescale {
namespace {

using ::testing::ElementsAre;

template <typename Backend>
class ErrorLogTest : public ProcessTest<Backend> {
 protected:
  absl::Status StoreError(std::string_view metric) {
    return this->Run(ErrorLog(this->process())
                         .Store("2", MakeError(ErrorCode::kMetricInvalid, metric), "{\"a\":1}"));
  }
};
TYPED_TEST_SUITE(ErrorLogTest, tests::Backends, tests::BackendNames);

TYPED_TEST(ErrorLogTest, KeepsTheNewestFirst) {
  ASSERT_TRUE(this->StoreError("one").ok());
  ASSERT_TRUE(this->StoreError("two").ok());
  const auto entries = this->Run(ErrorLog(this->process()).List("2"));
  ASSERT_TRUE(entries.ok());
  EXPECT_THAT(*entries,
              ElementsAre(R"({"code":"metric_invalid","message":"metric \"two\" is invalid",)"
                          R"("timestamp":"2026-05-09 14:03:02 UTC","context_info":{"a":1}})",
                          R"({"code":"metric_invalid","message":"metric \"one\" is invalid",)"
                          R"("timestamp":"2026-05-09 14:03:02 UTC","context_info":{"a":1}})"));
  EXPECT_EQ(*this->Run(ErrorLog(this->process()).Count("2")), 2);
}

TYPED_TEST(ErrorLogTest, TrimsInASecondRoundTrip) {
  tests::InterceptedStore store(this->store());
  ASSERT_TRUE(this->Run(ErrorLog(this->process_on(store))
                            .Store("2", MakeError(ErrorCode::kNotValidData), "{}"))
                  .ok());
  EXPECT_EQ(store.requests(), 2u);
  EXPECT_EQ(store.log().back(), "LTRIM errors/service_id:2 0 999");
}

TYPED_TEST(ErrorLogTest, KeepsNoMoreThanAThousandInPagesOfAHundred) {
  for (int i = 0; i < 1005; ++i) ASSERT_TRUE(this->StoreError(std::to_string(i)).ok());
  ErrorLog errors(this->process());
  EXPECT_EQ(*this->Run(errors.Count("2")), 1000);
  const auto last = this->Run(errors.List("2", 10));
  ASSERT_EQ(last->size(), 100u);
  EXPECT_THAT(last->back(), ::testing::HasSubstr("\\\"5\\\""));
  EXPECT_TRUE(this->Run(errors.List("2", 11))->empty());
  EXPECT_EQ(*this->Run(errors.List("2", 0)), *this->Run(errors.List("2", 1)));
}

TYPED_TEST(ErrorLogTest, ForgetsWhenTold) {
  ASSERT_TRUE(this->StoreError("one").ok());
  ASSERT_TRUE(this->Run(ErrorLog(this->process()).Delete("2")).ok());
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(ErrorLogTest, PassesAStoreErrorOn) {
  this->Ask({"SET", "errors/service_id:2", "x"});
  EXPECT_EQ(this->StoreError("one").code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace redouble::threescale
