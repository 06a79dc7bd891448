// The double under the name of redis-server: what starts servers of its own (SpawnedServer) finds
// this first on its PATH, and all tests against live Redis run against `redouble serve`.
//
//   as_redis/redis-server /tmp/x/redis.conf
//
// Takes from the file where to listen, passwords and users, the place in a cluster, and whatever
// CONFIG SET knows; refuses what the double does not have (persistence, replication, TLS). Where
// the wall clock is held (backends/redis/spawn/held_clock.h) it follows, and tells in the clock's
// page when it has done what a new time asks for.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/memory/acl/acl.h"
#include "backends/memory/engine.h"
#include "backends/memory/session.h"
#include "backends/redis/spawn/held_clock_page.h"
#include "core/base/run.h"
#include "core/base/task.h"
#include "core/store/command.h"
#include "core/store/reply.h"
#include "core/store/store.h"
#include "sim/server/server.h"
#include "tests/support/words.h"

namespace redouble::tests {
namespace {

// As often as the servers of tests look at their clock (hz 500), and more.
constexpr absl::Duration kUpkeepPeriod = absl::Milliseconds(1);

// Of how a process runs and what it keeps on a disk; and that of the bus of a cluster.
constexpr std::string_view kMeansNothing[] = {"unixsocketperm",
                                              "dir",
                                              "daemonize",
                                              "supervised",
                                              "set-proc-title",
                                              "hz",
                                              "dynamic-hz",
                                              "active-expire-effort",
                                              "enable-debug-command",
                                              "cluster-port",
                                              "cluster-announce-bus-port"};

struct Configuration {
  sim::ServeOptions options;
  // What is left to set when the engine stands, as commands.
  std::vector<Words> commands;
};

memory::ClusterAddress& Self(Configuration& configuration) {
  auto& cluster = configuration.options.engine.cluster;
  if (!cluster) cluster.emplace();
  return cluster->shards[0].master;
}

absl::Status ReadPort(const std::string& text, int& port) {
  return absl::SimpleAtoi(text, &port)
             ? absl::OkStatus()
             : absl::InvalidArgumentError(absl::StrCat("no port: ", text));
}

// Of the line that a node wrote of itself, its id.
std::string NodeId(const std::string& path) {
  std::ifstream file(path);
  std::string id;
  file >> id;
  return id;
}

absl::Status ReadDirective(Words words, Configuration& configuration) {
  const std::string name = words[0];
  memory::ServerOptions& server = configuration.options.engine.server;
  if (std::find(std::begin(kMeansNothing), std::end(kMeansNothing), name) !=
      std::end(kMeansNothing)) {
    return absl::OkStatus();
  }
  if (words.size() < 2) return absl::InvalidArgumentError("wrong number of arguments");
  if (name == "port") return ReadPort(words[1], server.port);
  if (name == "bind") {
    server.bind = words[1];
  } else if (name == "unixsocket") {
    server.unixsocket = words[1];
  } else if (name == "cluster-enabled") {
    if (words[1] == "yes") Self(configuration);
  } else if (name == "cluster-config-file") {
    Self(configuration).id = NodeId(words[1]);
  } else if (name == "cluster-announce-ip") {
    Self(configuration).host = words[1];
  } else if (name == "cluster-announce-port") {
    return ReadPort(words[1], Self(configuration).port);
  } else if (name == "user") {
    words[0] = "SETUSER";
    words.insert(words.begin(), "ACL");
    configuration.commands.push_back(std::move(words));
  } else {
    const std::string value = absl::StrJoin(words.begin() + 1, words.end(), " ");
    configuration.commands.push_back({"CONFIG", "SET", name, value});
  }
  return absl::OkStatus();
}

absl::StatusOr<Configuration> ReadConfiguration(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  Configuration configuration;
  for (std::string line; std::getline(file, line);) {
    absl::StatusOr<Words> words = SplitWords(line);
    if (!words.ok()) return words.status();
    if (words->empty() || words->front().starts_with('#')) continue;
    if (absl::Status status = ReadDirective(*std::move(words), configuration); !status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(line, ": ", status.message()));
    }
  }
  return configuration;
}

base::Task<absl::StatusOr<store::Reply>> Send(store::Store& store, const Words& words) {
  const std::vector<std::string_view> arguments(words.begin() + 1, words.end());
  const store::Command command = store::Command::Named(words[0], arguments);
  co_return co_await store.Execute(command);
}

absl::Status Apply(const std::vector<Words>& commands, memory::Engine& engine) {
  const std::unique_ptr<memory::Session> session = engine.Connect();
  session->LogIn(engine.acl().program());
  for (const Words& words : commands) {
    const absl::StatusOr<store::Reply> reply = base::Run(Send(*session, words));
    if (!reply.ok()) return reply.status();
    if (reply->is_error()) {
      return absl::InvalidArgumentError(absl::StrCat(JoinWords(words), ": ", reply->text()));
    }
  }
  return absl::OkStatus();
}

// The page of the clock that this process was started under; null when its clock is not held.
HeldClockPage* MapClockPage() {
  const char* path = std::getenv(REDOUBLE_HELD_CLOCK_PAGE_VARIABLE);
  if (path == nullptr) return nullptr;
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* page = mmap(nullptr, sizeof(HeldClockPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return page == MAP_FAILED ? nullptr : static_cast<HeldClockPage*>(page);
}

absl::Status Serve(const std::string& path) {
  absl::StatusOr<Configuration> configuration = ReadConfiguration(path);
  if (!configuration.ok()) return configuration.status();
  if (HeldClockPage* page = MapClockPage()) {
    configuration->options.upkeep_period = kUpkeepPeriod;
    configuration->options.after_upkeep = [page] {
      __atomic_fetch_add(&page->idle_turns, 1, __ATOMIC_SEQ_CST);
    };
  }
  const auto server = sim::Server::Open(std::move(configuration->options));
  if (!server.ok()) return server.status();
  const absl::Status applied = Apply(configuration->commands, (*server)->engine());
  if (!applied.ok()) return applied;
  (*server)->Run();
  return absl::OkStatus();
}

}  // namespace
}  // namespace redouble::tests

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: redis-server CONFIGURATION\n";
    return 1;
  }
  const absl::Status status = redouble::tests::Serve(argv[1]);
  if (status.ok()) return 0;
  std::cerr << "*** FATAL CONFIG FILE ERROR (Redis 7.0.15) ***\n" << status.message() << "\n";
  return 1;
}
