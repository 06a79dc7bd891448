// KorvetTest and TopicTest: the fixtures of Korvet's typed tests, in both layouts of the keys.
//
// A test names keys as documented (backends/testing/spelled_test.h) and builds objects with keys_,
// which has the layout of the test. TopicTest also makes a topic "orders" with three partitions:
//
//   template <typename Backend>
//   class LogTest : public TopicTest<Backend> {};
//   TYPED_TEST_SUITE(LogTest, tests::LayoutBackends, tests::BackendNames);
//
//   TYPED_TEST(LogTest, IsRead) {
//     const Topic topic = this->MakeTopic();
//     this->WriteMany(topic, 10);
//   }
//
// For tests only.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_SUPPORT_KORVET_TOPIC_H_
#define REDOUBLE_TESTS_SUPPORT_KORVET_TOPIC_H_

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/backends/testing/spelled_test.h"
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

struct KorvetFamilies {
  static tests::SystemFamilies Families() {
    static constexpr std::array<store::KeyBinding, 1> kBindings = {
        {{"keyspace", kDefaultKeyspace}}};
    return {KeyFamilies(), KeyFamilies(store::KeyLayout::kCluster), kBindings};
  }
};

template <typename Backend>
class KorvetTest : public tests::SpelledTest<Backend, KorvetFamilies> {
 protected:
  // The number of keys that a topic with so many partitions has beside its streams: the hash, the
  // set, the index and, in the cluster layout, the copies.
  int64_t KeysOfTopic(int64_t partitions) const {
    return 3 + (this->in_cluster_layout() ? partitions : 0);
  }
  // The number of keys that are left of a deleted topic: in the cluster layout the copies' epochs.
  int64_t KeysOfDeleted(int64_t partitions) const { return KeysOfTopic(partitions) - 3; }

  const Keys keys_ = Keys::Create(kDefaultKeyspace, tests::LayoutTest<Backend>::layout()).value();
};

template <typename Backend>
class TopicTest : public KorvetTest<Backend> {
 protected:
  void SetUp() override {
    KorvetTest<Backend>::SetUp();
    if (this->IsSkipped()) return;
    clock_.AdvanceTo(this->now());
  }

  // Creates the topic, after deleting an existing one. The new topic has a new id.
  Topic MakeTopic(std::vector<ConfigEntry> config = {}) {
    Topics topics(this->store(), rng_, this->keys_);
    this->Run(topics.Delete("orders")).IgnoreError();
    NewTopic request;
    request.name = "orders";
    request.partitions = 3;
    request.config = config;
    return this->Run(topics.Create(request)).value();
  }
  absl::Status DeleteTopic() {
    Topics topics(this->store(), rng_, this->keys_);
    return this->Run(topics.Delete("orders"));
  }

  // Runs a command of hashes on the hash of "orders", and in the cluster layout on its copies.
  void EditTopic(std::string_view command, const std::vector<std::string_view>& words) {
    std::vector<std::string> hashes = {this->keys_.Topic("orders").value()};
    for (int32_t partition = 0; this->in_cluster_layout() && partition < 3; ++partition) {
      hashes.push_back(this->keys_.Metadata({"orders", partition}).value());
    }
    for (const std::string& hash : hashes) {
      std::vector<std::string_view> all = {command, hash};
      all.insert(all.end(), words.begin(), words.end());
      this->Ask(all);
    }
  }

  // Writes a record with the id `ms`-`sequence` and returns its offset.
  int64_t Write(const Topic& topic, uint64_t sequence, uint64_t ms = kFirstMs,
                int32_t partition = 0) {
    ProducerOptions options;
    options.trimming = Trimming::kNone;
    Producer producer(this->store(), clock_, this->keys_, topic, options);
    NewRecord record;
    record.value = "v" + std::to_string(sequence);
    record.id = store::StreamId{ms, sequence};
    return this->Run(producer.Append(partition, std::span(&record, 1))).value().base_offset;
  }
  void WriteMany(const Topic& topic, uint64_t count, int32_t partition = 0) {
    for (uint64_t i = 0; i < count; ++i) Write(topic, i, kFirstMs, partition);
  }

  base::Rng rng_{1};
  base::VirtualClock clock_;
};

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_TESTS_SUPPORT_KORVET_TOPIC_H_
