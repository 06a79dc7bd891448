#include "redouble/tests/golden/gateway/gateway_domain.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/gateway/rust_float.h"
#include "redouble/core/store/command.h"
#include "redouble/sim/operations/gateway/gateway_operations.h"
#include "redouble/tests/golden/replay/reply_check.h"

namespace redouble::inline v0_1::golden {
namespace {

using MaybeDifference = std::optional<Difference>;

// A member that the recorder wrote for people.
constexpr const char* kNote = "note";

bool IsClientRow(const Json& row) {
  constexpr size_t kColumns = 3;
  return row.size() == kColumns && row.contains("value") && row.contains("arg_text") &&
         row.contains("reservation_text");
}

MaybeDifference CheckClientRow(const Json& row, const std::string& path) {
  const std::optional<double> value =
      row["value"].is_string() ? gateway::ParseFloat(row["value"].get_ref<const std::string&>())
                               : std::nullopt;
  if (!value) return Difference{path + "/value", "not a number's text", "", row["value"].dump()};
  Json got = row;
  got["arg_text"] = gateway::FormatFloatArgument(*value);
  got["reservation_text"] = gateway::FormatFloatDisplay(*value);
  return CompareJson(row, got, path);
}

// Returns the cells of a row without those for people.
std::vector<Json> CellsOf(const Json& row) {
  std::vector<Json> cells;
  if (!row.is_object()) return cells;
  for (const auto& [name, cell] : row.items()) {
    if (name != kNote) cells.push_back(cell);
  }
  return cells;
}

base::Task<absl::StatusOr<store::Reply>> Send(store::Store& store,
                                              const std::vector<std::string>& words) {
  store::Command command = store::Command::Named(words.front());
  command.AddAll(std::span(words).subspan(1));
  co_return co_await store.Execute(command);
}

absl::StatusOr<Json> Ask(store::Store& store, const std::vector<std::string>& words) {
  base::Task<absl::StatusOr<store::Reply>> task = Send(store, words);
  task.Start();
  if (!task.done()) return absl::InternalError("the command does not end");
  REDOUBLE_ASSIGN_OR_RETURN(const store::Reply reply, task.TakeResult());
  return ReplyToRecorded(reply);
}

MaybeDifference CheckServerRow(store::Store& store, const Json& row, const std::string& path) {
  constexpr size_t kWithBefore = 3;
  const std::vector<Json> cells = CellsOf(row);
  if (cells.size() != kWithBefore && cells.size() != kWithBefore - 1) {
    return Difference{path, "not a row of the tables known",
                      "value, arg_text, reservation_text; or [before,] increment(s), after",
                      row.dump()};
  }
  const auto text = [](const Json& cell) {
    return cell.is_string() ? cell.get<std::string>() : cell.dump();
  };
  const std::string key = "golden:table";
  std::vector<std::vector<std::string>> commands = {{"DEL", key}};
  if (cells.size() == kWithBefore && !cells.front().is_null()) {
    commands.push_back({"SET", key, text(cells.front())});
  }
  const Json& increments = cells[cells.size() - 2];
  for (const Json& increment : increments.is_array() ? increments : Json::array({increments})) {
    commands.push_back({"INCRBYFLOAT", key, text(increment)});
  }
  commands.push_back({"DEL", key});
  Json got;
  for (size_t i = 0; i < commands.size(); ++i) {
    const absl::StatusOr<Json> reply = Ask(store, commands[i]);
    if (!reply.ok()) return DifferenceOf(path, reply.status());
    if (i + 2 == commands.size()) got = *reply;
  }
  return CompareJson(EncodeRecorded(cells.back()), got, path);
}

MaybeDifference CheckTables(const Golden& golden, sim::ScenarioBackend& backend) {
  const absl::StatusOr<std::unique_ptr<store::Store>> store = backend.Connect();
  if (!store.ok()) return DifferenceOf("", store.status());
  for (const auto& [name, rows] : golden.tables) {
    const std::string path = absl::StrCat("/", name);
    if (name != "rows" || !rows.is_array()) {
      return Difference{path, "not a table of the gateway", "\"rows\", an array", rows.dump()};
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::string place = absl::StrCat(path, "/", i);
      MaybeDifference difference = IsClientRow(rows[i]) ? CheckClientRow(rows[i], place)
                                                        : CheckServerRow(**store, rows[i], place);
      if (difference) return difference;
    }
  }
  return std::nullopt;
}

}  // namespace

Domain GatewayDomain() {
  Domain domain;
  domain.operations = scenarios::GatewayOperations();
  domain.record_error = [](const absl::Status& status) {
    return scenarios::GatewayErrorResult(status).value_or(
        Json{{"status", std::string(status.message())}});
  };
  domain.check_tables = CheckTables;
  return domain;
}

}  // namespace redouble::inline v0_1::golden
