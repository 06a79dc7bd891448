#include "redouble/core/threescale/model/job_queue.h"

#include <utility>

namespace redouble::inline v0_1::threescale {

base::Task<absl::Status> InProcessJobQueue::Enqueue(Job job) {
  if (ReportJob* report = std::get_if<ReportJob>(&job)) {
    reports_.push_back(std::move(*report));
  } else {
    notifications_.push_back(std::move(std::get<NotifyJob>(job)));
  }
  co_return absl::OkStatus();
}

std::optional<Job> InProcessJobQueue::Pop() {
  std::optional<Job> job;
  if (!reports_.empty()) {
    job = std::move(reports_.front());
    reports_.pop_front();
  } else if (!notifications_.empty()) {
    job = std::move(notifications_.front());
    notifications_.pop_front();
  }
  return job;
}

}  // namespace redouble::inline v0_1::threescale
