// Every typed function of core/store/typed: the time of one call on the memory engine by the number
// of keys, and on a redis-server over a Unix socket in the same run.
//
//   bazel run --config=opt //bench:typed              # 1 k and 10 k keys
//   bazel run --config=opt //bench:typed -- --full    # 1 k to 10 M keys; the server 1 k and 1 M
//
// The calls are in typed_rows.cc. Prints a table of medians, which bench/plot.py draws. Each call
// draws new keys, so that with many keys a call includes cache misses, as with a map of that size.
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/bench/keyspace.h"
#include "redouble/bench/support.h"
#include "redouble/bench/typed_rows.h"

namespace redouble::inline v0_1::bench {
namespace {

TypedKeys KeysOf(const Names& names) {
  TypedKeys keys;
  keys.s = names.Key('s');
  keys.s2 = names.Key('s', /*is_second=*/true);
  keys.i = names.Key('i');
  keys.l = names.Key('l');
  keys.h = names.Key('h');
  keys.t = names.Key('t');
  keys.t2 = names.Key('t', /*is_second=*/true);
  keys.z = names.Key('z');
  keys.x = names.Key('x');
  keys.n = names.NewKey();
  return keys;
}

// Nanoseconds for each row.
std::vector<double> MeasureAll(store::Store& store, int64_t key_count) {
  LoadKeyspace(store, key_count);
  Names names(key_count, /*seed=*/1);
  std::vector<double> results;
  for (const TypedRow& row : TypedRows()) {
    TypedKeys keys;
    results.push_back(MedianNanoseconds(
        [&] {
          names.Next();
          for (const Words& before : names.FillInAll(row.prepare)) Call(store, before);
          keys = KeysOf(names);
        },
        [&] { row.call(store, keys); }));
    Call(store, {"SELECT", "0"});
  }
  return results;
}

template <typename Backend>
std::vector<double> MeasureOn(int64_t keys) {
  Backend backend;
  return MeasureAll(backend.store(), keys);
}

struct Column {
  std::string title;
  std::vector<double> nanoseconds;
};

void Print(bool full) {
  std::vector<Column> columns;
  for (int64_t keys = 1000; keys <= (full ? 10'000'000 : 10'000); keys *= 10) {
    columns.push_back({"engine, " + std::to_string(keys) + " keys", MeasureOn<Memory>(keys)});
  }
  for (const int64_t keys : {int64_t{1000}, int64_t{full ? 1'000'000 : 10'000}}) {
    columns.push_back({"redis-server, " + std::to_string(keys) + " keys", MeasureOn<Live>(keys)});
  }
  std::printf("ns per call\n\n| call |");
  for (const Column& column : columns) std::printf(" %s |", column.title.c_str());
  std::printf("\n| --- |");
  for (size_t i = 0; i < columns.size(); ++i) std::printf(" --- |");
  for (size_t row = 0; row < TypedRows().size(); ++row) {
    std::printf("\n| %s |", std::string(TypedRows()[row].name).c_str());
    for (const Column& column : columns) std::printf(" %.0f |", column.nanoseconds[row]);
  }
  std::printf("\n");
}

}  // namespace
}  // namespace redouble::inline v0_1::bench

int main(int argc, char** argv) {
  redouble::bench::Print(argc > 1 && std::string_view(argv[1]) == "--full");
  return 0;
}
