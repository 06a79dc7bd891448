// Korvet's operations in the cluster layout are steps (docs/systems/korvet.md 1.2). These tests
// stop an operation after each of its commands, and repeat each command later, when the topic was
// deleted or another one has its name.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/groups/consumer.h"
#include "redouble/core/korvet/groups/coordinator.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/log/producer.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/wrappers/forwarding_store.h"
#include "redouble/tests/property/korvet/ask.h"
#include "redouble/tests/property/korvet/topic_keys.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::korvet {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kName = "orders";

// A cluster node that serves all slots.
class Server {
 public:
  Server() {
    memory::EngineOptions options;
    options.cluster = memory::ClusterOptions();
    engine_ = std::make_unique<memory::Engine>(clock_, options);
    session_ = engine_->Connect();
  }
  store::Store& store() { return *session_; }
  base::VirtualClock& clock() { return clock_; }

 private:
  base::VirtualClock clock_{absl::FromUnixSeconds(1'778'335'382)};
  std::unique_ptr<memory::Engine> engine_;
  std::unique_ptr<memory::Session> session_;
};

// One command, or the commands of a transaction.
struct Sent {
  bool is_transaction = false;
  std::vector<std::vector<std::string>> commands;
};

std::vector<std::string> WordsOf(const store::Command& command) {
  std::vector<std::string> words = {std::string(command.name())};
  for (const std::string_view argument : command.arguments()) words.emplace_back(argument);
  return words;
}

void Send(store::Store& store, const Sent& sent) {
  if (sent.is_transaction) Ask(store, {"MULTI"});
  for (const std::vector<std::string>& words : sent.commands) {
    Ask(store, {words.begin(), words.end()});
  }
  if (sent.is_transaction) Ask(store, {"EXEC"});
}

// A client that dies after a number of commands; a transaction counts as one. A pipeline may be
// executed in part, from its beginning or its end, because its commands go to several nodes.
class DyingStore final : public store::ForwardingStore {
 public:
  DyingStore(store::Store& inner, size_t commands, bool from_the_end = false)
      : ForwardingStore(inner), left_(commands), from_the_end_(from_the_end) {}

  bool is_dead() const { return is_dead_; }
  const std::vector<Sent>& sent() const { return sent_; }

  void Submit(store::Request& request) override {
    if (is_dead_) return request.Complete(store::NotSentError("the client is dead"));
    std::vector<Sent> all = SentOf(request);
    sent_.insert(sent_.end(), all.begin(), all.end());
    if (all.size() <= left_) {
      left_ -= all.size();
      return ForwardingStore::Submit(request);
    }
    if (from_the_end_) std::reverse(all.begin(), all.end());
    for (size_t i = 0; i < left_; ++i) Send(inner(), all[i]);
    is_dead_ = true;
    request.Complete(store::OutcomeUnknownError("the client died"));
  }

 private:
  static std::vector<Sent> SentOf(const store::Request& request) {
    std::vector<Sent> all;
    const bool is_transaction = request.kind() == store::Request::Kind::kTransaction;
    for (const store::Command& command : request.commands()) {
      if (all.empty() || !is_transaction) all.push_back({is_transaction, {}});
      all.back().commands.push_back(WordsOf(command));
    }
    return all;
  }

  size_t left_;
  const bool from_the_end_;
  bool is_dead_ = false;
  std::vector<Sent> sent_;
};

constexpr size_t kNever = 1'000'000;

class ClusterStepsTest : public ::testing::Test {
 protected:
  using Operation = std::function<absl::Status(store::Store&)>;

  static absl::Status Create(store::Store& store, base::Rng& rng) {
    Topics topics(store, rng, ClusterKeys());
    NewTopic request;
    request.name = kName;
    request.partitions = 3;
    return base::Run(topics.Create(request)).status();
  }
  static absl::Status Delete(store::Store& store) {
    base::Rng rng(1);
    Topics topics(store, rng, ClusterKeys());
    return base::Run(topics.Delete(kName));
  }
  static absl::Status Add(store::Store& store) {
    base::Rng rng(1);
    Topics topics(store, rng, ClusterKeys());
    return base::Run(topics.AddPartitions({.topic = kName, .total = 6}));
  }
  static absl::Status Alter(store::Store& store) {
    base::Rng rng(1);
    Topics topics(store, rng, ClusterKeys());
    const std::vector<ConfigEntry> config = {{"retentionTime", "-1"}};
    return base::Run(topics.AlterConfig({.topic = kName, .config = config}));
  }
  static absl::StatusOr<bool> Repair(store::Store& store) {
    base::Rng rng(1);
    Topics topics(store, rng, ClusterKeys());
    return base::Run(topics.Repair(kName));
  }
  static absl::StatusOr<Topic> Describe(store::Store& store) {
    return base::Run(DescribeTopic(store, ClusterKeys(), kName));
  }
  static std::vector<std::string> List(store::Store& store) {
    base::Rng rng(1);
    Topics topics(store, rng, ClusterKeys());
    return base::Run(topics.List()).value();
  }

  // Appends a record to each partition.
  static absl::Status WriteAll(Server& server, const Topic& topic) {
    Producer producer(server.store(), server.clock(), ClusterKeys(), topic);
    for (int32_t partition = 0; partition < topic.partitions; ++partition) {
      std::vector<NewRecord> records(1);
      records[0].value = topic.id.ToString();
      REDOUBLE_RETURN_IF_ERROR(base::Run(producer.Append(partition, records)).status());
    }
    return absl::OkStatus();
  }

  // Runs the operation on a new server each time, and lets its client die after each command.
  // `then` looks at what is left, and continues.
  static void DieAfterEachCommand(const Operation& prepare, const Operation& operation,
                                  const std::function<void(Server&, const absl::Status&)>& then) {
    for (const bool from_the_end : {false, true}) {
      bool is_dead = true;
      for (size_t commands = 0; is_dead; ++commands) {
        ASSERT_LT(commands, 100u);
        SCOPED_TRACE(absl::StrCat(commands, " commands", from_the_end ? ", in reverse" : ""));
        Server server;
        ASSERT_THAT(prepare(server.store()), IsOk());
        DyingStore dying(server.store(), commands, from_the_end);
        const absl::Status status = operation(dying);
        is_dead = dying.is_dead();
        ASSERT_EQ(status.ok(), !is_dead) << status;
        // What is visible is whole.
        const absl::StatusOr<Topic> seen = Describe(server.store());
        if (seen.ok()) {
          EXPECT_THAT(WriteAll(server, *seen), IsOk());
          EXPECT_THAT(List(server.store()), ElementsAre(kName));
        } else {
          EXPECT_EQ(ErrorCodeOf(seen.status()), ErrorCode::kUnknownTopicOrPartition);
          EXPECT_THAT(List(server.store()), IsEmpty());
        }
        then(server, status);
      }
    }
  }

  static absl::Status Nothing(store::Store&) { return absl::OkStatus(); }
  static absl::Status MakeOne(store::Store& store) {
    base::Rng rng(1);
    return Create(store, rng);
  }
};

TEST_F(ClusterStepsTest, ACreationIsCompleteOrTakenBack) {
  DieAfterEachCommand(Nothing, MakeOne, [](Server& server, const absl::Status& status) {
    ASSERT_THAT(Repair(server.store()), IsOk());
    EXPECT_EQ(FindMistake(server.store(), kName), "");
    if (status.ok()) {
      EXPECT_THAT(Describe(server.store()), IsOk());
    }
    EXPECT_THAT(Repair(server.store()), IsOkAndHolds(false));
    if (Describe(server.store()).ok()) return;
    base::Rng rng(2);
    EXPECT_THAT(Create(server.store(), rng), IsOk()) << "the name is free";
    EXPECT_EQ(FindMistake(server.store(), kName), "");
  });
}

TEST_F(ClusterStepsTest, ADeletionIsFinishedByARepairAndByARepetition) {
  for (const bool repeats : {false, true}) {
    DieAfterEachCommand(MakeOne, Delete, [&](Server& server, const absl::Status& status) {
      const bool had_begun = !Describe(server.store()).ok();
      if (repeats) {
        const ErrorCode code = ErrorCodeOf(Delete(server.store()));
        EXPECT_TRUE(code == ErrorCode::kNone || code == ErrorCode::kUnknownTopicOrPartition);
      } else {
        ASSERT_THAT(Repair(server.store()), IsOk());
        EXPECT_THAT(Repair(server.store()), IsOkAndHolds(false));
      }
      EXPECT_EQ(FindMistake(server.store(), kName), "");
      if (had_begun || repeats || status.ok()) {
        EXPECT_FALSE(Describe(server.store()).ok()) << "a deletion is never taken back";
        EXPECT_THAT(MakeOne(server.store()), IsOk());
        EXPECT_EQ(FindMistake(server.store(), kName), "");
      }
    });
  }
}

TEST_F(ClusterStepsTest, AnAdditionOfPartitionsIsFinishedByARepairAndByARepetition) {
  for (const bool repeats : {false, true}) {
    DieAfterEachCommand(MakeOne, Add, [&](Server& server, const absl::Status& status) {
      if (repeats) {
        const ErrorCode code = ErrorCodeOf(Add(server.store()));
        EXPECT_TRUE(code == ErrorCode::kNone || code == ErrorCode::kInvalidPartitions);
      } else {
        ASSERT_THAT(Repair(server.store()), IsOk());
        EXPECT_THAT(Repair(server.store()), IsOkAndHolds(false));
      }
      EXPECT_EQ(FindMistake(server.store(), kName), "");
      if (repeats || status.ok()) {
        EXPECT_EQ(Describe(server.store())->partitions, 6);
      }
    });
  }
}

TEST_F(ClusterStepsTest, AnAdditionThatDiedIsDeletedWithItsTopic) {
  DieAfterEachCommand(MakeOne, Add, [](Server& server, const absl::Status&) {
    EXPECT_THAT(Delete(server.store()), IsOk());
    EXPECT_EQ(FindMistake(server.store(), kName), "");
  });
}

TEST_F(ClusterStepsTest, AChangeOfOptionsIsFinishedByARepairAndByARepetition) {
  for (const bool repeats : {false, true}) {
    DieAfterEachCommand(MakeOne, Alter, [&](Server& server, const absl::Status& status) {
      const bool is_visible = Describe(server.store())->config.retention_time_ms == -1;
      EXPECT_TRUE(is_visible || !status.ok());
      if (repeats) {
        EXPECT_THAT(Alter(server.store()), IsOk());
      } else {
        ASSERT_THAT(Repair(server.store()), IsOk());
        EXPECT_THAT(Repair(server.store()), IsOkAndHolds(false));
      }
      EXPECT_EQ(FindMistake(server.store(), kName), "");
      EXPECT_EQ(Describe(server.store())->config.retention_time_ms == -1, is_visible || repeats);
    });
  }
}

// A change of options overtakes an addition of partitions that died, and the reverse.
TEST_F(ClusterStepsTest, ChangesThatMeetLeaveOneTopic) {
  for (const Operation& second : {Operation(Alter), Operation(Add)}) {
    for (const Operation& first : {Operation(Add), Operation(Alter)}) {
      DieAfterEachCommand(MakeOne, first, [&](Server& server, const absl::Status&) {
        second(server.store()).IgnoreError();
        ASSERT_THAT(Repair(server.store()), IsOk());
        EXPECT_EQ(FindMistake(server.store(), kName), "");
        EXPECT_THAT(Repair(server.store()), IsOkAndHolds(false));
      });
    }
  }
}

TEST_F(ClusterStepsTest, ARepairMayItselfDie) {
  const auto half_delete = [](store::Store& store) -> absl::Status {
    REDOUBLE_RETURN_IF_ERROR(MakeOne(store));
    DyingStore dying(store, 4);
    EXPECT_FALSE(Delete(dying).ok());
    return absl::OkStatus();
  };
  const auto half_make = [](store::Store& store) {
    DyingStore dying(store, 4);
    EXPECT_FALSE(MakeOne(dying).ok());
    return absl::OkStatus();
  };
  const Operation repair = [](store::Store& store) { return Repair(store).status(); };
  for (const Operation& prepare : {Operation(half_delete), Operation(half_make)}) {
    DieAfterEachCommand(prepare, repair, [](Server& server, const absl::Status&) {
      ASSERT_THAT(Repair(server.store()), IsOk());
      EXPECT_EQ(FindMistake(server.store(), kName), "");
      EXPECT_FALSE(Describe(server.store()).ok());
    });
  }
}

// A creator is slow, and another client repairs its topic before one of its requests.
TEST_F(ClusterStepsTest, ACreatorWhoseTopicWasTakenBackFails) {
  size_t requests = 2;
  for (size_t repaired_at = 1; repaired_at < requests; ++repaired_at) {
    SCOPED_TRACE(repaired_at);
    Server server;
    ASSERT_THAT(MakeOne(server.store()), IsOk());
    ASSERT_THAT(Delete(server.store()), IsOk());  // The server knows the scripts from now on.
    server.clock().Advance(absl::Seconds(1));
    tests::InterceptedStore slow(server.store());
    slow.on_request = [&](size_t index) -> std::optional<absl::StatusOr<store::Reply>> {
      if (index == repaired_at) {
        EXPECT_THAT(Repair(server.store()), IsOkAndHolds(true));
      }
      return std::nullopt;
    };
    base::Rng rng(7);
    EXPECT_FALSE(Create(slow, rng).ok());
    requests = std::max(requests, slow.requests());
    EXPECT_FALSE(Describe(server.store()).ok());
    EXPECT_THAT(List(server.store()), IsEmpty());
    EXPECT_THAT(Repair(server.store()), IsOk());
    EXPECT_EQ(FindMistake(server.store(), kName), "");
  }
  EXPECT_GE(requests, 4u);
}

// Each command of the life of a topic arrives again: after the deletion, and when another topic has
// the name. A second Rng gives the second topic another id.
TEST_F(ClusterStepsTest, ACommandThatArrivesLateChangesNoOtherTopic) {
  std::vector<Sent> life;
  const auto live = [&](Server& server, bool creates_again) {
    base::Rng first(1);
    DyingStore recorded(server.store(), kNever);
    EXPECT_THAT(Create(recorded, first), IsOk());
    EXPECT_THAT(Alter(recorded), IsOk());
    EXPECT_THAT(Add(recorded), IsOk());
    EXPECT_THAT(Delete(recorded), IsOk());
    life = recorded.sent();
    base::Rng second(2);
    if (creates_again) {
      EXPECT_THAT(Create(server.store(), second), IsOk());
    }
  };
  Server counted;
  live(counted, false);
  ASSERT_GT(life.size(), 20u);
  for (size_t i = 0; i < life.size(); ++i) {
    SCOPED_TRACE(
        absl::StrCat("command ", i, ": ", life[i].commands[0][0], " ", life[i].commands[0].back()));
    Server gone;
    live(gone, false);
    Send(gone.store(), life[i]);
    EXPECT_FALSE(Describe(gone.store()).ok());
    EXPECT_THAT(List(gone.store()), IsEmpty());
    EXPECT_THAT(Repair(gone.store()), IsOk());
    EXPECT_EQ(FindMistake(gone.store(), kName), "");

    Server replaced;
    live(replaced, true);
    ASSERT_THAT(WriteAll(replaced, Describe(replaced.store()).value()), IsOk());
    const Topic topic = Describe(replaced.store()).value();
    Send(replaced.store(), life[i]);
    ASSERT_THAT(Describe(replaced.store()), IsOk());
    EXPECT_EQ(Describe(replaced.store())->id, topic.id);
    EXPECT_EQ(Describe(replaced.store())->config, topic.config);
    EXPECT_EQ(Describe(replaced.store())->partitions, topic.partitions);
    EXPECT_THAT(List(replaced.store()), ElementsAre(kName));
    for (int32_t partition = 0; partition < topic.partitions; ++partition) {
      const std::string stream = ClusterKeys().Stream({kName, partition}).value();
      EXPECT_EQ(Ask(replaced.store(), {"XLEN", stream}), store::Reply::Integer(1));
    }
    EXPECT_THAT(Repair(replaced.store()), IsOk());
    EXPECT_EQ(FindMistake(replaced.store(), kName), "");
  }
}

// Issue: a producer that lives long trimmed by options of the past.
TEST_F(ClusterStepsTest, AProducerNeverTrimsByOptionsThatItKnowsToBeOld) {
  const auto make_short = [](store::Store& store) {
    base::Rng rng(1);
    Topics topics(store, rng, ClusterKeys());
    const std::vector<ConfigEntry> config = {{"retentionTime", "1000"}};
    NewTopic request;
    request.name = kName;
    request.partitions = 3;
    request.config = config;
    return base::Run(topics.Create(request)).status();
  };
  DieAfterEachCommand(make_short, Alter, [](Server& server, const absl::Status&) {
    const Topic topic = Describe(server.store()).value();
    if (topic.config.retention_time_ms != -1) return;
    Producer producer(server.store(), server.clock(), ClusterKeys(), topic);
    for (int32_t partition = 0; partition < 3; ++partition) {
      const std::string stream = ClusterKeys().Stream({kName, partition}).value();
      Ask(server.store(), {"DEL", stream});
      Ask(server.store(), {"XADD", stream, "1000-0", "value", "old", "timestamp", "1"});
      std::vector<NewRecord> records(1);
      EXPECT_THAT(base::Run(producer.Append(partition, records)), IsOk());
      EXPECT_EQ(Ask(server.store(), {"XLEN", stream}), store::Reply::Integer(2)) << partition;
    }
  });
}

class CommitStepsTest : public ClusterStepsTest {
 protected:
  std::unique_ptr<Consumer> Member(store::Store& store, Server& server, base::Rng& rng) {
    ConsumerOptions options;
    options.heartbeat_interval = absl::ZeroDuration();
    auto consumer =
        std::make_unique<Consumer>(store, server.clock(), rng, ClusterKeys(), "g", options);
    EXPECT_THAT(base::Run(consumer->Subscribe({kName})), IsOk());
    return consumer;
  }
  static int64_t Pending(Server& server) {
    int64_t count = 0;
    for (int32_t partition = 0; partition < 3; ++partition) {
      const std::string stream = ClusterKeys().Stream({kName, partition}).value();
      count += Ask(server.store(), {"XPENDING", stream, "g"}).elements()[0].integer();
    }
    return count;
  }
};

TEST_F(CommitStepsTest, ACommitThatDiedIsRepeatedOrItsRecordsComeAgain) {
  for (const bool repeats : {false, true}) {
    bool is_dead = true;
    for (size_t commands = 0; is_dead; ++commands) {
      SCOPED_TRACE(commands);
      Server server;
      ASSERT_THAT(MakeOne(server.store()), IsOk());
      ASSERT_THAT(WriteAll(server, Describe(server.store()).value()), IsOk());
      base::Rng rng(5);
      const auto reader = Member(server.store(), server, rng);
      ASSERT_EQ(base::Run(reader->Poll())->size(), 3u);
      DyingStore dying(server.store(), commands);
      std::vector<OwnedCommit> commits;
      for (int32_t partition = 0; partition < 3; ++partition) {
        const std::string stream = ClusterKeys().Stream({kName, partition}).value();
        const store::Reply entry = Ask(server.store(), {"XRANGE", stream, "-", "+"}).elements()[0];
        commits.push_back(
            {{kName, partition}, {*store::StreamId::Parse(entry.elements()[0].text())}});
      }
      Coordinator coordinator(dying, ClusterKeys());
      const auto committed = base::Run(coordinator.Commit("g", reader->member_id(), commits));
      is_dead = dying.is_dead();
      EXPECT_EQ(committed.ok(), !is_dead);
      const int64_t acknowledged = 3 - Pending(server);
      EXPECT_EQ(acknowledged,
                std::min<int64_t>(std::max<int64_t>(static_cast<int64_t>(commands) - 1, 0), 3));
      if (repeats) {
        EXPECT_THAT(base::Run(reader->Commit()), IsOk());
        EXPECT_EQ(Pending(server), 0);
      } else {
        server.clock().Advance(absl::Seconds(60));
        const auto next = Member(server.store(), server, rng);
        const auto again = base::Run(next->Poll());
        ASSERT_THAT(again, IsOk());
        EXPECT_EQ(static_cast<int64_t>(again->size()), 3 - acknowledged);
      }
    }
  }
}

// The check of a commit has passed when the member's session ends and another member claims.
TEST_F(CommitStepsTest, ALateCommitLeavesWhatAnotherMemberHasClaimed) {
  Server server;
  ASSERT_THAT(MakeOne(server.store()), IsOk());
  ASSERT_THAT(WriteAll(server, Describe(server.store()).value()), IsOk());
  base::Rng rng(5);
  tests::InterceptedStore slow(server.store());
  const auto reader = Member(slow, server, rng);
  ASSERT_EQ(base::Run(reader->Poll())->size(), 3u);
  const auto next = Member(server.store(), server, rng);
  const size_t before = slow.requests();
  slow.on_request = [&](size_t index) -> std::optional<absl::StatusOr<store::Reply>> {
    if (index != before + 1) return std::nullopt;
    server.clock().Advance(absl::Seconds(60));
    EXPECT_EQ(base::Run(next->Poll())->size(), 3u);
    return std::nullopt;
  };
  EXPECT_THAT(base::Run(reader->Commit()), IsOk());
  EXPECT_EQ(slow.requests(), before + 2) << "the check and the scripts of the partitions";
  EXPECT_EQ(Pending(server), 3) << "the records are those of the other member";
  EXPECT_THAT(base::Run(next->Commit()), IsOk());
  EXPECT_EQ(Pending(server), 0);
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
