// The table of docs/systems/relayna.md 4.17 beside graphs that have every node: the kinds, the
// forms of their ids, the edges to them, and the records that make them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "redouble/core/python/json.h"
#include "redouble/core/relayna/execution/execution_graph.h"

namespace redouble::inline v0_1::tests {
namespace {

using ::testing::Contains;
using ::testing::SizeIs;

struct NodeRow {
  std::set<std::string> ids;      // With {task}, {child}, {message}, {stage} and {n}.
  std::set<std::string> records;  // The types of observations.
  std::set<std::string> edges;    // The kinds of edges to the node.
};

std::string SectionOf(const std::string& path, const std::string& heading) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  const size_t start = page.find(heading);
  if (start == page.npos) return {};
  return page.substr(start, page.find("\n## ", start) - start);
}

// The words of a cell that are set as code.
std::set<std::string> CodeOf(const std::string& cell) {
  const std::vector<std::string> parts = absl::StrSplit(cell, '`');
  std::set<std::string> words;
  for (size_t i = 1; i < parts.size(); i += 2) words.insert(parts[i]);
  return words;
}

// The rows of the table, by kind.
std::map<std::string, NodeRow> Table() {
  std::map<std::string, NodeRow> rows;
  const std::string section =
      SectionOf("docs/systems/relayna.md", "### 4.17 Build an execution graph");
  const std::vector<std::string> lines = absl::StrSplit(section, '\n');
  for (const std::string& line : lines) {
    const std::vector<std::string> cells = absl::StrSplit(line, '|');
    if (cells.size() != 6 || CodeOf(cells[1]).size() != 1) continue;
    rows[*CodeOf(cells[1]).begin()] = {CodeOf(cells[2]), CodeOf(cells[3]), CodeOf(cells[4])};
  }
  // "from an edge of this kind to the task": not an edge to the node.
  rows["aggregation_child"].records.clear();
  return rows;
}

bool Matches(const std::string& id, const std::string& form) {
  const std::string pattern = absl::StrReplaceAll(form, {{"{task}", "[a-z0-9]+"},
                                                         {"{child}", "[a-z0-9]+"},
                                                         {"{message}", "[a-z0-9]+"},
                                                         {"{stage}", "[a-z]+"},
                                                         {"{n}", "[0-9]+"}});
  return std::regex_match(id, std::regex(pattern));
}

python::Value Observation(const std::string& second, std::string_view type,
                          python::Object members = {}) {
  members.Set("event_type", type);
  members.Set("timestamp", absl::StrCat("2026-04-06T10:00:", second, "+00:00"));
  return members;
}

relayna::DlqRecord DeadLetter(const std::string& task) {
  relayna::DlqRecord record;
  record.dlq_id = "d1";
  record.queue_name = "q.dlq";
  record.task_id = task;
  record.reason = "handler_error";
  return record;
}

relayna::TaskRecords RecordsOf(const std::string& task, std::vector<python::Value> observations) {
  return {.task_id = task,
          .statuses = {Observation("09", "", python::Object({{"status", "failed"}}))},
          .observations = std::move(observations),
          .dead_letters = {DeadLetter(task)}};
}

std::vector<relayna::ExecutionGraph> Graphs() {
  using python::Object;
  const std::vector<python::Value> messages = {
      Observation("01", "WorkflowMessageReceived", Object({{"message_id", "m1"}, {"stage", "a"}})),
      Observation("02", "WorkflowMessagePublished",
                  Object({{"message_id", "m2"}, {"stage", "b"}, {"origin_stage", "a"}})),
  };
  const std::vector<python::Value> task = {
      Observation("01", "TaskMessageReceived"), Observation("02", "ConsumerRetryScheduled"),
      Observation("03", "TaskMessageReceived"), Observation("04", "ConsumerDeadLetterPublished")};
  const std::vector<python::Value> child = {Observation("01", "AggregationMessageReceived"),
                                            Observation("02", "AggregationRetryScheduled"),
                                            Observation("03", "AggregationDeadLetterPublished")};
  return {
      relayna::BuildExecutionGraph(relayna::ExecutionTopology::kWorkflow, "t1",
                                   {RecordsOf("t1", messages)})
          .value(),
      relayna::BuildExecutionGraph(relayna::ExecutionTopology::kSharedTasksShardedAggregation, "t1",
                                   {RecordsOf("t1", task), RecordsOf("c1", child)}, {"c1"})
          .value()};
}

TEST(GraphTable, HasTheNodesOfAGraph) {
  const std::map<std::string, NodeRow> rows = Table();
  EXPECT_THAT(rows, SizeIs(8));
  std::map<std::string, std::set<std::string>> forms;
  for (const relayna::ExecutionGraph& graph : Graphs()) {
    for (const relayna::ExecutionGraphNode& node : graph.nodes) {
      ASSERT_TRUE(rows.contains(node.kind)) << node.kind;
      for (const std::string& form : rows.at(node.kind).ids) {
        if (Matches(node.id, form)) forms[node.kind].insert(form);
      }
      EXPECT_THAT(forms[node.kind], testing::Not(testing::IsEmpty())) << node.id;
    }
  }
  for (const auto& [kind, row] : rows) EXPECT_EQ(forms[kind], row.ids) << kind;
}

TEST(GraphTable, HasTheEdgesOfAGraph) {
  const std::map<std::string, NodeRow> rows = Table();
  std::map<std::string, std::set<std::string>> edges_to;
  for (const relayna::ExecutionGraph& graph : Graphs()) {
    std::map<std::string, std::string> kinds;
    for (const relayna::ExecutionGraphNode& node : graph.nodes) kinds[node.id] = node.kind;
    for (const relayna::ExecutionGraphEdge& edge : graph.edges) {
      // "Two more edges end at an attempt", below the table; and the child's edge to the task.
      if (kinds.at(edge.source) == "retry") continue;
      if (edge.kind == "aggregated_into") continue;
      edges_to[kinds.at(edge.target)].insert(edge.kind);
    }
  }
  for (const auto& [kind, row] : rows) EXPECT_EQ(edges_to[kind], row.edges) << kind;
}

TEST(GraphTable, NamesRecordsThatMakeTheNode) {
  const std::set<std::string> types = {
      "TaskMessageReceived",         "AggregationMessageReceived",    "WorkflowMessagePublished",
      "WorkflowMessageReceived",     "ConsumerRetryScheduled",        "AggregationRetryScheduled",
      "ConsumerDeadLetterPublished", "AggregationDeadLetterPublished"};
  std::set<std::string> named;
  for (const auto& [kind, row] : Table()) {
    for (const std::string& type : row.records) {
      named.insert(type);
      const relayna::ExecutionGraph graph =
          relayna::BuildExecutionGraph(
              relayna::ExecutionTopology::kWorkflow, "t1",
              {{.task_id = "t1",
                .observations = {Observation("01", type, python::Object({{"message_id", "m"}}))}}})
              .value();
      std::set<std::string> kinds;
      for (const relayna::ExecutionGraphNode& node : graph.nodes) kinds.insert(node.kind);
      EXPECT_THAT(kinds, Contains(kind)) << type;
    }
  }
  EXPECT_EQ(named, types);
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
