#include "redouble/backends/memory/server/statistics.h"

#include <bit>
#include <cmath>
#include <utility>

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;
using store::Reply;

// Below this each microsecond has a bucket; above, each doubling has 16 buckets.
constexpr int64_t kExactUs = 32;
constexpr int kBucketsPerDoubling = 16;

size_t BucketOf(int64_t duration_us) {
  if (duration_us < kExactUs) return static_cast<size_t>(duration_us < 0 ? 0 : duration_us);
  const int exponent = std::bit_width(static_cast<uint64_t>(duration_us)) - 1;
  const int64_t within = (duration_us >> (exponent - 4)) - kBucketsPerDoubling;
  return static_cast<size_t>(kExactUs + (exponent - 5) * kBucketsPerDoubling + within);
}

// The longest duration in the bucket.
int64_t EndOf(size_t bucket) {
  const auto index = static_cast<int64_t>(bucket);
  if (index < kExactUs) return index;
  const int64_t exponent = (index - kExactUs) / kBucketsPerDoubling + 5;
  const int64_t within = (index - kExactUs) % kBucketsPerDoubling;
  return ((within + kBucketsPerDoubling + 1) << (exponent - 4)) - 1;
}

// Redis takes the first word as the error's code, if it ends early enough.
std::string_view CodeOf(std::string_view error) {
  constexpr size_t kLongestBeginning = 31;
  const size_t space = error.substr(0, kLongestBeginning).find(' ');
  return space == error.npos ? "ERR" : error.substr(0, space);
}

}  // namespace

void DurationHistogram::Add(int64_t duration_us) {
  const size_t bucket = BucketOf(duration_us);
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
  ++buckets_[bucket];
  ++count_;
}

int64_t DurationHistogram::Percentile(double percent) const {
  const auto wanted = static_cast<int64_t>(std::ceil(static_cast<double>(count_) * percent / 100));
  int64_t seen = 0;
  for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen > 0 && seen >= wanted) return EndOf(bucket);
  }
  return 0;
}

int64_t DurationHistogram::CountUpTo(int64_t duration_us) const {
  int64_t seen = 0;
  for (size_t bucket = 0; bucket < buckets_.size() && EndOf(bucket) <= duration_us; ++bucket) {
    seen += buckets_[bucket];
  }
  return seen;
}

int64_t Statistics::calls() const {
  int64_t sum = 0;
  for (const CommandStatistics& command : commands_) sum += command.calls;
  return sum;
}

int64_t Statistics::error_replies() const {
  int64_t sum = 0;
  for (const auto& [code, count] : errors_) sum += count;
  return sum;
}

void Statistics::CountDuration(CommandId id, int64_t duration_us, bool with_histogram) {
  CommandStatistics& command = commands_[static_cast<size_t>(id)];
  command.duration_us += duration_us;
  if (!with_histogram) return;
  if (command.durations == nullptr) command.durations = std::make_unique<DurationHistogram>();
  command.durations->Add(duration_us);
}

void Statistics::CountRejection(CommandId id, const Reply& error) {
  if (id != CommandId::kUnknown) ++commands_[static_cast<size_t>(id)].rejected;
  CountError(error.text());
}

void Statistics::CountNestedErrors(CommandId id, std::span<const std::string> errors,
                                   int64_t counted) {
  for (const std::string& error : errors) CountError(error);
  commands_[static_cast<size_t>(id)].failed += counted + (errors.empty() ? 0 : 1);
}

void Statistics::CountBlockedFailure(CommandId id, const Reply& reply) {
  ++commands_[static_cast<size_t>(id)].failed;
  if (reply.is_error()) CountError(reply.text());
}

void Statistics::Reset() { *this = Statistics(); }

void Statistics::CountFailure(CommandStatistics& command, const Reply& error) {
  if (std::exchange(leaves_error_out_, false)) return;
  ++command.failed;
  if (!std::exchange(error_is_counted_, false)) CountError(error.text());
}

void Statistics::CountError(std::string_view error) {
  const std::string_view code = CodeOf(error);
  const auto found = errors_.find(code);
  if (found != errors_.end()) {
    ++found->second;
  } else {
    errors_.emplace(code, 1);
  }
}

}  // namespace redouble::inline v0_1::memory
