// Every command of the command table: the time of one call on the memory engine, and on a
// redis-server over a Unix socket in the same run, with few keys and with many.
//
//   bazel run --config=opt //bench:commands              # 1 k and 10 k keys
//   bazel run --config=opt //bench:commands -- --full    # 1 k and 1 M keys
//
// Each call is one store::Command through Store::Execute; bench/typed measures the typed functions.
// The calls are in command_rows.cc. The program fails if a command of the table has neither a row
// there nor a stated reason for its absence. Prints a table of medians; compare the columns with
// each other.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "redouble/bench/command_rows.h"
#include "redouble/bench/keyspace.h"
#include "redouble/bench/support.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble {
namespace {

using bench::Call;
using bench::Names;
using bench::Words;

double Measure(store::Store& store, const bench::CommandRow& row, Names& names) {
  Words words;
  return bench::MedianNanoseconds(
      [&] {
        names.Next();
        for (const Words& before : names.FillInAll(row.prepare)) Call(store, before);
        words = names.FillIn(row.call);
      },
      [&] { Call(store, words); },
      [&] {
        if (row.call == "MULTI") Call(store, {"DISCARD"});
      });
}

std::vector<double> MeasureAll(store::Store& store, int64_t keys) {
  bench::LoadKeyspace(store, keys);
  Names names(keys, /*seed=*/1);
  std::vector<double> results;
  for (const bench::CommandRow& row : bench::CommandRows()) {
    results.push_back(Measure(store, row, names));
    // The next row must not inherit WATCH or the selected database.
    Call(store, {"UNWATCH"});
    Call(store, {"SELECT", "0"});
  }
  return results;
}

template <typename Backend>
std::vector<double> MeasureOn(int64_t keys) {
  Backend backend;
  return MeasureAll(backend.store(), keys);
}

// The command table's row of the command that a line calls.
store::CommandId CommandOf(std::string_view line) {
  const std::vector<std::string> words = absl::StrSplit(base::ToAbsl(line), ' ');
  const store::CommandId id = store::FindCommand(words[0]);
  if (id == store::CommandId::kUnknown || words.size() < 2 || !store::IsContainer(id)) return id;
  return store::FindSubcommand(id, words[1]);
}

// The names of commands with neither a row nor a reason.
Words CommandsWithoutRow() {
  Words missing;
  for (const store::CommandSpec& spec : store::AllCommands()) {
    if (!spec.versions.Has(store::Version::kRedis70)) continue;
    const std::string name(spec.name);
    const auto& rows = bench::CommandRows();
    const auto& reasons = bench::CommandsNotMeasured();
    const bool is_container = store::IsContainer(store::FindCommand(name)) && name != "command";
    const bool is_help = absl::EndsWith(name, "|help");
    const bool is_covered =
        is_container || is_help ||
        std::any_of(rows.begin(), rows.end(),
                    [&](const bench::CommandRow& row) {
                      return store::SpecOf(CommandOf(row.call)).name == spec.name;
                    }) ||
        std::any_of(reasons.begin(), reasons.end(),
                    [&](const bench::NotMeasured& reason) { return reason.command == spec.name; });
    if (!is_covered) missing.push_back(name);
  }
  return missing;
}

void Print(int64_t few, int64_t many) {
  const std::vector<std::vector<double>> columns = {
      MeasureOn<bench::Memory>(few), MeasureOn<bench::Memory>(many), MeasureOn<bench::Live>(few),
      MeasureOn<bench::Live>(many)};
  std::printf(
      "ns per call\n\n| call | engine, %lld keys | engine, %lld keys | redis-server, %lld "
      "keys | redis-server, %lld keys |\n| --- | --- | --- | --- | --- |\n",
      static_cast<long long>(few), static_cast<long long>(many), static_cast<long long>(few),
      static_cast<long long>(many));
  for (size_t i = 0; i < bench::CommandRows().size(); ++i) {
    std::string call(bench::CommandRows()[i].call.substr(0, 60));
    std::replace_if(
        call.begin(), call.end(), [](char c) { return !absl::ascii_isprint(c); }, ' ');
    std::printf("| `%s` |", call.c_str());
    for (const std::vector<double>& column : columns) std::printf(" %.0f |", column[i]);
    std::printf("\n");
  }
  for (const bench::NotMeasured& reason : bench::CommandsNotMeasured()) {
    std::printf("\nNot measured: %s: %s", std::string(reason.command).c_str(),
                std::string(reason.why).c_str());
  }
  std::printf("\n");
}

}  // namespace
}  // namespace redouble

int main(int argc, char** argv) {
  const std::vector<std::string> missing = redouble::CommandsWithoutRow();
  for (const std::string& name : missing) std::fprintf(stderr, "no row for %s\n", name.c_str());
  const bool full = argc > 1 && std::string_view(argv[1]) == "--full";
  redouble::Print(1000, full ? 1'000'000 : 10'000);
  return missing.empty() ? 0 : 1;
}
