#include "redouble/tests/differential/run_program.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/store/table/command_table.h"
#include "redouble/tests/differential/vocabulary.h"
#include "redouble/tests/support/target/reply_text.h"
#include "redouble/tests/support/target/resp3_reader.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;
using store::Reply;
using Kind = ProgramStep::Kind;

// The connection that examines the keyspace of a program, which none of its steps uses.
constexpr int kInspector = -1;
// The default number of databases of a server.
constexpr int kDatabases = 16;

// A later deadline is ignored: the held clock of a server ends in the year 294000.
constexpr absl::Duration kFarthestLeap = absl::Hours(24 * 365 * 50);

// The command table's row of the command.
const store::CommandSpec* SpecOf(const Words& words) {
  CommandId id = store::FindCommand(words[0]);
  if (store::IsContainer(id) && words.size() > 1) id = store::FindSubcommand(id, words[1]);
  return id == CommandId::kUnknown ? nullptr : &store::SpecOf(id);
}

bool MayBlock(const Words& words) {
  const store::CommandSpec* spec = SpecOf(words);
  return spec != nullptr && spec->Has(store::command_flag::kBlocking);
}

// True for a command that counts keys, including those that a server has not removed yet.
bool CountsKeys(const ProgramStep& step) {
  return step.kind == Kind::kCommand && (absl::EqualsIgnoreCase(step.words[0], "DBSIZE") ||
                                         absl::EqualsIgnoreCase(step.words[0], "INFO"));
}

bool IsOfScripts(const ProgramStep& step) {
  const store::CommandSpec* spec = step.kind == Kind::kCommand ? SpecOf(step.words) : nullptr;
  return spec != nullptr && spec->group == store::CommandGroup::kScripting;
}

class ProgramRun {
 public:
  ProgramRun(Target& target, Program& program, RunOptions options)
      : target_(target),
        program_(program),
        options_(options),
        counts_keys_(std::any_of(program.steps.begin(), program.steps.end(), CountsKeys)),
        has_scripts_(std::any_of(program.steps.begin(), program.steps.end(), IsOfScripts)),
        results_(program.steps.size()) {}

  std::vector<StepResult> Run() {
    target_.Reset(program_.start);
    if (!program_.active_expiry) StopActiveExpiry();
    if (has_scripts_) ForgetScripts();
    size_t i = 0;
    while (i < program_.steps.size()) {
      const ProgramStep& step = program_.steps[i];
      if (CountsKeys(step)) RemoveExpired();
      if (step.kind != Kind::kCommand) {
        Advance(i++);
      } else if (!blocked_.empty() || MayBlock(step.words)) {
        RunOne(i++);
      } else {
        i = RunMany(i);
      }
    }
    return std::move(results_);
  }

 private:
  void StopActiveExpiry() { target_.Run(kInspector, {"DEBUG", "SET-ACTIVE-EXPIRE", "0"}); }

  // Scripts and functions survive FLUSHALL.
  void ForgetScripts() {
    const std::vector<Words> commands = {{"SCRIPT", "FLUSH"}, {"FUNCTION", "FLUSH"}};
    target_.RunAll(kInspector, commands);
  }

  void Advance(size_t i) {
    ProgramStep& step = program_.steps[i];
    if (step.kind == Kind::kAdvanceToDeadline) MakePlain(step);
    if (!blocked_.empty()) ShortenToDeadline(step);
    target_.SetTime(target_.now() + absl::Microseconds(step.amount_us));
    if (counts_keys_) RemoveExpired();
    if (blocked_.empty()) return;
    target_.Settle();
    CollectLate(i);
  }

  void MakePlain(ProgramStep& step) const {
    step.kind = Kind::kAdvance;
    const absl::Time now = target_.now();
    const absl::Time goal =
        target_.NextDeadline().value_or(now) + absl::Microseconds(step.amount_us);
    const bool in_reach = goal > now && goal - now <= kFarthestLeap;
    step.amount_us = in_reach ? absl::ToInt64Microseconds(goal - now) : 1000;
  }

  // A command queued after a blocked one runs when that ends: on the engine at the deadline, on a
  // server whose clock jumps only after the whole step. So a step does not jump over a deadline
  // while a connection is blocked.
  void ShortenToDeadline(ProgramStep& step) const {
    const std::optional<absl::Time> deadline = target_.NextDeadline();
    if (!deadline) return;
    const int64_t beyond_us = absl::ToInt64Microseconds(*deadline - target_.now()) + 1000;
    if (beyond_us > 0) step.amount_us = std::min(step.amount_us, beyond_us);
  }

  // Makes a server remove expired keys: a scan removes those that it visits.
  void RemoveExpired() {
    std::vector<Words> commands;
    for (const int db : Vocabulary::AllDatabases()) {
      commands.push_back({"SELECT", std::to_string(db)});
      commands.push_back({"SCAN", "0", "COUNT", "100000"});
    }
    target_.RunAll(kInspector, commands);
  }

  void RunOne(size_t i) {
    const ProgramStep& step = program_.steps[i];
    const bool waits = blocked_.contains(step.connection);
    std::optional<Reply> reply = target_.Run(step.connection, step.words);
    if (reply) {
      results_[i].reply = Canonical(step.connection, step.words, *std::move(reply));
    } else {
      blocked_[step.connection].push_back(step.words);
      if (waits) return;
    }
    CollectLate(i);
  }

  // Runs the commands from `begin` on that are sent together. Returns the index after the last one.
  size_t RunMany(size_t begin) {
    const int connection = program_.steps[begin].connection;
    size_t end = begin;
    std::vector<Words> commands;
    while (end < program_.steps.size()) {
      const ProgramStep& step = program_.steps[end];
      if (step.kind != Kind::kCommand || step.connection != connection) break;
      if (MayBlock(step.words) || (end > begin && CountsKeys(step))) break;
      commands.push_back(step.words);
      ++end;
    }
    std::vector<Reply> replies = target_.RunAll(connection, commands);
    for (size_t i = 0; i < replies.size(); ++i) {
      results_[begin + i].reply = Canonical(connection, commands[i], std::move(replies[i]));
    }
    return end;
  }

  void CollectLate(size_t i) {
    for (auto waiting = blocked_.begin(); waiting != blocked_.end();) {
      const int connection = waiting->first;
      while (!waiting->second.empty()) {
        std::optional<Reply> reply = target_.Poll(connection);
        if (!reply) break;
        results_[i].late.push_back(
            {connection, Canonical(connection, waiting->second.front(), *std::move(reply))});
        waiting->second.erase(waiting->second.begin());
      }
      waiting = waiting->second.empty() ? blocked_.erase(waiting) : std::next(waiting);
    }
  }

  Reply Canonical(int connection, const Words& words, Reply reply) {
    if (!options_.canonical) return reply;
    return replies_[connection].Of(words, std::move(reply));
  }

  Target& target_;
  Program& program_;
  const RunOptions options_;
  const bool counts_keys_;
  const bool has_scripts_;
  std::vector<StepResult> results_;
  // The commands without a reply, for each blocked connection.
  std::map<int, std::vector<Words>> blocked_;
  std::map<int, CanonicalReplies> replies_;
};

struct TypeReader {
  std::string_view type;
  // The words before and after the key.
  Words before;
  Words behind;
};

const std::vector<TypeReader>& TypeReaders() {
  static const auto& readers = *new std::vector<TypeReader>{
      {"string", {"GET"}, {}},
      {"list", {"LRANGE"}, {"0", "-1"}},
      {"hash", {"HGETALL"}, {}},
      {"set", {"SMEMBERS"}, {}},
      {"zset", {"ZRANGE"}, {"0", "-1", "WITHSCORES"}},
      {"stream", {"XINFO", "STREAM"}, {"FULL"}},
  };
  return readers;
}

void AddQueriesOf(const std::string& key, std::string_view type, bool has_encodings,
                  std::vector<Words>& queries) {
  queries.push_back({"TYPE", key});
  queries.push_back({"PTTL", key});
  if (has_encodings) queries.push_back({"OBJECT", "ENCODING", key});
  for (const TypeReader& reader : TypeReaders()) {
    if (reader.type != type) continue;
    Words& query = queries.emplace_back(reader.before);
    query.push_back(key);
    query.insert(query.end(), reader.behind.begin(), reader.behind.end());
  }
}

// How the text of a reply is written: with `resp3`, its type is shown as well.
using Form = std::string (*)(const Reply&);
Form FormOf(bool resp3) { return resp3 ? ShapedText : ReplyText; }

std::string TextOf(const StepResult& result, Form form) {
  std::string text = result.reply ? form(*result.reply) : "(blocked)";
  for (const LateReply& late : result.late) {
    absl::StrAppend(&text, "\nthen to connection ", late.connection, ": ", form(late.reply));
  }
  return text;
}

std::string TextOf(const ProgramStep& step) {
  if (step.kind != Kind::kCommand) return absl::StrCat("advance ", step.amount_us, "us");
  return absl::StrCat("connection ", step.connection, ": ", JoinWords(step.words));
}

std::optional<Difference> DifferenceOf(const std::vector<Words>& queries,
                                       const std::vector<Reply>& wanted,
                                       const std::vector<Reply>& got, bool resp3) {
  const Form form = FormOf(resp3);
  int db = 0;
  for (size_t i = 0; i < queries.size(); ++i) {
    if (queries[i][0] == "SELECT") db = std::stoi(queries[i][1]);
    if (got[i] == wanted[i] && (!resp3 || form(got[i]) == form(wanted[i]))) continue;
    return Difference{absl::StrCat("at the end, in database ", db, ": ", JoinWords(queries[i])),
                      form(wanted[i]), form(got[i])};
  }
  return std::nullopt;
}

}  // namespace

std::vector<StepResult> RunProgram(Target& target, Program& program, RunOptions options) {
  return ProgramRun(target, program, options).Run();
}

std::vector<Words> KeyspaceQueries(Target& target) {
  // Nil for a missing key; an error if the command is missing.
  const bool has_encodings =
      !target.Run(kInspector, {"OBJECT", "ENCODING", "no such key"})->is_error();
  std::vector<Words> queries;
  for (int db = 0; db < kDatabases; ++db) {
    const std::vector<Words> commands = {{"SELECT", std::to_string(db)}, {"KEYS", "*"}};
    queries.insert(queries.end(), commands.begin(), commands.end());
    const Reply keys = target.RunAll(kInspector, commands).back();
    for (const Reply& key : keys.elements()) {
      const Reply type = *target.Run(kInspector, {"TYPE", key.text()});
      AddQueriesOf(key.text(), type.text(), has_encodings, queries);
    }
  }
  return queries;
}

std::vector<Reply> RunQueries(Target& target, const std::vector<Words>& queries,
                              RunOptions options) {
  std::vector<Reply> replies = target.RunAll(kInspector, queries);
  if (!options.canonical) return replies;
  CanonicalReplies canonical;
  for (size_t i = 0; i < replies.size(); ++i) {
    replies[i] = canonical.Of(queries[i], std::move(replies[i]));
  }
  return replies;
}

std::optional<Difference> CompareKeyspaces(Target& expected, Target& actual) {
  const std::vector<Words> queries = KeyspaceQueries(actual);
  const std::vector<Reply> got = RunQueries(actual, queries);
  return DifferenceOf(queries, RunQueries(expected, queries), got, /*resp3=*/false);
}

std::optional<Difference> Compare(Target& expected, Target& actual, Program& program, bool resp3) {
  const Form form = FormOf(resp3);
  const std::vector<StepResult> got = RunProgram(actual, program);
  const std::vector<Words> queries = KeyspaceQueries(actual);
  const std::vector<Reply> got_keyspace = RunQueries(actual, queries);
  const std::vector<StepResult> wanted = RunProgram(expected, program);
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const bool is_same = got[i] == wanted[i];
    if (is_same && (!resp3 || TextOf(got[i], form) == TextOf(wanted[i], form))) continue;
    return Difference{absl::StrCat("step ", i + 1, ", ", TextOf(program.steps[i])),
                      TextOf(wanted[i], form), TextOf(got[i], form)};
  }
  return DifferenceOf(queries, RunQueries(expected, queries), got_keyspace, resp3);
}

}  // namespace redouble::inline v0_1::tests
