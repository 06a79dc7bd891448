#include "redouble/backends/memory/values/free_effort.h"

#include "redouble/backends/memory/values/hash.h"
#include "redouble/backends/memory/values/list.h"
#include "redouble/backends/memory/values/set.h"
#include "redouble/backends/memory/values/sorted_set.h"
#include "redouble/backends/memory/values/stream.h"
#include "redouble/backends/memory/values/stream_group.h"

namespace redouble::inline v0_1::memory {

size_t FreeEffort(const Value& value) {
  if (const List* list = value.As<List>()) return list->nodes().size();
  if (const Stream* stream = value.As<Stream>()) {
    size_t effort = stream->RadixTreeNodes();
    if (stream->has_groups()) {
      const Stream::GroupMap& groups = stream->groups();
      effort += groups.size() * (1 + groups.begin()->second.pending().size());
    }
    return effort;
  }
  const bool is_table = value.encoding() == "hashtable" || value.encoding() == "skiplist";
  if (!is_table) return 1;
  if (const Hash* hash = value.As<Hash>()) return hash->size();
  if (const Set* set = value.As<Set>()) return set->size();
  return value.As<SortedSet>()->size();
}

}  // namespace redouble::inline v0_1::memory
