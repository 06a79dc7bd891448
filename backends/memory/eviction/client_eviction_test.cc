// Goal: maxmemory-clients costs no walk over all clients for each command.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/session_for_test.h"
#include "redouble/backends/memory/server/testing/host_for_test.h"
#include "redouble/core/base/time/virtual_clock.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr size_t kLimitBytes = 1'000'000;

// A host whose clients have received as much as a test says. Counts the clients it was asked about.
class CountingHost final : public HostForTest {
 public:
  int asked = 0;
  std::vector<int64_t> closed;
  std::map<int64_t, size_t> query_bytes;

 private:
  ConnectionFigures FiguresOf(const SessionCore& session) override {
    ++asked;
    ConnectionFigures figures;
    figures.query_bytes = query_bytes[session.id()];
    return figures;
  }
  void OnDisconnect(const SessionCore& session) override { closed.push_back(session.id()); }
};

class ClientEviction : public testing::Test {
 protected:
  ClientEviction() {
    administration().set_host(&host_);
    for (int i = 0; i < 100; ++i) clients_.push_back(engine_.core().Connect());
    RecordingSession admin(engine_);
    EXPECT_EQ(admin.Send({"CONFIG", "SET", "maxmemory-clients", std::to_string(kLimitBytes)}),
              "OK");
    administration().EvictClients();
    host_.asked = 0;
  }
  ~ClientEviction() override { administration().set_host(nullptr); }

  Administration& administration() { return engine_.core().administration(); }
  // The client has received this.
  void Receive(int client, size_t bytes) {
    const int64_t id = clients_[client]->id();
    host_.query_bytes[id] = bytes;
    administration().NoteClientSize(id);
  }

  base::VirtualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  Engine engine_{clock_};
  CountingHost host_;
  std::vector<std::unique_ptr<SessionCore>> clients_;
};

TEST_F(ClientEviction, MeasuresOnlyClientsWhoseSizeMayHaveChanged) {
  administration().EvictClients();
  EXPECT_EQ(host_.asked, 0);
  Receive(7, 1000);
  Receive(8, 1000);
  administration().EvictClients();
  EXPECT_EQ(host_.asked, 2);
  EXPECT_TRUE(host_.closed.empty());
}

TEST_F(ClientEviction, ClosesTheLargestClientWhenTheSumReachesTheLimit) {
  Receive(1, kLimitBytes / 2);
  administration().EvictClients();
  EXPECT_TRUE(host_.closed.empty());
  Receive(2, kLimitBytes / 3);
  Receive(3, kLimitBytes / 3);
  administration().EvictClients();
  EXPECT_EQ(host_.closed, std::vector<int64_t>{clients_[1]->id()});
}

TEST_F(ClientEviction, ForgetsTheSizeOfAClientThatHasGone) {
  for (int i = 0; i < 50; ++i) {
    Receive(i, kLimitBytes / 2);
    administration().EvictClients();
    clients_[i].reset();
  }
  EXPECT_TRUE(host_.closed.empty());
}

TEST_F(ClientEviction, MeasuresAllClientsWhenTheLimitIsSetAgain) {
  RecordingSession admin(engine_);
  EXPECT_EQ(admin.Send({"CONFIG", "SET", "maxmemory-clients", "0"}), "OK");
  Receive(1, 2 * kLimitBytes);
  administration().EvictClients();
  EXPECT_EQ(host_.asked, 0);
  EXPECT_EQ(admin.Send({"CONFIG", "SET", "maxmemory-clients", std::to_string(kLimitBytes)}), "OK");
  administration().EvictClients();
  EXPECT_EQ(host_.closed, std::vector<int64_t>{clients_[1]->id()});
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
