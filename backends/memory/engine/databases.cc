// How whole databases are swapped, flushed and replaced, and walks over them.
#include <cassert>
#include <memory>
#include <utility>
#include <vector>

#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/keyspace/keyspace_walk.h"

namespace redouble::inline v0_1::memory {

void EngineCore::SwapDatabases(int a, int b) {
  if (a == b) return;
  const int64_t now_ms = clock_.NowMillis();
  watching_.TouchAll(a, database(a), &database(b), now_ms);
  watching_.TouchAll(b, database(b), &database(a), now_ms);
  blocking_.MarkAllGone(a, database(a), &database(b));
  blocking_.MarkAllGone(b, database(b), &database(a));
  std::swap(databases_[a], databases_[b]);
  ++changes_;
  blocking_.MarkAllReady(a, database(a));
  blocking_.MarkAllReady(b, database(b));
}

void EngineCore::FlushDatabase(int index) {
  watching_.TouchAll(index, database(index), nullptr, clock_.NowMillis());
  blocking_.MarkAllGone(index, database(index), nullptr);
  tracking_.AllChanged();
  changes_ += static_cast<int64_t>(database(index).size());
  if (walks_.empty()) return database(index).Clear();
  memory_limit_.Forget(database(index));
  ReplaceDatabase(index, std::make_unique<Database>());
  UpdateExpiry();
}

void EngineCore::ReplaceDatabase(int index, std::unique_ptr<Database> next) {
  next->SetObserver(observer_);
  const std::shared_ptr<Database> retired = std::exchange(databases_[index], std::move(next));
  for (KeyspaceWalk* walk : walks_) walk->Keep(retired);
}

void EngineCore::ReplaceDatabases(std::vector<std::unique_ptr<Database>> databases) {
  assert(databases.size() == databases_.size());
  memory_limit_.Forget();
  for (int index = 0; index < database_count(); ++index) {
    watching_.TouchAll(index, database(index), nullptr, clock_.NowMillis());
    blocking_.MarkAllGone(index, database(index), nullptr);
    ReplaceDatabase(index, std::move(databases[static_cast<size_t>(index)]));
    if (observer_ != nullptr) observer_->OnAll();
    blocking_.MarkAllReady(index, database(index));
  }
  tracking_.AllChanged();
  UpdateExpiry();
  memory_limit_.MeasureAll();
}

void EngineCore::AddWalk(KeyspaceWalk& walk) {
  assert(observer_ == nullptr);
  walks_.push_back(&walk);
  watches_calls_ = true;
}

void EngineCore::RemoveWalk(KeyspaceWalk& walk) {
  std::erase(walks_, &walk);
  watches_calls_ = !walks_.empty();
}

}  // namespace redouble::inline v0_1::memory
