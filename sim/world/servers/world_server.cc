#include "redouble/sim/world/servers/world_server.h"

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::sim {
namespace {

// No two servers and keys have the same result, because the length comes first.
std::string NameOfKey(std::string_view server, std::string_view key) {
  return absl::StrCat(server.size(), ":", base::ToAbsl(server), ":", base::ToAbsl(key));
}

}  // namespace

const memory::ClusterView* WorldServer::cluster() { return engine_.core().cluster(); }

void WorldServer::NamedAccesses::OnRead(std::string_view key) {
  footprint_->OnRead(NameOfKey(server_, key));
}

void WorldServer::NamedAccesses::OnWrite(std::string_view key) {
  footprint_->OnWrite(NameOfKey(server_, key));
}

void WorldServer::Observe(Footprint* footprint, bool is_one_of_many) {
  memory::AccessObserver* observer = footprint;
  if (footprint != nullptr && is_one_of_many) {
    accesses_.set_footprint(footprint);
    observer = &accesses_;
  }
  engine_.core().SetAccessObserver(observer);
}

}  // namespace redouble::inline v0_1::sim
