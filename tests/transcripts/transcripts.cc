#include "redouble/tests/transcripts/transcripts.h"

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::tests {
namespace {

using Code = absl::StatusCode;

constexpr std::string_view kServers[] = {"6.2", "7.0",        "7.2",       "7.4",
                                         "8.0", "valkey-8.0", "valkey-8.1"};
constexpr std::string_view kAll = "6.2 7.0 7.2 7.4 8.0 valkey-8.0 valkey-8.1";
constexpr std::string_view kSince70 = "7.0 7.2 7.4 8.0 valkey-8.0 valkey-8.1";
constexpr std::string_view kSince72 = "7.2 7.4 8.0 valkey-8.0 valkey-8.1";
constexpr std::string_view kRedis = "6.2 7.0 7.2 7.4 8.0";
constexpr std::string_view kValkey = "valkey-8.0 valkey-8.1";

constexpr Transcript kTranscripts[] = {
    {"HELLO with a wrong password", kAll,
     "WRONGPASS invalid username-password pair or user is disabled.", Code::kUnauthenticated},
    {"HELLO without a password", "6.2 7.0",
     "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH "
     "<user> <pass> option can be used to authenticate the client and select the RESP protocol "
     "version at the same time",
     Code::kUnauthenticated},
    {"HELLO without a password", kSince72,
     "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
     "<proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP "
     "protocol version at the same time",
     Code::kUnauthenticated},
    {"PING without a password", kAll, "NOAUTH Authentication required.", Code::kUnauthenticated},
    {"HELLO 4", kAll, "NOPROTO unsupported protocol version", Code::kInvalidArgument},
    {"SELECT 99", kAll, "ERR DB index is out of range", Code::kInvalidArgument},
    {"more clients than maxclients", kAll, "ERR max number of clients reached",
     Code::kInvalidArgument},
    {"more clients than maxclients on a cluster", kSince70,
     "ERR max number of clients + cluster connections reached", Code::kInvalidArgument},
    {"PING by a user who may not", "6.2",
     "NOPERM this user has no permissions to run the 'ping' command or its subcommand",
     Code::kPermissionDenied},
    {"PING by a user who may not", "7.0",
     "NOPERM this user has no permissions to run the 'ping' command", Code::kPermissionDenied},
    {"PING by a user who may not", kSince72,
     "NOPERM User ann has no permissions to run the 'ping' command", Code::kPermissionDenied},
    {"an unknown command", "6.2", "ERR unknown command `FOO`, with args beginning with: `a`, `b`, ",
     Code::kInvalidArgument},
    {"an unknown command", kSince70,
     "ERR unknown command 'FOO', with args beginning with: 'a' 'b' ", Code::kInvalidArgument},
    {"PING during loading", kRedis, "LOADING Redis is loading the dataset in memory",
     Code::kUnavailable},
    {"PING during loading", kValkey, "LOADING Valkey is loading the dataset in memory",
     Code::kUnavailable},
    {"GET during a long script", kRedis,
     "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
     Code::kUnavailable},
    {"GET during a long script", kValkey,
     "BUSY Valkey is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
     Code::kUnavailable},
    {"SET on a replica", kAll, "READONLY You can't write against a read only replica.",
     Code::kFailedPrecondition},
    {"GET on a replica without its master", kAll,
     "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
     Code::kUnavailable},
    {"SET without enough replicas", kAll, "NOREPLICAS Not enough good replicas to write.",
     Code::kFailedPrecondition},
    {"SET beyond maxmemory", kAll, "OOM command not allowed when used memory > 'maxmemory'.",
     Code::kResourceExhausted},
    {"EVALSHA of an unknown script", kRedis, "NOSCRIPT No matching script. Please use EVAL.",
     Code::kNotFound},
    {"EVALSHA of an unknown script", kValkey, "NOSCRIPT No matching script.", Code::kNotFound},
    {"EXEC after a refused command", kAll,
     "EXECABORT Transaction discarded because of previous errors.", Code::kAborted},
    {"GET on a cluster without slots", kAll, "CLUSTERDOWN Hash slot not served",
     Code::kUnavailable},
    {"MGET of two slots", kAll, "CROSSSLOT Keys in request don't hash to the same slot",
     Code::kInvalidArgument},
};

}  // namespace

std::span<const Transcript> Transcripts() { return kTranscripts; }

std::string_view ErrorIn(std::string_view situation, std::string_view server) {
  for (const Transcript& row : kTranscripts) {
    if (row.situation != situation) continue;
    const std::vector<std::string> servers = absl::StrSplit(base::ToAbsl(row.servers), ' ');
    for (const std::string& one : servers) {
      if (one == server) return row.error;
    }
  }
  return {};
}

std::span<const std::string_view> TranscribedServers() { return kServers; }

}  // namespace redouble::inline v0_1::tests
