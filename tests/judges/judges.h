// Judges: redis-servers of other versions than the one that the engine copies.
//
// tools/judges fetches them. A test finds them in the folder that the environment variable
// REDOUBLE_JUDGES names, and skips those that are not there:
//
//     const std::optional<std::string> program = JudgeProgram("redis-8.0");
//     if (!program.has_value()) GTEST_SKIP() << "run tools/judges";
//     ServerTarget server({}, /*resp3=*/false, *program);
//
// Thread-safety: free functions; nothing may change the environment meanwhile.
#ifndef REDOUBLE_TESTS_JUDGES_JUDGES_H_
#define REDOUBLE_TESTS_JUDGES_JUDGES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/store/table/version.h"
#include "redouble/tests/conformance/script.h"

namespace redouble::inline v0_1::tests {

// The names of tools/judges, oldest version first.
std::vector<std::string> JudgeNames();

// The path of the judge's program, or nullopt if it is not there.
std::optional<std::string> JudgeProgram(std::string_view name);

// "redis-7.0" and the judges, for tests that compare the engine of every version with its server.
std::vector<std::string> ServerNames();

// As JudgeProgram; the server of 7.0 is this machine's redis-server if tools/judges has none.
std::optional<std::string> ServerProgram(std::string_view name);

// "redis-8.0" as a part of a test's name: letters, digits and underscores.
std::string TestName(std::string_view text);

// The lines of redis.conf with which a judge is started.
std::vector<std::string> JudgeConfig();

// Whether the judges answer the conformance files of this group: not those that depend on a
// server's wall clock.
bool IsJudged(std::string_view group);

// Whether the files of this group are for a node of a cluster.
bool IsForCluster(std::string_view group);

// Runs a conformance file on a judge. Returns the steps whose replies differ from those in the
// file, and the other steps of the same words, each with the title of its case, in the format of
// conformance files; empty if there are none. A case that ends the server is recorded as "(the
// server ended)", and the next case gets a new server.
std::string DifferencesOf(const Script& script, const std::string& program);

// Runs a conformance file on the engine with that compatibility. Returns the steps whose replies
// differ from those of the judge, which are those in the file except for `differences`; they are
// written with the judge's replies, in the format of DifferencesOf.
std::string RemainingOf(const Script& script, std::string_view differences, store::Version version);

// Runs a file of tests/conformance/versions on its judge, or on the engine with that compatibility,
// and returns its text with the replies. In a cluster, the server is the only node of one.
std::string AnswerOfJudge(const Script& script, const std::string& program, bool in_cluster);
std::string AnswerOfEngine(const Script& script, store::Version version, bool in_cluster);

// Returns the commands, subcommands and parameters in which the judge differs from redis-server
// 7.0.15, one on a line and sorted: "+ command hexpire" for what it has in addition, "- parameter
// io-threads-do-reads" for what it lacks.
std::string InventoryOf(const std::string& program);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_JUDGES_JUDGES_H_
