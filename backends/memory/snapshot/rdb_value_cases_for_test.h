// A value in each encoding that some version of Redis writes, with what a command shows of it.
//
// The unit test loads them here; tests/live/old_rdb_test.cc lets a real server say the same.
#ifndef REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_RDB_VALUE_CASES_FOR_TEST_H_
#define REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_RDB_VALUE_CASES_FOR_TEST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/memory/snapshot/rdb_bytes_for_test.h"
#include "redouble/backends/memory/values/encodings/intset.h"
#include "redouble/backends/memory/values/encodings/listpack.h"
#include "redouble/backends/memory/values/encodings/stream_node.h"

namespace redouble::inline v0_1::memory {

// The time at which the cases are loaded.
inline constexpr int64_t kMomentS = 1'700'000'000;

// A ziplist of entries, each an encoding and a payload of together less than 254 bytes.
inline std::string Ziplist(const std::vector<std::string>& entries) {
  constexpr size_t kHeaderBytes = 10;
  std::string body;
  size_t last = kHeaderBytes;
  size_t previous_bytes = 0;
  for (const std::string& entry : entries) {
    last = kHeaderBytes + body.size();
    body.push_back(static_cast<char>(previous_bytes));
    body += entry;
    previous_bytes = 1 + entry.size();
  }
  return LittleEndian(kHeaderBytes + body.size() + 1, 4) + LittleEndian(last, 4) +
         LittleEndian(entries.size(), 2) + body + "\xff";
}

// A listpack, written as a string.
inline std::string Packed(const std::vector<std::string>& elements) {
  Listpack listpack;
  for (const std::string& element : elements) listpack.Append(element);
  return Text(listpack.bytes());
}

// A stream of one entry with a group, a consumer and a pending entry, as type 15, 19 or 21.
inline std::string StreamBytes(int type) {
  const std::string_view fields[] = {"field", "value"};
  StreamNode node({5, 1}, fields);
  node.Append({5, 1}, fields);
  const std::string id = StreamKey(5, 1);
  std::string bytes =
      Length(1) + Text(id) + Text(node.listpack().bytes()) + Length(1) + Length(5) + Length(1);
  // The first id, the greatest deleted id and the number of entries that were ever added.
  if (type != 15) bytes += Length(5) + Length(1) + Length(0) + Length(0) + Length(1);
  bytes += Length(1) + Text("group") + Length(5) + Length(1);
  if (type != 15) bytes += Length(1);
  bytes += Length(1) + id + LittleEndian(kMomentS * 1000 - 7000, 8) + Length(3);
  bytes += Length(1) + Text("ann") + LittleEndian(kMomentS * 1000 - 6000, 8);
  if (type == 21) bytes += LittleEndian(kMomentS * 1000 - 5000, 8);
  return bytes + Length(1) + id;
}

struct RdbValueCase {
  std::string name;
  int type;
  int version;        // Of the file.
  std::string value;  // Of the key k.
  std::vector<std::string> show;
  std::string expected;  // The reply, as DebugString has it.
};

inline std::vector<RdbValueCase> ListAndSetCases() {
  using namespace std::string_literals;
  const std::vector<std::string> list = {"LRANGE", "k", "0", "-1"};
  const std::string elements = "[\"a\", \"12\"]";
  const std::string ziplist = Text(Ziplist({"\x01"s + "a", "\xfd"}));
  const std::vector<std::string> set = {"SORT", "k", "ALPHA"};
  const std::string members = "[\"7\", \"b\"]";
  Intset intset;
  intset.Add(70000);
  intset.Add(-1);
  return {
      {"list of strings", 1, 1, Length(2) + Text("a") + Text("12"), list, elements},
      {"list in a ziplist", 10, 2, ziplist, list, elements},
      {"list of ziplists", 14, 7, Length(1) + ziplist, list, elements},
      {"list with an empty ziplist", 14, 9, Length(2) + Text(Ziplist({})) + ziplist, list,
       elements},
      {"list of listpacks", 18, 10, Length(2) + Length(2) + Packed({"a"}) + Length(1) + Text("12"),
       list, elements},
      {"set of strings", 2, 1, Length(2) + Text("b") + Text("7"), set, members},
      {"set in an intset", 11, 2, Text(intset.bytes()), {"SMEMBERS", "k"}, "[\"-1\", \"70000\"]"},
      {"set in a listpack", 20, 11, Packed({"b", "7"}), set, members},
  };
}

inline std::vector<RdbValueCase> HashAndStreamCases() {
  using namespace std::string_literals;
  const std::vector<std::string> hash = {"HMGET", "k", "a", "b"};
  const std::string values = "[\"1\", \"2\"]";
  const std::string zipmap =
      "\x02\x01"s + "a" + "\x01\x00"s + "1" + "\x01" + "b" + "\x01\x02" + "2xx" + "\xff";
  const std::vector<std::string> stream = {"XRANGE", "k", "-", "+"};
  const std::string entries = "[[\"5-1\", [\"field\", \"value\"]]]";
  return {
      {"hash of strings", 4, 1, Length(2) + Text("a") + Text("1") + Text("b") + Text("2"), hash,
       values},
      {"hash in a zipmap", 9, 2, Text(zipmap), hash, values},
      {"hash in a ziplist", 13, 4, Text(Ziplist({"\x01"s + "a", "\xf2", "\x01"s + "b", "\xf3"})),
       hash, values},
      {"hash in a listpack", 16, 10, Packed({"a", "1", "b", "2"}), hash, values},
      {"stream of Redis 5.0", 15, 9, StreamBytes(15), stream, entries},
      {"stream of Redis 7.0", 19, 10, StreamBytes(19), stream, entries},
      {"stream of Redis 7.2", 21, 11, StreamBytes(21), stream, entries},
  };
}

inline std::vector<RdbValueCase> SortedSetCases() {
  using namespace std::string_literals;
  const std::vector<std::string> all = {"ZRANGE", "k", "0", "-1", "WITHSCORES"};
  const std::string one = "[\"m\", \"1.5\"]";
  const std::string score = LittleEndian(0x3ff8000000000000, 8);
  return {
      {"sorted set with scores as text", 3, 1,
       Length(3) + Text("h") + "\xfe" + Text("l") + "\xff" + Text("m") + "\x03" + "1.5", all,
       "[\"l\", \"-inf\", \"m\", \"1.5\", \"h\", \"inf\"]"},
      {"sorted set in a ziplist", 12, 2, Text(Ziplist({"\x01"s + "m", "\x03"s + "1.5"})), all, one},
      {"sorted set", 5, 8, Length(1) + Text("m") + score, all, one},
      {"sorted set in a listpack", 17, 10, Packed({"m", "1.5"}), all, one},
  };
}

inline std::vector<RdbValueCase> RdbValueCases() {
  std::vector<RdbValueCase> all = ListAndSetCases();
  for (const auto& more : {HashAndStreamCases(), SortedSetCases()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SNAPSHOT_RDB_VALUE_CASES_FOR_TEST_H_
