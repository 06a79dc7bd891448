#include "redouble/sim/world_file/invariant.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/glob.h"
#include "redouble/core/base/text/nearest_word.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/sim/json/bytes.h"
#include "redouble/sim/json/reply_json.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/scenario/keyspace.h"
#include "redouble/sim/world_file/property_invariants.h"

namespace redouble::inline v0_1::sim {
namespace {

using Words = std::vector<std::string>;

base::Task<absl::StatusOr<store::Reply>> Execute(store::Store& store, const Words& words) {
  store::Command command = store::Command::Named(words.front());
  command.AddAll(std::span(words).subspan(1));
  co_return co_await store.Execute(command);
}

// The error of a check that itself is wrong (World::AddInvariant).
absl::Status CheckFails(const Words& words, const Json& error) {
  return absl::InvalidArgumentError(
      absl::StrCat("the command ", words.front(), " of the check fails: ", error.dump()));
}

// The allowed range of a count.
struct Bounds {
  double at_least = -std::numeric_limits<double>::infinity();
  double at_most = std::numeric_limits<double>::infinity();

  // Returns nullopt if neither field is present.
  static std::optional<Bounds> Read(ArgumentReader& fields) {
    const std::optional<double> at_least = fields.OptionalDouble("at_least");
    const std::optional<double> at_most = fields.OptionalDouble("at_most");
    if (!at_least && !at_most) return std::nullopt;
    Bounds bounds;
    if (at_least) bounds.at_least = *at_least;
    if (at_most) bounds.at_most = *at_most;
    return bounds;
  }

  absl::Status Check(double value, absl::string_view what) const {
    if (value >= at_least && value <= at_most) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat(what, " ", value, value < at_least ? ", at least " : ", at most ",
                     value < at_least ? at_least : at_most, " expected"));
  }
};

class ReplyInvariant final : public WorldInvariant {
 public:
  static std::shared_ptr<WorldInvariant> Read(ArgumentReader& fields) {
    auto invariant = std::make_shared<ReplyInvariant>();
    invariant->command_ = ReadWords(fields, "command");
    invariant->expectation_ = Expectation::Read(fields);
    return invariant;
  }

  static std::shared_ptr<WorldInvariant> ReadEventually(ArgumentReader& fields) {
    const auto invariant = std::static_pointer_cast<ReplyInvariant>(Read(fields));
    absl::Duration within;
    if (!absl::ParseDuration(fields.String("within"), &within) || within < absl::ZeroDuration()) {
      fields.Refuse("within", "expected a duration such as \"10s\"");
    }
    invariant->within_ = within;
    return invariant;
  }

  std::optional<absl::Duration> within() const override { return within_; }

  absl::Status Check(const WorldView& view) const override {
    REDOUBLE_ASSIGN_OR_RETURN(const store::Reply reply, Ask(view.world, command_, server()));
    const Json got = ResultToJson(reply);
    if (reply.is_error() && !expectation_.Lists(got)) return CheckFails(command_, got);
    return expectation_.Check(got, absl::StrCat(command_.front(), " gives"));
  }

 private:
  Words command_;
  Expectation expectation_;
  std::optional<absl::Duration> within_;
};

class EqualInvariant final : public WorldInvariant {
 public:
  static std::shared_ptr<WorldInvariant> Read(ArgumentReader& fields) {
    auto invariant = std::make_shared<EqualInvariant>();
    const Json& commands = fields.Any("commands");
    if (!commands.is_array() || commands.size() < 2) {
      fields.Refuse("commands", R"(expected two commands at least: [["GET", "a"], ["GET", "b"]])");
      return invariant;
    }
    for (const Json& command : commands) {
      const Json wrapped{{"command", command}};
      ArgumentReader one(wrapped);
      invariant->commands_.push_back(ReadWords(one, "command"));
      if (!one.Finish().ok()) fields.Refuse("commands", "expected arrays of strings");
    }
    return invariant;
  }

  absl::Status Check(const WorldView& view) const override {
    REDOUBLE_ASSIGN_OR_RETURN(const Json first,
                              AskForJson(view.world, commands_.front(), server()));
    for (const Words& command : commands_) {
      REDOUBLE_ASSIGN_OR_RETURN(const Json other, AskForJson(view.world, command, server()));
      if (other == first) continue;
      return absl::FailedPreconditionError(
          absl::StrCat(first.dump(), " and ", other.dump(), " are not equal"));
    }
    return absl::OkStatus();
  }

 private:
  std::vector<Words> commands_;
};

class ExpiresInvariant final : public WorldInvariant {
 public:
  static std::shared_ptr<WorldInvariant> Read(ArgumentReader& fields) {
    auto invariant = std::make_shared<ExpiresInvariant>();
    invariant->keys_ = fields.String("keys");
    return invariant;
  }

  absl::Status Check(const WorldView& view) const override {
    const std::unique_ptr<store::Store> store = ConnectAside(view.world, server());
    std::vector<std::string> keys = *base::Run(store::Keys(*store, keys_));
    std::sort(keys.begin(), keys.end());
    for (const std::string& key : keys) {
      if (base::Run(store::TimeToLive(*store, key))->expires()) continue;
      return absl::FailedPreconditionError(absl::StrCat(EncodeBytes(key), " never expires"));
    }
    return absl::OkStatus();
  }

 private:
  std::string keys_;
};

class ReferencesInvariant final : public WorldInvariant {
 public:
  static std::shared_ptr<WorldInvariant> Read(ArgumentReader& fields) {
    auto invariant = std::make_shared<ReferencesInvariant>();
    invariant->command_ = ReadWords(fields, "command");
    invariant->key_ = fields.String("key");
    if (!absl::StrContains(invariant->key_, "{}")) {
      fields.Refuse("key", "expected {} where the element stands");
    }
    return invariant;
  }

  absl::Status Check(const WorldView& view) const override {
    REDOUBLE_ASSIGN_OR_RETURN(const store::Reply reply, Ask(view.world, command_, server()));
    if (reply.is_error()) return CheckFails(command_, ResultToJson(reply));
    if (!reply.is_array()) return absl::OkStatus();
    for (const store::Reply& element : reply.elements()) {
      const std::string key = absl::StrReplaceAll(key_, {{"{}", element.text()}});
      const std::unique_ptr<store::Store> store = ConnectAside(view.world, server());
      if (*base::Run(store::Exists(*store, key))) continue;
      return absl::FailedPreconditionError(absl::StrCat(EncodeBytes(key), " does not exist"));
    }
    return absl::OkStatus();
  }

 private:
  Words command_;
  std::string key_;
};

// Returns true if `whole` contains `part`: an object contains each member of another, anything else
// must be equal.
bool Contains(const Json& whole, const Json& part) {
  if (!part.is_object()) return whole == part;
  if (!whole.is_object()) return false;
  return std::all_of(part.items().begin(), part.items().end(), [&](const auto& member) {
    const auto found = whole.find(member.key());
    return found != whole.end() && Contains(*found, member.value());
  });
}

class ResultsInvariant final : public WorldInvariant {
 public:
  static std::shared_ptr<WorldInvariant> Read(ArgumentReader& fields) {
    auto invariant = std::make_shared<ResultsInvariant>();
    invariant->operation_ = fields.String("operation");
    if (const Json* where = fields.FindOrNull("where")) invariant->where_ = *where;
    const std::optional<Bounds> bounds = Bounds::Read(fields);
    if (!bounds) fields.Refuse("", "expected at_least or at_most");
    invariant->bounds_ = bounds.value_or(Bounds());
    return invariant;
  }

  std::string_view operation() const override { return operation_; }

  absl::Status Check(const WorldView& view) const override {
    int64_t count = 0;
    std::string error;  // Of the first call that failed as `where_` says.
    for (const CallResult& call : view.observed.results) {
      if (call.operation != operation_ || (where_ && !IsLike(call.result, *where_))) continue;
      ++count;
      if (error.empty() && call.result.is_object()) error = call.result.value("error", "");
    }
    const absl::Status checked =
        bounds_.Check(static_cast<double>(count), absl::StrCat("calls of ", operation_, ":"));
    if (checked.ok() || error.empty()) return checked;
    return absl::Status(checked.code(), absl::StrCat(checked.message(), " (", error, ")"));
  }

 private:
  static bool IsLike(const Json& result, const Json& where) {
    const bool asks_for_error = where.is_object() && where.contains("error");
    if (!asks_for_error) return Contains(result, where);
    return result.is_object() && result.contains("error") && where["error"].is_string() &&
           absl::StrContains(result["error"].get_ref<const std::string&>(),
                             where["error"].get_ref<const std::string&>());
  }

  std::string operation_;
  std::optional<Json> where_;
  Bounds bounds_;
};

class SerialInvariant final : public WorldInvariant {
 public:
  static std::shared_ptr<WorldInvariant> Read(ArgumentReader& fields) {
    auto invariant = std::make_shared<SerialInvariant>();
    invariant->keys_ = fields.OptionalString("keys").value_or("*");
    invariant->with_results_ = fields.BoolOr("results", true);
    return invariant;
  }

  bool needs_serial_states() const override { return true; }

  absl::Status Check(const WorldView& view) const override {
    const Json got = Project(SerialState(view.world, view.observed.results));
    const bool is_serial = std::any_of(view.serial_states.begin(), view.serial_states.end(),
                                       [&](const Json& state) { return Project(state) == got; });
    if (is_serial) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat("no serial order gives ", got.dump()));
  }

 private:
  Json Project(const Json& state) const {
    Json projected = Json::object();
    for (const auto& [key, entry] : state["keys"].items()) {
      if (base::GlobMatch(keys_, key)) projected["keys"][key] = entry;
    }
    if (with_results_) projected["results"] = state["results"];
    return projected;
  }

  std::string keys_;
  bool with_results_ = true;
};

struct KindRow {
  std::string_view kind;
  bool at_end_only;
  bool asks_server;  // "server" says which one.
  std::shared_ptr<WorldInvariant> (*read)(ArgumentReader& fields);
};

constexpr std::array kKinds = {
    KindRow{"reply", false, true, ReplyInvariant::Read},
    KindRow{"equal", false, true, EqualInvariant::Read},
    KindRow{"expires", false, true, ExpiresInvariant::Read},
    KindRow{"references", false, true, ReferencesInvariant::Read},
    KindRow{"results", true, false, ResultsInvariant::Read},
    KindRow{"serializable", true, false, SerialInvariant::Read},
    KindRow{"linearizable", true, false, ReadLinearizable},
    KindRow{"bound", true, false, ReadBound},
    KindRow{"monotone", false, true, ReadMonotone},
    KindRow{"exactly_once", true, false, ReadExactlyOnce},
    KindRow{"eventually", true, true, ReplyInvariant::ReadEventually},
};

const KindRow* FindKind(std::string_view kind) {
  const auto found = std::find_if(kKinds.begin(), kKinds.end(),
                                  [&](const KindRow& row) { return row.kind == kind; });
  return found == kKinds.end() ? nullptr : &*found;
}

std::string UnknownKind(std::string_view kind) {
  std::vector<std::string> known;
  for (const KindRow& row : kKinds) known.emplace_back(row.kind);
  return absl::StrCat("unknown kind \"", base::ToAbsl(kind), "\"", base::DidYouMean(kind, known),
                      "; known: ", absl::StrJoin(known, ", "));
}

}  // namespace

absl::StatusOr<store::Reply> Ask(World& world, const std::vector<std::string>& words,
                                 std::string_view server) {
  const std::unique_ptr<store::Store> store = ConnectAside(world, server);
  return base::Run(Execute(*store, words));
}

absl::StatusOr<Json> AskForJson(World& world, const std::vector<std::string>& words,
                                std::string_view server) {
  const absl::StatusOr<store::Reply> reply = Ask(world, words, server);
  Json json = ResultToJson(reply);
  if (!reply.ok() || reply->is_error()) return CheckFails(words, json);
  return json;
}

std::optional<double> NumberIn(const Json& reply) {
  double number = 0;
  if (reply.is_number()) return reply.get<double>();
  if (reply.is_string() && absl::SimpleAtod(reply.get_ref<const std::string&>(), &number)) {
    return number;
  }
  return std::nullopt;
}

std::vector<std::string> ReadWords(ArgumentReader& fields, std::string_view name) {
  std::vector<std::string> words = fields.Strings(name);
  if (words.empty()) fields.Refuse(name, "a command has at least a name");
  return words;
}

absl::StatusOr<std::shared_ptr<const WorldInvariant>> ParseInvariant(const Json& json,
                                                                     std::string_view path) {
  ArgumentReader fields(json, path);
  const std::string kind = fields.String("kind");
  const std::string name = fields.OptionalString("name").value_or(kind);
  const std::string when = fields.OptionalString("when").value_or("end");
  const KindRow* row = FindKind(kind);
  if (row == nullptr) {
    fields.Refuse("kind", UnknownKind(kind));
    return fields.Finish();
  }
  if (name.find(':') != std::string::npos) fields.Refuse("name", "a name has no colon");
  if (when != "end" && (when != "always" || row->at_end_only)) {
    fields.Refuse("when", row->at_end_only ? "this kind is asked at the end"
                                           : "expected \"end\" or \"always\"");
  }
  std::shared_ptr<WorldInvariant> invariant = row->read(fields);
  if (row->asks_server) invariant->server_ = fields.OptionalString("server").value_or("");
  REDOUBLE_RETURN_IF_ERROR(fields.Finish());
  invariant->name_ = name;
  // What changes between two checks is seen by checks after every step.
  invariant->always_ = when == "always" || (kind == "monotone" && json.contains("command"));
  return std::shared_ptr<const WorldInvariant>(std::move(invariant));
}

std::unique_ptr<store::Store> ConnectAside(World& world, std::string_view server) {
  if (server.empty()) return world.ConnectToAll();
  return world.Connect(server);
}

Json SerialState(World& world, const std::vector<CallResult>& results) {
  const std::unique_ptr<store::Store> store = world.ConnectToAll();
  Json by_actor = Json::object();
  std::vector<const CallResult*> sorted;
  for (const CallResult& call : results) sorted.push_back(&call);
  std::stable_sort(sorted.begin(), sorted.end(), [](const CallResult* a, const CallResult* b) {
    return std::pair(a->actor, a->step) < std::pair(b->actor, b->step);
  });
  for (const CallResult* call : sorted) by_actor[call->actor].push_back(call->result);
  const absl::StatusOr<Keyspace> keyspace = base::Run(DumpKeyspace(*store));
  return Json{{"keys", KeyspaceToJson(*keyspace)}, {"results", by_actor}};
}

}  // namespace redouble::inline v0_1::sim
