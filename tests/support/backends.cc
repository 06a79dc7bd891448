#include "tests/support/backends.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/redis/fsm/cluster_route.h"
#include "backends/redis/net/blocking_store.h"
#include "backends/redis/options.h"
#include "core/base/string_bridge.h"
#include "core/store/command_table.h"

namespace redouble::tests {
namespace {

// A reply that is due comes within microseconds, but for a server that has stopped answering or a
// machine that is very busy.
constexpr absl::Duration kPatience = absl::Seconds(20);

void DieUnless(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "the live backend failed: %s\n", status.ToString().c_str());
  std::abort();
}

// Prints what a cluster refuses because of where keys are, with the keys.
class RefusalPrinter final : public store::Store {
 public:
  explicit RefusalPrinter(std::unique_ptr<store::Store> inner) : inner_(std::move(inner)) {}

  // The store behind it completes what it is given during the call.
  void Submit(store::Request& request) override {
    Answered answered(request);
    inner_->Submit(answered);
    const bool refused = answered.result.ok()
                             ? IsKeyError(*answered.result)
                             : absl::IsFailedPrecondition(answered.result.status());
    if (refused) Print(request);
    request.Complete(std::move(answered.result));
  }

 private:
  class Answered final : public store::Request {
   public:
    explicit Answered(const store::Request& asked) : Request(asked.kind(), asked.commands()) {}
    absl::StatusOr<store::Reply> result;

   private:
    void OnComplete(absl::StatusOr<store::Reply>&& done) override { result = std::move(done); }
  };

  // A script that reaches for a key which it did not declare.
  static bool IsKeyError(const store::Reply& reply) {
    return reply.is_error() && absl::StrContains(reply.text(), "non local key");
  }

  static void Print(const store::Request& request) {
    const bool transaction = request.kind() == store::Request::Kind::kTransaction;
    std::string line = transaction ? "[cluster refused] MULTI" : "[cluster refused]";
    for (const store::Command& command : request.commands()) {
      if (!transaction && redis::RouteOf(command).ok() && request.commands().size() > 1) continue;
      if (!transaction) {
        absl::StrAppend(&line, " ", absl::AsciiStrToUpper(base::ToAbsl(command.name())));
      }
      const store::CommandId row = redis::RowOf(command);
      if (row == store::CommandId::kUnknown) continue;
      const auto keys = store::KeyIndexes(store::SpecOf(row), command.arguments());
      for (const size_t key : keys.value_or(std::vector<size_t>())) {
        absl::StrAppend(&line, "\t", absl::CHexEscape(base::ToAbsl(command.arguments()[key])));
      }
    }
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }

  const std::unique_ptr<store::Store> inner_;
};

}  // namespace

absl::Status MemoryBackend::Start(absl::Time start) {
  clock_ = std::make_unique<base::VirtualClock>(start);
  engine_ = std::make_unique<memory::Engine>(*clock_);
  return absl::OkStatus();
}

std::unique_ptr<store::Store> MemoryBackend::Connect() { return engine_->Connect(); }

absl::Time MemoryBackend::Now() const { return clock_->Now(); }

void MemoryBackend::AdvanceTo(absl::Time time) { clock_->AdvanceTo(time); }

absl::Status LiveBackend::Start(absl::Time start) {
  const char* kind = std::getenv("REDOUBLE_LIVE_BACKEND");
  if (kind != nullptr && std::string_view(kind) == "cluster") return StartCluster(start);
  redis::SpawnedServerOptions options;
  options.held_time = start;
  absl::StatusOr<std::unique_ptr<redis::SpawnedServer>> server =
      redis::SpawnedServer::Start(options);
  if (!server.ok()) return server.status();
  server_ = *std::move(server);
  return absl::OkStatus();
}

absl::Status LiveBackend::StartCluster(absl::Time start) {
  static absl::StatusOr<std::unique_ptr<redis::SpawnedCluster>> shared =
      redis::SpawnedCluster::Start({.masters = 3, .held_time = start});
  if (!shared.ok()) return shared.status();
  cluster_ = shared->get();
  const std::unique_ptr<store::Store> store = Connect();
  for (const auto& words :
       {std::vector<std::string_view>{"FLUSHALL"}, std::vector<std::string_view>{"SCRIPT", "FLUSH"},
        std::vector<std::string_view>{"FUNCTION", "FLUSH"}}) {
    const auto send = [&]() -> base::Task<absl::StatusOr<store::Reply>> {
      const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
      co_return co_await store->Execute(command);
    };
    if (absl::Status status = base::Run(send()).status(); !status.ok()) return status;
  }
  return cluster_->SetTime(start);
}

std::unique_ptr<store::Store> LiveBackend::Connect() {
  redis::Options options;
  if (cluster_ != nullptr) {
    options = *redis::Options::Parse(cluster_->uri());
  } else {
    options.address = redis::UnixAddress{server_->unix_socket()};
  }
  options.connect_timeout = kPatience;
  options.command_timeout = kPatience;
  absl::StatusOr<std::unique_ptr<redis::BlockingStore>> store =
      redis::BlockingStore::Connect(options);
  DieUnless(store.status());
  if (cluster_ != nullptr) return std::make_unique<RefusalPrinter>(*std::move(store));
  return *std::move(store);
}

absl::Time LiveBackend::Now() const {
  return cluster_ != nullptr ? *cluster_->node(0).held_time() : *server_->held_time();
}

void LiveBackend::AdvanceTo(absl::Time time) {
  if (time <= Now()) return;
  DieUnless(cluster_ != nullptr ? cluster_->SetTime(time) : server_->SetTime(time));
  DieUnless(cluster_ != nullptr ? cluster_->Settle() : server_->Settle());
}

}  // namespace redouble::tests
