#include "redouble/core/base/task/wait_reporter.h"

#include <atomic>
#include <utility>

namespace redouble::inline v0_1::base {
namespace {

// Its address names a thread.
thread_local char this_thread = 0;

struct Entry {
  const WaitReporter* reporter;
  const void* thread;
};

// All reporters of the process. A reporter may be destroyed by another thread than the one that
// made it, so that lists of threads would not do.
class Registry {
 public:
  void Add(const WaitReporter& reporter) {
    const Lock lock(busy_);
    entries_.push_back({&reporter, &this_thread});
  }
  void Remove(const WaitReporter& reporter) {
    const Lock lock(busy_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.reporter == &reporter; });
  }
  std::vector<const WaitReporter*> OfThisThread() {
    const Lock lock(busy_);
    std::vector<const WaitReporter*> found;
    for (const Entry& entry : entries_) {
      if (entry.thread == &this_thread) found.push_back(entry.reporter);
    }
    return found;
  }

 private:
  // Held for a few instructions, when an engine is made, destroyed or reported.
  class Lock {
   public:
    explicit Lock(std::atomic_flag& busy) : busy_(busy) {
      while (busy_.test_and_set(std::memory_order_acquire)) busy_.wait(true);
    }
    ~Lock() {
      busy_.clear(std::memory_order_release);
      busy_.notify_one();
    }

   private:
    std::atomic_flag& busy_;
  };

  std::atomic_flag busy_;
  std::vector<Entry> entries_;
};

Registry& TheRegistry() {
  static auto& registry = *new Registry();
  return registry;
}

}  // namespace

WaitReporter::WaitReporter() { TheRegistry().Add(*this); }

WaitReporter::~WaitReporter() { TheRegistry().Remove(*this); }

std::vector<std::string> DescribeAllWaits() {
  std::vector<std::string> lines;
  for (const WaitReporter* reporter : TheRegistry().OfThisThread()) {
    for (std::string& line : reporter->DescribeWaits()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace redouble::inline v0_1::base
