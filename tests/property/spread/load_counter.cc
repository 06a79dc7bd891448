#include "redouble/tests/property/spread/load_counter.h"

#include <algorithm>
#include <vector>

#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/command_row.h"
#include "redouble/core/store/table/command_table.h"
#include "redouble/core/store/typed/keys.h"

namespace redouble::inline v0_1::tests {
namespace {

int64_t BytesOf(const store::Command& command) {
  size_t bytes = command.name().size();
  for (const std::string_view argument : command.arguments()) bytes += argument.size();
  return static_cast<int64_t>(bytes);
}

int64_t MemoryOf(store::Store& store, std::string_view key) {
  const auto ask = [&]() -> base::Task<absl::StatusOr<store::Reply>> {
    const std::array<std::string_view, 2> words = {"USAGE", key};
    const auto command = store::Command::Named("MEMORY", words);
    co_return co_await store.Execute(command);
  };
  return base::Run(ask()).value().integer();
}

int64_t& Of(Load& load, Measure measure) { return load[static_cast<size_t>(measure)]; }
int64_t Of(const Load& load, Measure measure) { return load[static_cast<size_t>(measure)]; }

}  // namespace

Load& LoadCounter::LoadOf(std::string_view key) {
  return loads_.try_emplace(std::string(base::HashTag(key))).first->second;
}

// A command without keys runs on any node, or on all of them.
void LoadCounter::Submit(store::Request& request) {
  for (const store::Command& command : request.commands()) {
    const store::CommandId row = store::RowOf(command);
    if (row == store::CommandId::kUnknown) continue;
    const auto keys = store::KeyIndexes(store::SpecOf(row), command.arguments());
    if (!keys || keys->empty()) continue;
    Load& load = LoadOf(command.arguments()[keys->front()]);
    ++Of(load, Measure::kCommands);
    Of(load, Measure::kRequestBytes) += BytesOf(command);
  }
  ForwardingStore::Submit(request);
}

void LoadCounter::CountKeys() {
  const std::vector<std::string> keys = base::Run(store::ScanAll(inner())).value();
  for (const std::string& key : keys) {
    Load& load = LoadOf(key);
    ++Of(load, Measure::kKeys);
    Of(load, Measure::kStoredBytes) += MemoryOf(inner(), key);
  }
}

double LoadCounter::Total(Measure measure) const {
  double total = 0;
  for (const auto& [tag, load] : loads_) total += static_cast<double>(Of(load, measure));
  return total;
}

size_t LoadCounter::LeaveOut(std::string_view prefix) {
  return std::erase_if(loads_, [&](const auto& each) { return each.first.starts_with(prefix); });
}

double LoadCounter::BusiestPart(Measure measure) const {
  int64_t most = 0;
  for (const auto& [tag, load] : loads_) most = std::max(most, Of(load, measure));
  return static_cast<double>(most) / Total(measure);
}

Spread LoadCounter::SpreadOver(int masters, Measure measure) const {
  std::vector<double> nodes(static_cast<size_t>(masters));
  for (const auto& [tag, load] : loads_) {
    const int node = base::KeySlot(tag) * masters / base::kClusterSlots;
    nodes[static_cast<size_t>(node)] += static_cast<double>(Of(load, measure));
  }
  const auto [least, most] = std::minmax_element(nodes.begin(), nodes.end());
  const double even = Total(measure) / masters;
  return {*least / even - 1, *most / even - 1};
}

}  // namespace redouble::inline v0_1::tests
