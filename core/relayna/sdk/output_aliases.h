// Adapters of status streams: other names for members of the events that clients get.
//
//   StreamOptions options;
//   options.adapter = [](Value event) {
//     return WithAliases(WithDocumentId(std::move(event)), {{"status", "state"}});
//   };
//
// Thread-safety: pure functions.
// Source: docs/systems/relayna.md 4.3.
#ifndef REDOUBLE_CORE_RELAYNA_SDK_OUTPUT_ALIASES_H_
#define REDOUBLE_CORE_RELAYNA_SDK_OUTPUT_ALIASES_H_

#include <string>
#include <utility>
#include <vector>

#include "redouble/core/python/value.h"

namespace redouble::inline v0_1::relayna {

// The SDK's document adapter: adds `documentId` with the value of `task_id`, unless that is missing
// or null. A member `documentId` is replaced.
python::Value WithDocumentId(python::Value event);

// Pairs of a member's name and its alias.
using FieldAliases = std::vector<std::pair<std::string, std::string>>;

// The SDK's alias configuration: moves each member that is not null to its alias, in order. First
// `task_id`, whose alias is `documentId` unless `aliases` names another. A member that has the name
// of an alias is replaced. A name whose alias is itself is removed, as by the original.
python::Value WithAliases(python::Value event, const FieldAliases& aliases);

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_SDK_OUTPUT_ALIASES_H_
