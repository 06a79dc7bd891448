// Goal: the command table is Redis's own. Every row is compared with redis-server's replies to
// COMMAND INFO and COMMAND DOCS, and the keys that a row finds with COMMAND GETKEYS.
#include "redouble/core/store/table/command_table.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/reply.h"
#include "redouble/tests/support/target/raw_connection.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOk;
using store::CommandSpec;
using store::KeySpec;
using store::Reply;

using Names = std::set<std::string>;
using Fields = std::map<std::string, Reply>;

Names NamesOf(uint32_t flags, std::span<const store::FlagName> table) {
  Names names;
  for (const store::FlagName& row : table) {
    if ((flags & row.flag) != 0) names.emplace(row.name);
  }
  return names;
}
Names NamesOf(const Reply& reply) {
  Names names;
  for (const Reply& name : reply.elements()) names.insert(name.text());
  return names;
}

// The fields of a reply of alternating names and values.
Fields FieldsOf(const Reply& reply) {
  Fields fields;
  for (size_t i = 0; i + 1 < reply.elements().size(); i += 2) {
    fields[reply.elements()[i].text()] = reply.elements()[i + 1];
  }
  return fields;
}

std::string BeginOf(const KeySpec& key) {
  switch (key.begin) {
    case KeySpec::Begin::kIndex:
      return "index " + std::to_string(key.position);
    case KeySpec::Begin::kKeyword:
      return "keyword " + std::string(key.keyword) + " " + std::to_string(key.position);
    case KeySpec::Begin::kUnknown:
      return "unknown";
  }
  return "";
}
std::string BeginOf(Fields search) {
  const std::string type = search["type"].text();
  Fields spec = FieldsOf(search["spec"]);
  if (type == "index") return "index " + spec["index"].DebugString();
  if (type != "keyword") return type;
  return "keyword " + spec["keyword"].text() + " " + spec["startfrom"].DebugString();
}

std::string FindOf(const KeySpec& key) {
  switch (key.find) {
    case KeySpec::Find::kRange:
      return "range " + std::to_string(key.last) + " " + std::to_string(key.step) + " " +
             std::to_string(key.limit);
    case KeySpec::Find::kKeyNum:
      return "keynum 0 1 " + std::to_string(key.step);
    case KeySpec::Find::kUnknown:
      return "unknown";
  }
  return "";
}
std::string FindOf(Fields find) {
  const std::string type = find["type"].text();
  Fields spec = FieldsOf(find["spec"]);
  if (type == "range") {
    return "range " + spec["lastkey"].DebugString() + " " + spec["keystep"].DebugString() + " " +
           spec["limit"].DebugString();
  }
  if (type != "keynum") return type;
  return "keynum " + spec["keynumidx"].DebugString() + " " + spec["firstkey"].DebugString() + " " +
         spec["keystep"].DebugString();
}

void ExpectSameKeys(const CommandSpec& spec, const std::vector<Reply>& key_specs) {
  ASSERT_EQ(spec.keys().size(), key_specs.size()) << spec.name;
  for (size_t i = 0; i < key_specs.size(); ++i) {
    Fields fields = FieldsOf(key_specs[i]);
    EXPECT_EQ(NamesOf(spec.keys()[i].flags, store::KeyFlagNames()), NamesOf(fields["flags"]))
        << spec.name;
    EXPECT_EQ(BeginOf(spec.keys()[i]), BeginOf(FieldsOf(fields["begin_search"]))) << spec.name;
    EXPECT_EQ(FindOf(spec.keys()[i]), FindOf(FieldsOf(fields["find_keys"]))) << spec.name;
  }
}

// COMMAND's replies are nested more deeply than hiredis supports, so scripts extract the compared
// parts.
constexpr std::string_view kInfoScript = R"(
  local row = redis.call('COMMAND', 'INFO', ARGV[1])[1]
  return row and {row[1], row[2], row[3], row[9]}
)";
constexpr std::string_view kDocsScript = R"(
  local function field(list, name)
    for i = 1, #list, 2 do if list[i] == name then return list[i + 1] end end
  end
  local docs = redis.call('COMMAND', 'DOCS', ARGV[1])[2]
  if ARGV[2] ~= ARGV[1] then docs = field(field(docs, 'subcommands'), ARGV[2]) end
  return {field(docs, 'group'), field(docs, 'since')}
)";
constexpr std::string_view kFlagsScript = R"(
  local flags = {}
  for _, row in ipairs(redis.call('COMMAND')) do
    for _, flag in ipairs(row[3]) do flags[#flags + 1] = flag end
  end
  return flags
)";

class CommandTableLive : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(server_, redis::SpawnedServer::Start());
    ASSERT_OK_AND_ASSIGN(connection_, RawConnection::ConnectUnix(server_->unix_socket()));
  }

  Reply Call(const RawConnection::Arguments& command) {
    absl::StatusOr<Reply> reply = connection_->Call(command);
    EXPECT_THAT(reply, IsOk());
    return reply.ok() ? *std::move(reply) : Reply();
  }
  Reply Eval(std::string_view script, const RawConnection::Arguments& arguments) {
    RawConnection::Arguments command = {"EVAL", std::string(script), "0"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return Call(command);
  }

  std::unique_ptr<redis::SpawnedServer> server_;
  std::unique_ptr<RawConnection> connection_;
};

TEST_F(CommandTableLive, HasTheArityFlagsAndKeysThatTheServerReports) {
  for (const CommandSpec& spec : store::AllCommands()) {
    if (!spec.versions.Has(store::Version::kRedis70)) continue;
    const Reply answer = Eval(kInfoScript, {std::string(spec.name)});
    ASSERT_TRUE(answer.is_array()) << "the server has no command " << spec.name << ": " << answer;
    const std::vector<Reply>& row = answer.elements();
    EXPECT_EQ(row[0].text(), std::string(spec.name));
    EXPECT_EQ(row[1].integer(), spec.arity) << spec.name;
    EXPECT_EQ(NamesOf(row[2]), NamesOf(spec.flags, store::CommandFlagNames())) << spec.name;
    ExpectSameKeys(spec, row[3].elements());
  }
}

TEST_F(CommandTableLive, HasTheGroupsAndVersionsThatTheServerDocuments) {
  for (const CommandSpec& spec : store::AllCommands()) {
    if (!spec.versions.Has(store::Version::kRedis70)) continue;
    const std::string_view top = spec.is_subcommand() ? spec.container() : spec.name;
    EXPECT_EQ(Eval(kDocsScript, {std::string(top), std::string(spec.name)}),
              Reply::Array({Reply::Bulk(store::GroupName(spec.group)), Reply::Bulk(spec.since)}))
        << spec.name;
  }
}

TEST_F(CommandTableLive, HasEveryFlagThatTheServerUsesForItsRows) {
  Names known;
  for (const auto& row : store::CommandFlagNames()) known.emplace(row.name);
  for (const std::string& name : NamesOf(Eval(kFlagsScript, {}))) {
    EXPECT_TRUE(known.contains(name)) << name;
  }
}

// Calls in which a row must find the same keys as the server.
const RawConnection::Arguments kCalls[] = {
    {"get", "a"},
    {"set", "a", "1", "PX", "5"},
    {"mget", "a", "b", "c"},
    {"mset", "a", "1", "b", "2"},
    {"del", "a", "b"},
    {"rename", "a", "b"},
    {"copy", "a", "b", "REPLACE"},
    {"watch", "a", "b"},
    {"expire", "a", "5"},
    {"hset", "a", "f", "v"},
    {"blpop", "a", "b", "0"},
    {"lmpop", "2", "a", "b", "LEFT"},
    {"lmove", "a", "b", "LEFT", "RIGHT"},
    {"sinterstore", "a", "b", "c"},
    {"sintercard", "2", "a", "b", "LIMIT", "1"},
    {"zadd", "a", "1", "m"},
    {"zunionstore", "d", "2", "a", "b", "WEIGHTS", "1", "2"},
    {"zmpop", "1", "a", "MIN"},
    {"xread", "COUNT", "1", "STREAMS", "a", "b", "0", "0"},
    {"xreadgroup", "GROUP", "g", "c", "streams", "a", ">"},
    {"xadd", "a", "*", "f", "v"},
    {"eval", "return 1", "2", "a", "b", "c"},
    {"sort", "a", "BY", "x", "GET", "y", "STORE", "d"},
    {"sort_ro", "a", "BY", "x"},
    {"georadius", "a", "1", "1", "1", "m", "STORE", "d"},
    {"georadius", "a", "1", "1", "1", "m", "STORE"},
    {"georadiusbymember", "a", "x", "1", "m", "STOREDIST", "d"},
    {"bitop", "AND", "d", "a", "b"},
};

TEST_F(CommandTableLive, FindsTheKeysThatTheServerFinds) {
  for (const RawConnection::Arguments& call : kCalls) {
    const store::CommandId id = store::FindCommand(call[0]);
    ASSERT_NE(id, store::CommandId::kUnknown) << call[0];
    RawConnection::Arguments ask = {"COMMAND", "GETKEYS"};
    ask.insert(ask.end(), call.begin(), call.end());
    const std::vector<std::string_view> arguments(call.begin() + 1, call.end());
    const auto indexes = store::KeyIndexes(store::SpecOf(id), arguments);
    ASSERT_TRUE(indexes.has_value()) << call[0];
    std::vector<Reply> keys;
    for (const size_t index : *indexes) keys.push_back(Reply::Bulk(arguments[index]));
    EXPECT_EQ(Reply::Array(keys), Call(ask)) << call[0];
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
