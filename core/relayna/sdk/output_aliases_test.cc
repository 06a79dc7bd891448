#include "redouble/core/relayna/sdk/output_aliases.h"

#include <gtest/gtest.h>

#include "redouble/core/python/json.h"

namespace redouble::inline v0_1::relayna {
namespace {

using python::ParseJson;
using python::PyJson;
using python::Value;

// Adapts an event, from JSON to JSON.
std::string Document(std::string_view event) {
  return PyJson(WithDocumentId(ParseJson(event).value())).value();
}
std::string Aliased(std::string_view event, const FieldAliases& aliases) {
  return PyJson(WithAliases(ParseJson(event).value(), aliases)).value();
}

TEST(WithDocumentId, AddsTheTaskIdUnderItsOldName) {
  EXPECT_EQ(Document(R"({"task_id": "t1", "status": "x"})"),
            R"({"task_id": "t1", "status": "x", "documentId": "t1"})");
  EXPECT_EQ(Document(R"({"documentId": 1, "task_id": 0})"), R"({"documentId": 0, "task_id": 0})");
}

TEST(WithDocumentId, NeedsATaskId) {
  EXPECT_EQ(Document(R"({"task_id": null})"), R"({"task_id": null})");
  EXPECT_EQ(Document("{}"), "{}");
  EXPECT_EQ(Document("[1]"), "[1]");
}

TEST(WithAliases, MovesMembersToTheirAliases) {
  EXPECT_EQ(Aliased(R"({"task_id": "t1", "a": 1, "b": null})", {{"b", "y"}, {"a", "x"}}),
            R"({"b": null, "documentId": "t1", "x": 1})");
  EXPECT_EQ(Aliased(R"({"task_id": "t1"})", {{"task_id", "id"}}), R"({"id": "t1"})");
  EXPECT_EQ(Aliased("7", {{"task_id", "id"}}), "7");
}

// An alias of one member may be the name of the next one.
TEST(WithAliases, GoesOnFromTheResultOfThePreviousPair) {
  EXPECT_EQ(Aliased(R"({"a": 1, "b": 2})", {{"a", "b"}, {"b", "c"}}), R"({"c": 1})");
  EXPECT_EQ(Aliased(R"({"a": 1, "task_id": 2})", {{"a", "x"}, {"task_id", "a"}}), R"({"x": 2})");
}

TEST(WithAliases, RemovesAMemberThatIsItsOwnAlias) {
  EXPECT_EQ(Aliased(R"({"a": 1, "b": 2})", {{"a", "a"}}), R"({"b": 2})");
}

}  // namespace
}  // namespace redouble::inline v0_1::relayna
