// WorldServer: one Redis of a world: a memory engine with a name.
//
// A world has one server, "main", and further ones that its options name (ServerOptions in
// sim/world/world.h). Servers share the world's clock and nothing else.
//
//   WorldServer server(clock, "replica", {.seed = 7});
//   const std::unique_ptr<memory::Session> session = server.engine().Connect();
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_WORLD_SERVERS_WORLD_SERVER_H_
#define REDOUBLE_SIM_WORLD_SERVERS_WORLD_SERVER_H_

#include <string>
#include <string_view>
#include <utility>

#include "redouble/backends/memory/cluster/cluster_view.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/backends/memory/keyspace/access_observer.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/sim/decision/footprint.h"

namespace redouble::inline v0_1::sim {

class WorldServer {
 public:
  // `clock` must outlive the server.
  WorldServer(base::VirtualClock& clock, std::string name, memory::EngineOptions options)
      : name_(std::move(name)), engine_(clock, std::move(options)) {}
  WorldServer(const WorldServer&) = delete;
  WorldServer& operator=(const WorldServer&) = delete;

  const std::string& name() const { return name_; }
  memory::Engine& engine() { return engine_; }
  // What the server knows of its cluster; null if it is no node of one.
  const memory::ClusterView* cluster();

  // Reports what commands access to the footprint, which must outlive the observation; null ends
  // it. If `is_one_of_many`, keys have the server's name, so that equal keys of two servers differ.
  void Observe(Footprint* footprint, bool is_one_of_many);

 private:
  // Names the keys of one server of many.
  class NamedAccesses final : public memory::AccessObserver {
   public:
    explicit NamedAccesses(const std::string& server) : server_(server) {}
    void set_footprint(Footprint* footprint) { footprint_ = footprint; }

    void OnRead(std::string_view key) override;
    void OnWrite(std::string_view key) override;
    void OnRead(State state) override { footprint_->OnRead(state); }
    void OnWrite(State state) override { footprint_->OnWrite(state); }
    void OnAll() override { footprint_->OnAll(); }

   private:
    const std::string& server_;
    Footprint* footprint_ = nullptr;
  };

  const std::string name_;
  NamedAccesses accesses_{name_};
  memory::Engine engine_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_WORLD_SERVERS_WORLD_SERVER_H_
