// Lookahead: prefetches the keys of the next commands of a pipeline.
//
// Why it exists: with many keys, a command spends most of its time on three dependent cache misses
// for its key. The following commands are already in the buffer, so their misses can overlap with
// this command's. Only the running time depends on it.
//
//   Lookahead ahead(bytes);
//   for each command that ends at `used`: ahead.Prefetch(used, database); run it;
//
// The second word is assumed to be the key: right for most commands, harmless for the others.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SERVER_LOOKAHEAD_H_
#define REDOUBLE_SIM_SERVER_LOOKAHEAD_H_

#include <cstddef>
#include <string_view>

#include "redouble/backends/memory/keyspace/database.h"
#include "redouble/core/store/resp/request_parser.h"

namespace redouble::inline v0_1::sim {

class Lookahead {
 public:
  // `bytes` must outlive this object.
  explicit Lookahead(std::string_view bytes) : bytes_(bytes) {}

  // Call before the command that ends at `used` runs. Prefetches the entry of the next command's
  // key, whose slot the previous call prefetched, and the slot of the key after that.
  void Prefetch(size_t used, const memory::Database& database) {
    if (has_next_) database.PrefetchAtPlace(next_hash_);
    if (end_ <= used) {
      end_ = used;
      SkimOne(database);
    }
    SkimOne(database);
  }

 private:
  // Scans one more command and keeps the hash of its key, if it has one.
  void SkimOne(const memory::Database& database) {
    size_t size = 0;
    std::string_view key;
    has_next_ = false;
    if (is_over_ || !store::RequestParser::Skim(bytes_.substr(end_), size, key)) {
      is_over_ = true;
      return;
    }
    end_ += size;
    if (key.empty()) return;
    next_hash_ = database.PrefetchPlace(key);
    has_next_ = true;
  }

  const std::string_view bytes_;
  size_t end_ = 0;  // Of the commands scanned so far.
  bool is_over_ = false;
  bool has_next_ = false;
  size_t next_hash_ = 0;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_LOOKAHEAD_H_
