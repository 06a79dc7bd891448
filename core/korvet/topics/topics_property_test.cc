// Property: after any sequence of operations on topics, Redis contains what a model map contains.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/tests/support/korvet_topic.h"

namespace redouble::inline v0_1::korvet {
namespace {

struct Step {
  enum class Kind { kCreate, kDelete, kAddPartitions, kAlter };
  Kind kind;
  std::string topic;
  int32_t number;  // The number of partitions, or the new retention of a change.

  friend std::ostream& operator<<(std::ostream& out, const Step& step) {
    constexpr const char* kNames[] = {"create", "delete", "add partitions", "alter"};
    return out << kNames[static_cast<int>(step.kind)] << " " << step.topic << " " << step.number;
  }
};

rc::Gen<Step> GenStep() {
  return rc::gen::build<Step>(
      rc::gen::set(&Step::kind, rc::gen::element(Step::Kind::kCreate, Step::Kind::kDelete,
                                                 Step::Kind::kAddPartitions, Step::Kind::kAlter)),
      rc::gen::set(&Step::topic, rc::gen::element<std::string>("a", "a.0", "orders")),
      rc::gen::set(&Step::number, rc::gen::inRange(-2, 5)));
}

// The expected topics, and the expected error of each step.
class Model {
 public:
  ErrorCode Create(const Step& step, const absl::StatusOr<Topic>& made) {
    if (step.number == 0 || step.number < -1) return ErrorCode::kInvalidPartitions;
    if (topics_.contains(step.topic)) return ErrorCode::kTopicAlreadyExists;
    RC_ASSERT(made.ok());
    RC_ASSERT(made->partitions == (step.number == -1 ? 1 : step.number));
    topics_[step.topic] = *made;
    return ErrorCode::kNone;
  }
  ErrorCode Delete(const Step& step) {
    return topics_.erase(step.topic) == 1 ? ErrorCode::kNone : ErrorCode::kUnknownTopicOrPartition;
  }
  ErrorCode AddPartitions(const Step& step) {
    const auto topic = topics_.find(step.topic);
    if (topic == topics_.end()) return ErrorCode::kUnknownTopicOrPartition;
    if (step.number <= topic->second.partitions) return ErrorCode::kInvalidPartitions;
    topic->second.partitions = step.number;
    return ErrorCode::kNone;
  }
  ErrorCode Alter(const Step& step) {
    const auto topic = topics_.find(step.topic);
    if (topic == topics_.end()) return ErrorCode::kUnknownTopicOrPartition;
    if (step.number < -1) return ErrorCode::kInvalidConfig;
    topic->second.config.retention_time_ms = step.number;
    return ErrorCode::kNone;
  }

  const std::map<std::string, Topic>& topics() const { return topics_; }

 private:
  std::map<std::string, Topic> topics_;
};

template <typename Backend>
class TopicsPropertyTest : public KorvetTest<Backend> {
 protected:
  // Runs the step, and checks that Redis and the model have the same result.
  void Take(Topics& topics, Model& model, const Step& step) {
    switch (step.kind) {
      case Step::Kind::kCreate: {
        const auto made = this->Run(topics.Create({.name = step.topic, .partitions = step.number}));
        RC_ASSERT(ErrorCodeOf(made.status()) == model.Create(step, made));
        return;
      }
      case Step::Kind::kDelete:
        RC_ASSERT(ErrorCodeOf(this->Run(topics.Delete(step.topic))) == model.Delete(step));
        return;
      case Step::Kind::kAddPartitions: {
        const absl::Status added =
            this->Run(topics.AddPartitions({.topic = step.topic, .total = step.number}));
        RC_ASSERT(ErrorCodeOf(added) == model.AddPartitions(step));
        return;
      }
      case Step::Kind::kAlter: {
        const std::string retention_ms = std::to_string(step.number);
        const ConfigEntry entries[] = {{"retention.ms", retention_ms}};
        const absl::Status altered =
            this->Run(topics.AlterConfig({.topic = step.topic, .config = entries}));
        RC_ASSERT(ErrorCodeOf(altered) == model.Alter(step));
        return;
      }
    }
  }

  void Compare(Topics& topics, const Model& model) {
    std::vector<std::string> names;
    for (const auto& [name, topic] : model.topics()) {
      names.push_back(name);
      Topic described = this->Run(topics.Describe(name)).value();
      RC_ASSERT(this->Run(topics.DescribeById(topic.id)).value() == described);
      RC_ASSERT(described.epoch >= topic.epoch);
      described.epoch = topic.epoch;
      RC_ASSERT(described == topic);
    }
    RC_ASSERT(this->Run(topics.List()).value() == names);
    const auto keys = static_cast<int64_t>(names.empty() ? 0 : names.size() + 2);
    const auto copies = this->Ask({"KEYS", "korvet:topic-copy:*"}).elements().size();
    RC_ASSERT(this->KeyCount() == keys + static_cast<int64_t>(copies));
    RC_ASSERT(copies == 0u || this->in_cluster_layout());
  }
};
TYPED_TEST_SUITE(TopicsPropertyTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(TopicsPropertyTest, AreWhatAMapWouldHold) {
  EXPECT_TRUE(rc::check("topics are what a map would hold", [this] {
    const auto steps = *rc::gen::container<std::vector<Step>>(GenStep());
    this->Ask({"FLUSHALL"});
    base::Rng rng(7);
    Topics topics(this->store(), rng, this->keys_);
    Model model;
    for (const Step& step : steps) {
      this->Take(topics, model, step);
      this->Compare(topics, model);
    }
  }));
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
