// Hardening: options that remove documented hazards of Studio's stores, one by one.
//
// By default every operation behaves like the original Studio, including its hazards, so that both
// can work on one Redis database. Each option removes the hazards that it names and changes neither
// keys nor values. All options are off by default and can be combined.
//
//   const studio::Hardening hardening = {.atomic_registry = true};
//   studio::RegistryStore records(store, {.hardening = hardening});
//
// A hardened operation computes the new values from what it has read, and one script writes them
// only if the values that were read are unchanged. If something changed, the operation starts
// again.
//
// In the cluster layout (docs/systems/studio.md 1.4) atomic_event_insert and index_duplicates have
// the same effect, and the others have none, because their keys are in several slots.
//
// Thread-safety: a plain value.
// Source: docs/systems/studio.md 5.
#ifndef REDOUBLE_CORE_STUDIO_HARDENING_H_
#define REDOUBLE_CORE_STUDIO_HARDENING_H_

namespace redouble::inline v0_1::studio {

struct Hardening {
  // Removes G1 to G7. The record, the URL index and the set of ids change together or not at all. A
  // URL that is taken is refused, also under concurrent writes, and a record that was deleted or
  // changed since it was read is not overwritten. A registry without this option on the same keys
  // can still break its own writes.
  bool atomic_registry = false;

  // Removes E1 and E2. The document of an event, its entries in the lists and the latest timestamps
  // are written together, and the timestamps only if they are unchanged since they were read.
  bool atomic_event_insert = false;

  // Removes S1, S2, S5 and S6. A search document and its sets change together, and only if the
  // document is still the one that was read: a prune does not delete a fresh document, and a
  // refresh does not write an old one back. The id of a lost document stays in its sets (S4), and
  // an upsert after the deletion of a service still creates a document (S3).
  bool atomic_search_documents = false;

  // For the ingest. Removes E3: a duplicate is indexed as its first insert would have done it,
  // unless the document of its task has a newer event. One more read for each duplicate, and those
  // of the search index.
  bool index_duplicates = false;

  // For the search index and the health documents. Removes S3, and with atomic_registry H1: they
  // are written only while the service is registered, which the script checks. Includes
  // atomic_search_documents.
  bool registered_services_only = false;

  // For the search index. Removes S4: a prune also scans the sets of tasks, and removes the ids
  // whose document is gone.
  bool sweep_task_sets = false;

  // For the search index. Removes S8: a prune also deletes the documents of services that the
  // registry does not have, and of their tasks.
  bool sweep_deleted_services = false;
};

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_HARDENING_H_
