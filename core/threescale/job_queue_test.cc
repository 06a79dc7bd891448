#include "core/threescale/job_queue.h"

#include <gtest/gtest.h>

#include "core/base/run.h"

namespace redouble::threescale {
namespace {

void Put(InProcessJobQueue& queue, Job job) {
  EXPECT_TRUE(base::Run(queue.Enqueue(std::move(job))).ok());
}

TEST(InProcessJobQueue, GivesReportsBeforeNotifications) {
  InProcessJobQueue queue;
  Put(queue, NotifyJob{.provider_key = "p1"});
  Put(queue, ReportJob{.service_id = "1"});
  Put(queue, NotifyJob{.provider_key = "p2"});
  Put(queue, ReportJob{.service_id = "2"});
  EXPECT_EQ(queue.size(), 4u);
  EXPECT_EQ(std::get<ReportJob>(*queue.Pop()).service_id, "1");
  EXPECT_EQ(std::get<ReportJob>(*queue.Pop()).service_id, "2");
  EXPECT_EQ(std::get<NotifyJob>(*queue.Pop()).provider_key, "p1");
  EXPECT_EQ(std::get<NotifyJob>(*queue.Pop()).provider_key, "p2");
  EXPECT_FALSE(queue.Pop().has_value());
}

}  // namespace
}  // namespace redouble::threescale
