#include "redouble/tests/golden/replay/raw_replay.h"

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/message_source.h"
#include "redouble/tests/golden/replay/keyspace_check.h"
#include "redouble/tests/golden/replay/off_record.h"
#include "redouble/tests/golden/replay/reply_check.h"

namespace redouble::inline v0_1::golden {
namespace {

using store::Command;
using store::Reply;

using MaybeDifference = std::optional<Difference>;

// The maximum time that a command may block, and the step by which the clock moves.
constexpr absl::Duration kLongestBlock = absl::Minutes(2);
constexpr absl::Duration kBlockStep = absl::Milliseconds(10);

class RawReplay {
 public:
  RawReplay(const Golden& golden, sim::ScenarioBackend& backend, const Substitute& substitute)
      : golden_(golden), backend_(backend), substitute_(substitute) {}

  Outcome Run() {
    if (MaybeDifference difference = Replay()) return Outcome::Failed(*std::move(difference));
    if (set_up_ == 0) return Outcome::Passed();
    return Outcome::Passed(absl::StrCat(set_up_, " keys set up off the record"));
  }

 private:
  // Records the pushes of a connection, as the recorder did.
  class RecordingListener final : public store::PushListener {
   public:
    RecordingListener(const std::string& connection, Json& heard)
        : name_(connection), heard_(heard) {}

    void OnPush(const Reply& push) override {
      if (!store::ReadMessage(push)) return;
      heard_.push_back(Json{{"conn", name_}, {"message", ReplyToRecorded(push)}});
    }

   private:
    const std::string name_;
    Json& heard_;
  };

  struct Connection {
    std::unique_ptr<RecordingListener> listener;
    std::unique_ptr<store::Store> store;
    bool in_transaction = false;
    std::vector<const RecordedCommand*> queued;
  };

  struct Sent {
    explicit Sent(const RecordedCommand& recorded)
        : recorded(recorded), command(Command::Named(recorded.words.front())) {
      command.AddAll(std::span(recorded.words).subspan(1));
    }

    const RecordedCommand& recorded;
    Command command;
    std::optional<base::Task<absl::StatusOr<Reply>>> task;
  };

  MaybeDifference Replay() {
    const absl::StatusOr<int> set_up = SetUpOffRecord(golden_, backend_);
    if (!set_up.ok()) return DifferenceOf("/keyspace", set_up.status());
    set_up_ = *set_up;
    for (const RecordedStep& step : golden_.steps) {
      if (MaybeDifference difference = ReplayStep(step)) return difference;
    }
    if (golden_.published) {
      if (auto difference =
              CompareJson(EncodeRecorded(*golden_.published), published_, "/published")) {
        return difference;
      }
    }
    if (!golden_.keyspace) return std::nullopt;
    return CheckKeyspace(*golden_.keyspace, "/keyspace");
  }

  MaybeDifference ReplayStep(const RecordedStep& step) {
    if (step.at) {
      if (MaybeDifference difference = Elapse(*step.at - at_, step.path)) return difference;
      at_ = *step.at;
    }
    for (const RecordedCommand& command : step.commands) {
      if (MaybeDifference difference = Send(command)) return difference;
    }
    if (!sent_.empty()) {
      return Difference{sent_.front().recorded.path, "the command still waits",
                        sent_.front().recorded.reply ? sent_.front().recorded.reply->dump() : "",
                        "no reply"};
    }
    const Json heard = std::exchange(heard_, Json::array());
    if (auto difference = CompareJson(ByConnection(EncodeRecorded(step.messages)),
                                      ByConnection(heard), step.path + "/deliveries")) {
      return difference;
    }
    if (!step.keyspace) return std::nullopt;
    if (MaybeDifference difference = Elapse(kRecordersPace, step.path)) return difference;
    return CheckKeyspace(*step.keyspace, step.path + "/keyspace");
  }

  // Redis does not promise in which order two connections receive a message.
  static Json ByConnection(Json messages) {
    std::stable_sort(messages.begin(), messages.end(), [](const Json& a, const Json& b) {
      return a["conn"].get_ref<const std::string&>() < b["conn"].get_ref<const std::string&>();
    });
    return messages;
  }

  MaybeDifference Elapse(absl::Duration duration, const std::string& path) {
    const absl::Status status = backend_.AdvanceTo(backend_.clock().Now() + duration);
    if (!status.ok()) return DifferenceOf(path, status);
    return std::nullopt;
  }

  MaybeDifference Send(const RecordedCommand& command) {
    Connection& connection = connections_[command.connection];
    if (connection.store == nullptr) {
      absl::StatusOr<std::unique_ptr<store::Store>> store = backend_.Connect();
      if (!store.ok()) return DifferenceOf(command.path, store.status());
      connection.store = *std::move(store);
      connection.listener = std::make_unique<RecordingListener>(command.connection, heard_);
      if (auto* const source = dynamic_cast<store::MessageSource*>(connection.store.get())) {
        source->Listen(connection.listener.get());
      }
    }
    Sent& sent = sent_.emplace_back(command);
    std::optional<base::Task<absl::StatusOr<Reply>>> operation;
    if (substitute_) operation = substitute_(command, *connection.store);
    sent.task.emplace(operation ? *std::move(operation) : Execute(*connection.store, sent.command));
    sent.task->Start();
    const bool gives_up = command.reply && command.reply->is_null();
    for (absl::Duration waited; gives_up && !sent.task->done() && waited < kLongestBlock;
         waited += kBlockStep) {
      if (MaybeDifference difference = Elapse(kBlockStep, command.path)) return difference;
    }
    return Collect();
  }

  // Checks the replies that have arrived.
  MaybeDifference Collect() {
    for (auto sent = sent_.begin(); sent != sent_.end();) {
      if (!sent->task->done()) {
        ++sent;
        continue;
      }
      const absl::StatusOr<Reply> reply = sent->task->TakeResult();
      const RecordedCommand& recorded = sent->recorded;
      sent = sent_.erase(sent);
      if (!reply.ok()) return DifferenceOf(recorded.path, reply.status());
      NotePublished(recorded, *reply);
      if (!recorded.reply && IsUnknownCommand(*reply)) {
        return Difference{recorded.path, "the server does not have the command", "any answer",
                          reply->text()};
      }
      if (!recorded.reply) continue;
      if (auto difference = CompareReply(recorded, *reply, golden_.system)) return difference;
    }
    return std::nullopt;
  }

  // Returns whether Redis does not know the command, which no recorded server replied.
  static bool IsUnknownCommand(const Reply& reply) {
    return reply.is_error() && (reply.text().starts_with("ERR unknown command") ||
                                reply.text().starts_with("ERR unknown subcommand"));
  }

  // Notes the message of a PUBLISH that was not refused, alone or in a transaction.
  void NotePublished(const RecordedCommand& command, const Reply& reply) {
    Connection& connection = connections_[command.connection];
    const std::string& name = command.words.front();
    if (name == "MULTI") {
      connection.in_transaction = true;
    } else if (name == "EXEC" || name == "DISCARD") {
      for (size_t i = 0; reply.is_array() && i < connection.queued.size(); ++i) {
        if (i < reply.elements().size()) Publish(*connection.queued[i], reply.elements()[i]);
      }
      connection.in_transaction = false;
      connection.queued.clear();
    } else if (connection.in_transaction) {
      if (!reply.is_error()) connection.queued.push_back(&command);
    } else {
      Publish(command, reply);
    }
  }

  void Publish(const RecordedCommand& command, const Reply& reply) {
    constexpr size_t kWords = 3;
    if (command.words.front() != "PUBLISH" || command.words.size() != kWords) return;
    if (!reply.is_integer()) return;
    const Json message{{"channel", command.words[1]}, {"message", command.words[2]}};
    published_.push_back(EncodeRecorded(message));
  }

  MaybeDifference CheckKeyspace(const RecordedKeyspace& recorded, const std::string& path) {
    const absl::StatusOr<std::unique_ptr<store::Store>> reader = backend_.Connect();
    if (!reader.ok()) return DifferenceOf(path, reader.status());
    base::Task<absl::StatusOr<sim::Keyspace>> task = ReadServer(**reader, golden_.system);
    task.Start();
    if (!task.done()) return Difference{path, "reading the keyspace does not end"};
    const absl::StatusOr<sim::Keyspace> got = task.TakeResult();
    if (!got.ok()) return DifferenceOf(path, got.status());
    return CompareKeyspaces(recorded, *got, path);
  }

  static base::Task<absl::StatusOr<Reply>> Execute(store::Store& store, const Command& command) {
    co_return co_await store.Execute(command);
  }

  const Golden& golden_;
  sim::ScenarioBackend& backend_;
  const Substitute& substitute_;
  std::map<std::string, Connection> connections_;
  // Declared after the connections, which the tasks use until their destruction.
  std::list<Sent> sent_;
  Json published_ = Json::array();
  Json heard_ = Json::array();  // Since the beginning of the step.
  absl::Duration at_;
  int set_up_ = 0;
};

// Returns whether the golden has no commands and nothing that commands could have left.
bool RecordsNothing(const Golden& golden) {
  const auto is_empty = [](const RecordedStep& step) {
    return step.commands.empty() && (!step.keyspace || step.keyspace->empty());
  };
  return std::all_of(golden.steps.begin(), golden.steps.end(), is_empty) &&
         (!golden.keyspace || golden.keyspace->empty()) &&
         (!golden.published || golden.published->empty());
}

// Returns whether a message was published that no recorded command published. The recorder then
// sent commands without recording them, and the recorded ones do not lead to the recorded state.
bool PublishedOffRecord(const Golden& golden) {
  if (!golden.published) return false;
  return std::any_of(golden.published->begin(), golden.published->end(), [&](const Json& message) {
    return std::none_of(golden.steps.begin(), golden.steps.end(), [&](const RecordedStep& step) {
      return std::any_of(step.commands.begin(), step.commands.end(), [&](const auto& command) {
        return command.words.size() == 3 && command.words[0] == "PUBLISH" &&
               message.value("channel", "") == command.words[1];
      });
    });
  });
}

}  // namespace

Outcome ReplayRaw(const Golden& golden, sim::ScenarioBackend& backend,
                  const Substitute& substitute) {
  if (RecordsNothing(golden)) return Outcome::Skipped("no commands recorded");
  if (golden.system == System::kRelayna && PublishedOffRecord(golden)) {
    return Outcome::Skipped("published off the record");
  }
  const absl::Status begun = backend.Begin({.start = golden.start});
  if (!begun.ok()) return Outcome::Failed(DifferenceOf("", begun));
  return RawReplay(golden, backend, substitute).Run();
}

}  // namespace redouble::inline v0_1::golden
