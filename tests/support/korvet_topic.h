// TopicTest: the fixture of Korvet's typed tests: a topic "orders" with three partitions on a
// backend.
//
// Derive the fixture from TopicTest<Backend> and call MakeTopic() in the tests:
//
//   const Topic topic = this->MakeTopic();
//   this->WriteMany(topic, 10);
//
// For tests only.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_SUPPORT_KORVET_TOPIC_H_
#define REDOUBLE_TESTS_SUPPORT_KORVET_TOPIC_H_

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/backends/testing/backends.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/log/producer.h"
#include "redouble/core/korvet/topics/topics.h"

namespace redouble::inline v0_1::korvet {

// The milliseconds of the first record's id, and its offset with 10 bits for the sequence number.
inline constexpr uint64_t kFirstMs = 1234567890123;
inline constexpr int64_t kFirstOffset = 1264197519485952;

template <typename Backend>
class TopicTest : public tests::BackendTest<Backend> {
 protected:
  void SetUp() override {
    tests::BackendTest<Backend>::SetUp();
    if (this->IsSkipped()) return;
    clock_.AdvanceTo(this->now());
  }

  // Creates the topic, after deleting an existing one. The new topic has a new id.
  Topic MakeTopic(std::vector<ConfigEntry> config = {}) {
    Topics topics(this->store(), rng_, keys_);
    this->Run(topics.Delete("orders")).IgnoreError();
    NewTopic request;
    request.name = "orders";
    request.partitions = 3;
    request.config = config;
    return this->Run(topics.Create(request)).value();
  }
  absl::Status DeleteTopic() {
    Topics topics(this->store(), rng_, keys_);
    return this->Run(topics.Delete("orders"));
  }

  // Writes a record with the id `ms`-`sequence` and returns its offset.
  int64_t Write(const Topic& topic, uint64_t sequence, uint64_t ms = kFirstMs,
                int32_t partition = 0) {
    ProducerOptions options;
    options.trimming = Trimming::kNone;
    Producer producer(this->store(), clock_, keys_, topic, options);
    NewRecord record;
    record.value = "v" + std::to_string(sequence);
    record.id = store::StreamId{ms, sequence};
    return this->Run(producer.Append(partition, std::span(&record, 1))).value().base_offset;
  }
  void WriteMany(const Topic& topic, uint64_t count, int32_t partition = 0) {
    for (uint64_t i = 0; i < count; ++i) Write(topic, i, kFirstMs, partition);
  }

  const Keys keys_ = Keys::Create().value();
  base::Rng rng_{1};
  base::VirtualClock clock_;
};

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_TESTS_SUPPORT_KORVET_TOPIC_H_
