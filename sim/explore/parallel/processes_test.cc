#include "redouble/sim/explore/parallel/processes.h"

#include <unistd.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::sim {
namespace {

TEST(RunInProcesses, ReturnsTheResultOfEachTask) {
  std::map<size_t, std::string> results;
  const absl::Status status = RunInProcesses(
      7, 3, [](size_t task) { return std::string(task * 50'000, 'x'); },
      [&](size_t task, const std::string& result) {
        results[task] = result;
        return false;
      });
  EXPECT_TRUE(status.ok()) << status;
  ASSERT_EQ(results.size(), 7u);
  for (const auto& [task, result] : results) EXPECT_EQ(result.size(), task * 50'000);
}

TEST(RunInProcesses, RunsEachInAProcessOfItsOwn) {
  std::set<std::string> processes = {std::to_string(getpid())};
  EXPECT_TRUE(RunInProcesses(
                  4, 2, [](size_t) { return std::to_string(getpid()); },
                  [&](size_t, const std::string& result) {
                    processes.insert(result);
                    return false;
                  })
                  .ok());
  EXPECT_EQ(processes.size(), 5u);
}

TEST(RunInProcesses, KillsLaterTasksWhenOneIsDone) {
  std::set<size_t> done;
  EXPECT_TRUE(RunInProcesses(
                  100, 1, [](size_t task) { return std::to_string(task); },
                  [&](size_t task, const std::string&) {
                    done.insert(task);
                    return task == 3;
                  })
                  .ok());
  EXPECT_EQ(done, (std::set<size_t>{0, 1, 2, 3}));
}

TEST(RunInProcesses, DoesNothingWithoutTasks) {
  EXPECT_TRUE(RunInProcesses(
                  0, 2, [](size_t) { return std::string(); },
                  [](size_t, const std::string&) { return false; })
                  .ok());
}

TEST(RunInProcesses, ReportsAProcessThatDied) {
  const absl::Status status = RunInProcesses(
      1, 1, [](size_t) -> std::string { _exit(3); },
      [](size_t, const std::string&) { return false; });
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
