// The program as redis-server: for test harnesses that start one.
//
//   redouble redis-server redis.conf --port 7000 --save ''
//   ln -s redouble redis-server; ./redis-server -    # The configuration from standard input.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_SERVE_REDIS_SERVER_H_
#define REDOUBLE_SIM_CLI_SERVE_REDIS_SERVER_H_

#include <functional>
#include <string>
#include <vector>

#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::sim {

// The subcommand's name, and that of a program that behaves so by default.
inline constexpr std::string_view kRedisServer = "redis-server";

// As Subcommand::add, for the help alone: the words after the name are read by RunRedisServer.
std::function<int()> AddRedisServer(CLI::App& app, const ProgramContext& context);

// Serves with redis-server's arguments: a configuration file, `--NAME VALUE...` pairs, which win
// over the file, and "-" for a configuration from standard input. Returns the exit code, which is
// redis-server's: 1 for anything wrong.
int RunRedisServer(const std::vector<std::string>& arguments, const ProgramContext& context);

// Returns the lines of redis.conf that `--NAME VALUE...` arguments mean. Source: Redis 7.0
// server.c, main.
std::string ArgumentsAsConfiguration(const std::vector<std::string>& arguments);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_SERVE_REDIS_SERVER_H_
