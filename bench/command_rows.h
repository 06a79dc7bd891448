// How each command is called by bench/commands: a line per command, its words with names of keys
// left open, and what has to be called before so that it finds what it works on.
//
//   {s} {i} {b} {p}   a string, an integer, a bitmap, a HyperLogLog
//   {l} {h} {t} {z}   a list, a hash, a set, a sorted set
//   {x} {g}           a stream with a group, a sorted set of positions
//   {n}               a key that does not exist
//
// All but the last stand for the same key throughout a line and what prepares it; {s2} and its like
// for the key after it. {u} is a number that no call before had. Words are divided by blanks.
#ifndef REDOUBLE_BENCH_COMMAND_ROWS_H_
#define REDOUBLE_BENCH_COMMAND_ROWS_H_

#include <span>
#include <string_view>

namespace redouble::bench {

struct CommandRow {
  std::string_view call;
  // Called before each call, outside the time; commands are divided by ";".
  std::string_view prepare = {};
};

std::span<const CommandRow> CommandRows();

struct NotMeasured {
  std::string_view command;
  std::string_view why;
};

std::span<const NotMeasured> CommandsNotMeasured();

}  // namespace redouble::bench

#endif  // REDOUBLE_BENCH_COMMAND_ROWS_H_
