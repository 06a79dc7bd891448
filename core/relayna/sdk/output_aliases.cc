#include "redouble/core/relayna/sdk/output_aliases.h"

#include <string_view>

namespace redouble::inline v0_1::relayna {

using python::Object;
using python::Value;

namespace {

constexpr std::string_view kTaskId = "task_id";
constexpr std::string_view kDocumentId = "documentId";

// Copies a member that is not null to its alias. Returns whether there is one.
bool CopyMember(Object& event, std::string_view name, std::string_view alias) {
  const Value* member = event.Find(name);
  if (member == nullptr || member->is_null()) return false;
  event.Set(alias, Value(*member));
  return true;
}

}  // namespace

Value WithDocumentId(Value event) {
  if (event.object() != nullptr) CopyMember(*event.object(), kTaskId, kDocumentId);
  return event;
}

Value WithAliases(Value event, const FieldAliases& aliases) {
  if (event.object() == nullptr) return event;
  Object& object = *event.object();
  std::string_view task_id_alias = kDocumentId;
  for (const auto& [name, alias] : aliases) {
    if (name == kTaskId) task_id_alias = alias;
  }
  if (CopyMember(object, kTaskId, task_id_alias)) object.Erase(kTaskId);
  for (const auto& [name, alias] : aliases) {
    if (name != kTaskId && CopyMember(object, name, alias)) object.Erase(name);
  }
  return event;
}

}  // namespace redouble::inline v0_1::relayna
