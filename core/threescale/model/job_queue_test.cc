#include "redouble/core/threescale/model/job_queue.h"

#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;

void Put(InProcessJobQueue& queue, Job job) {
  EXPECT_THAT(base::Run(queue.Enqueue(std::move(job))), IsOk());
}

TEST(InProcessJobQueue, GivesReportsBeforeNotifications) {
  InProcessJobQueue queue;
  Put(queue, NotifyJob{.provider_key = "p1"});
  Put(queue, ReportJob{.service_id = "1"});
  Put(queue, NotifyJob{.provider_key = "p2"});
  Put(queue, ReportJob{.service_id = "2"});
  EXPECT_EQ(queue.size(), 4u);
  EXPECT_EQ(std::get<ReportJob>(queue.Pop().value()).service_id, "1");
  EXPECT_EQ(std::get<ReportJob>(queue.Pop().value()).service_id, "2");
  EXPECT_EQ(std::get<NotifyJob>(queue.Pop().value()).provider_key, "p1");
  EXPECT_EQ(std::get<NotifyJob>(queue.Pop().value()).provider_key, "p2");
  EXPECT_FALSE(queue.Pop().has_value());
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
