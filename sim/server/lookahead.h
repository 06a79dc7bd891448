// Lookahead: asks the processor for the keys of the commands that wait in a pipeline.
//
// Why it exists: with many keys, a command spends most of its time waiting for the memory of its
// key, three places that lead to each other. The commands behind it are known already: while this
// one waits, their keys can come, too. Nothing but time depends on it.
//
//   Lookahead ahead(bytes);
//   for each command that ends at `used`: ahead.Prefetch(used, database); run it;
//
// The key is taken for the second word, which is right for most commands and harmless for others.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SERVER_LOOKAHEAD_H_
#define REDOUBLE_SIM_SERVER_LOOKAHEAD_H_

#include <cstddef>
#include <string_view>

#include "backends/memory/database.h"
#include "sim/server/request_parser.h"

namespace redouble::sim {

class Lookahead {
 public:
  // `bytes` outlive it.
  explicit Lookahead(std::string_view bytes) : bytes_(bytes) {}

  // To be called before the command that ends at `used` runs: for the entry of the next one's key,
  // whose place was asked for the last time, and for the place of the one's after that.
  void Prefetch(size_t used, const memory::Database& database) {
    if (has_next_) database.PrefetchAtPlace(next_hash_);
    if (end_ <= used) {
      end_ = used;
      SkimOne(database);
    }
    SkimOne(database);
  }

 private:
  // Looks at one command more, and keeps the hash of its key if it has one.
  void SkimOne(const memory::Database& database) {
    size_t size = 0;
    std::string_view key;
    has_next_ = false;
    if (is_over_ || !RequestParser::Skim(bytes_.substr(end_), size, key)) {
      is_over_ = true;
      return;
    }
    end_ += size;
    if (key.empty()) return;
    next_hash_ = database.PrefetchPlace(key);
    has_next_ = true;
  }

  const std::string_view bytes_;
  size_t end_ = 0;  // Of the commands that were seen.
  bool is_over_ = false;
  bool has_next_ = false;
  size_t next_hash_ = 0;
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SERVER_LOOKAHEAD_H_
