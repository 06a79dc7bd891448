// KeyspaceWalk: visits the keys of databases as they were when the walk began, in parts between
// which commands may change them. Background saves use it.
//
//   KeyspaceWalk walk({&db}, encode);
//   std::string bytes;
//   while (walk.Next(0, bytes)) Pause();   // Commands may run.
//
// The keys of a database come in the order that they had at the beginning. Nothing is copied at
// the beginning: a key that is about to change before the walk has reached it is encoded then, and
// its bytes are kept until the walk comes to its place. Removing a key moves the last key of its
// database to its place, so the bytes of both are kept. Keys that are added later are not visited
// and cost nothing: their places come after those of the walk, or belonged to keys whose bytes are
// kept.
//
// The walk takes the place of the databases' access observer, so that a database that is not
// walked pays nothing for it. Several walks may go over one database at a time.
//
// Thread-safety: the walk and the databases must be used by one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_KEYSPACE_KEYSPACE_WALK_H_
#define REDOUBLE_BACKENDS_MEMORY_KEYSPACE_KEYSPACE_WALK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "redouble/backends/memory/keyspace/access_observer.h"
#include "redouble/backends/memory/keyspace/database.h"
#include "redouble/backends/memory/keyspace/eviction_record.h"

namespace redouble::inline v0_1::memory {

// Appends what a walk's owner wants to know of a key. It must not look keys up, which the walk
// would see. `use` takes the place of the entry's record.
using EncodeKey = std::function<void(const Database& db, const Database::Entry& entry,
                                     EvictionRecord use, std::string& out)>;

// The part of a walk that goes over one database.
class DatabaseWalk final : private AccessObserver {
 public:
  // `db` must not have an access observer. `encode` must outlive the object, and `db` too unless
  // all keys have been visited. `keeps_use`: the encoder reads the record of a key's use, so that
  // lookups change what it appends.
  DatabaseWalk(Database& db, const EncodeKey& encode, bool keeps_use);
  DatabaseWalk(const DatabaseWalk&) = delete;
  DatabaseWalk& operator=(const DatabaseWalk&) = delete;
  ~DatabaseWalk();

  // The keys of the database, and those with an expiry, when the walk began.
  size_t keys() const { return end_; }
  size_t expiring() const { return expiring_; }
  // The size of what has been encoded and not visited.
  size_t kept_bytes() const { return kept_bytes_; }
  // Appends the next key. Returns false if all have been visited.
  bool Next(std::string& out);
  // Whether the command that runs changes no key that it looks up.
  void set_only_reads(bool value) { only_reads_ = value; }

 private:
  friend class Database;

  void OnRead(std::string_view key) override;
  void OnWrite(std::string_view key) override;
  void OnRead(State) override {}
  void OnWrite(State) override {}
  void OnAll() override {}
  // The key at this position will change or move.
  void OnChangeAt(size_t position);

  // Whether the walk will come to the key that is at this position now.
  bool Awaits(size_t position) const {
    return position >= next_ && position < end_ && !kept_.contains(position);
  }
  void Encode(size_t position, std::string& out);
  void StopWatching();

  Database* db_;  // Null when all keys have been visited.
  const EncodeKey& encode_;
  const bool keeps_use_;
  const size_t end_;
  const size_t expiring_;
  size_t next_ = 0;
  bool only_reads_ = false;
  DatabaseWalk* other_ = nullptr;  // The next one in the list of the database's walks.
  // By the positions at the beginning: what was encoded, and the records before the first lookup.
  absl::flat_hash_map<size_t, std::string> kept_;
  size_t kept_bytes_ = 0;
  absl::flat_hash_map<size_t, EvictionRecord> uses_;
};

class KeyspaceWalk {
 public:
  // As in DatabaseWalk, for each of the databases.
  KeyspaceWalk(const std::vector<Database*>& databases, EncodeKey encode, bool keeps_use = false);

  size_t database_count() const { return parts_.size(); }
  size_t keys(size_t index) const { return parts_[index]->keys(); }
  size_t expiring(size_t index) const { return parts_[index]->expiring(); }
  size_t kept_bytes() const;
  // Appends the next key of a database. Returns false if all have been visited.
  bool Next(size_t index, std::string& out) { return parts_[index]->Next(out); }
  // Whether the command that runs changes no key that it looks up. Initially false.
  void set_only_reads(bool value);
  // Takes a database that the walk goes over and that is no longer used, so that it need not be
  // copied. It is freed with the walk.
  void Keep(std::shared_ptr<Database> retired) { retired_.push_back(std::move(retired)); }

 private:
  const EncodeKey encode_;
  std::vector<std::shared_ptr<Database>> retired_;  // Outlive the parts.
  std::vector<std::unique_ptr<DatabaseWalk>> parts_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_KEYSPACE_KEYSPACE_WALK_H_
