// The calls that bench/commands measures: one row for each command, with placeholders for keys, and
// the calls that prepare the data of the row.
//
//   {s} {i} {b} {p}   a string, an integer, a bitmap, a HyperLogLog
//   {l} {h} {t} {z}   a list, a hash, a set, a sorted set
//   {x} {g}           a stream with a group, a sorted set of positions
//   {n}               a key that does not exist
//
// Within a row and its preparation, a placeholder always names the same key, except {n}. {s2}, {i2}
// and so on name the next key of that kind. {u} is a number that no earlier call used. Words are
// separated by spaces.
//
// Thread-safety: constant data.
#ifndef REDOUBLE_BENCH_COMMAND_ROWS_H_
#define REDOUBLE_BENCH_COMMAND_ROWS_H_

#include <span>
#include <string_view>

namespace redouble::inline v0_1::bench {

struct CommandRow {
  std::string_view call;
  // Called before each measured call, outside the measured time. Commands are separated by ";".
  std::string_view prepare = {};
};

std::span<const CommandRow> CommandRows();

struct NotMeasured {
  std::string_view command;
  std::string_view why;
};

std::span<const NotMeasured> CommandsNotMeasured();

}  // namespace redouble::inline v0_1::bench

#endif  // REDOUBLE_BENCH_COMMAND_ROWS_H_
