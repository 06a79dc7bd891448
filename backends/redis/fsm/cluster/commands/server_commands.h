// ServerCommands: where commands that the table lacks have their keys, as the server says.
//
// Modules and newer servers have commands that the table of Redis 7.0 does not know. COMMAND INFO
// describes the positions of their keys; the answer is asked for once for each name and client.
//
//   if (!commands.Knows("json.mget")) commands.Learn("json.mget", reply_to_command_info);
//   std::vector<size_t> keys = commands.KeysOf("json.mget", arguments);
//
// Thread-safety: one thread or strand at a time.
//
// Source: Redis 7.0 COMMAND INFO; Redis documentation, "Command key specifications".
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_COMMANDS_SERVER_COMMANDS_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_COMMANDS_SERVER_COMMANDS_H_

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/store/reply.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::redis {

class ServerCommands {
 public:
  // How many names are kept. Further ones are not asked for, so that a caller who invents names
  // costs neither memory nor round trips.
  static constexpr size_t kMaxNames = 1000;

  // Whether the server was asked for the name, in any case of letters, or need not be asked.
  bool Knows(std::string_view name) const;

  // Takes the reply to COMMAND INFO with one name. Any other reply, such as NOPERM or that the
  // server does not know the command, leaves the positions unknown.
  void Learn(std::string_view name, const store::Reply& reply);

  // The indexes of the keys in the words after the name. nullopt: the positions are unknown, or the
  // arguments contradict them.
  std::optional<std::vector<size_t>> KeysOf(std::string_view name,
                                            std::span<const std::string_view> arguments) const;

 private:
  std::optional<store::CommandSpec> Read(const store::Reply& info);
  std::optional<store::KeySpec> ReadKeySpec(const store::Reply& spec);

  std::map<std::string, std::optional<store::CommandSpec>> specs_;  // By lower-case name.
  std::deque<std::string> keywords_;                                // The specs refer to them.
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_COMMANDS_SERVER_COMMANDS_H_
