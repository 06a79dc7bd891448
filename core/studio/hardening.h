// Hardening: options that remove documented hazards of Studio's stores, one by one.
//
// By default every operation does what the original Studio does, hazards included, so that both can
// work on one Redis. Each option here removes the hazards that it names and leaves the data as it
// was: same keys, same values. All are off by default and can be combined.
//
// All three work alike: an operation reads what it has to, works out what to write, and one script
// writes it only if what was read is still there; otherwise the operation starts over.
//
// Thread-safety: a plain value.
// Source: reference/relayna.md section 13.
#ifndef REDOUBLE_CORE_STUDIO_HARDENING_H_
#define REDOUBLE_CORE_STUDIO_HARDENING_H_

namespace redouble::studio {

struct Hardening {
  // Removes G1 to G7: record, URL index and set of ids change together or not at all, a taken URL
  // is seen by whoever comes second, and a record that was deleted or changed in between is not
  // written over. A registry hardened so beside one that is not keeps its own writes whole, no
  // more.
  bool atomic_registry = false;

  // Removes E1 and E2: an event's document, its places in the lists and the latest timestamps are
  // written together, and the timestamps only if nobody moved them in between.
  bool atomic_event_insert = false;

  // Removes S1, S2, S5 and S6: a search document and the sets that it is in change together, and
  // only if the document is still the one that was read: a prune takes no fresh document away, a
  // refresh writes no stale one back. A document that was lost while sets name it (S4) still
  // leaves its id there, and an upsert behind the deletion of its service (S3) still creates one.
  bool atomic_search_documents = false;
};

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_HARDENING_H_
