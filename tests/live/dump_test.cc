// DUMP and RESTORE between the memory engine and a real redis-server, both ways.
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {
namespace {

struct Case {
  std::string name;
  std::vector<Words> make;  // The commands that create the key k.
  Words show;
};

Words Pushes(std::string command, int count, const std::string& text, bool pairs) {
  Words words = {std::move(command), "k"};
  for (int i = 0; i < count; ++i) {
    words.push_back(text + std::to_string(i));
    if (pairs) words.push_back(std::to_string(i));
  }
  return words;
}

Words Scores(int count, const std::string& text) {
  Words words = {"ZADD", "k", "-inf", "lowest", "inf", "highest"};
  for (int i = 0; i < count; ++i) {
    words.push_back(std::to_string(i) + ".25");
    words.push_back(text + std::to_string(i));
  }
  return words;
}

std::vector<Case> Cases() {
  const std::string repetitive(5000, 'r');
  return {
      {"text", {{"SET", "k", "hello"}}, {"GET", "k"}},
      {"integer", {{"SET", "k", "-70000"}}, {"GET", "k"}},
      {"long_integer", {{"SET", "k", "-9223372036854775808"}}, {"GET", "k"}},
      {"repetitive", {{"SET", "k", repetitive}}, {"GET", "k"}},
      {"list", {Pushes("RPUSH", 10, "", false)}, {"LRANGE", "k", "0", "-1"}},
      {"long_list", {Pushes("RPUSH", 3000, "element ", false)}, {"LRANGE", "k", "0", "-1"}},
      {"wide_list", {{"RPUSH", "k", repetitive, repetitive, "x"}}, {"LRANGE", "k", "0", "-1"}},
      {"intset", {Pushes("SADD", 500, "1", false)}, {"SORT", "k"}},
      {"large_intset", {Pushes("SADD", 600, "", false)}, {"SORT", "k"}},
      {"set", {Pushes("SADD", 1000, "member ", false)}, {"SORT", "k", "ALPHA"}},
      {"hash", {Pushes("HSET", 20, "field ", true)}, {"HGETALL", "k"}},
      {"repetitive_words",
       {{"SET", "k", "one two three, one two three, one two four"}},
       {"GET", "k"}},
      {"sorted_set", {Scores(20, "")}, {"ZRANGE", "k", "0", "-1", "WITHSCORES"}},
      {"large_sorted_set", {Scores(600, "member ")}, {"ZRANGE", "k", "0", "-1", "WITHSCORES"}},
      {"stream",
       {{"XADD", "k", "1-1", "a", "1"},
        {"XADD", "k", "1-2", "b", "2", "c", "3"},
        {"XADD", "k", "2-0", "b", "2"},
        {"XDEL", "k", "1-2"},
        {"XGROUP", "CREATE", "k", "g", "0"},
        {"XGROUP", "CREATECONSUMER", "k", "g", "idle"},
        {"XREADGROUP", "GROUP", "g", "ann", "STREAMS", "k", ">"}},
       {"XINFO", "STREAM", "k", "FULL"}},
      {"large_hash", {Pushes("HSET", 600, "f", true)}, {"HMGET", "k", "f0", "f7", "f599", "x"}},
  };
}

// Waits for the whole reply, however long it is.
store::Reply Ask(Target& target, const Words& command) {
  return target.RunAll(0, std::span(&command, 1))[0];
}

// A readable form, with the encoding, of the key that `to` restored from `from`.
std::string Carried(Target& from, Target& to, const Case& the_case) {
  from.Reset(absl::FromUnixSeconds(1'700'000'000));
  to.Reset(absl::FromUnixSeconds(1'700'000'000));
  for (const Words& command : the_case.make) Ask(from, command);
  const std::string payload = Ask(from, {"DUMP", "k"}).text();
  const std::string restored = Ask(to, {"RESTORE", "k", "0", payload}).DebugString();
  return restored + " " + Ask(to, {"OBJECT", "ENCODING", "k"}).DebugString() + " " +
         Ask(to, the_case.show).DebugString();
}

std::string Expected(Target& target, const Case& the_case) {
  target.Reset(absl::FromUnixSeconds(1'700'000'000));
  for (const Words& command : the_case.make) Ask(target, command);
  return "OK " + Ask(target, {"OBJECT", "ENCODING", "k"}).DebugString() + " " +
         Ask(target, the_case.show).DebugString();
}

TEST(Dump, GoesToARealServerAndComesFromOne) {
  MemoryTarget memory;
  ServerTarget server;
  for (const Case& the_case : Cases()) {
    SCOPED_TRACE(the_case.name);
    const std::string expected = Expected(server, the_case);
    EXPECT_EQ(Carried(memory, server, the_case), expected);
    EXPECT_EQ(Carried(server, memory, the_case), expected);
  }
}

// The FUNCTION LIST reply of `to` for the libraries that it restored from `from`.
std::string CarriedLibraries(Target& from, Target& to) {
  for (Target* target : {&from, &to}) Ask(*target, {"FUNCTION", "FLUSH"});
  const std::string long_comment = "--" + std::string(3000, 'c') + "\n";
  Ask(from, {"FUNCTION", "LOAD",
             "#!lua name=one\n" + long_comment +
                 "redis.register_function('f', function(k, a) return {k[1], a[1]} end)"});
  Ask(from,
      {"FUNCTION", "LOAD",
       "#!lua name=two\nredis.register_function{function_name='g', callback=function() return "
       "2 end, description='d', flags={'no-writes'}}"});
  const std::string payload = Ask(from, {"FUNCTION", "DUMP"}).text();
  std::string told = Ask(to, {"FUNCTION", "RESTORE", payload}).DebugString();
  told += Ask(to, {"FUNCTION", "RESTORE", payload}).DebugString();
  told += Ask(to, {"FUNCTION", "RESTORE", payload, "REPLACE"}).DebugString();
  told += Ask(to, {"FUNCTION", "LIST", "LIBRARYNAME", "two", "WITHCODE"}).DebugString();
  told += Ask(to, {"FCALL", "f", "1", "key", "argument"}).DebugString();
  return told + Ask(to, {"FCALL_RO", "g", "0"}).DebugString();
}

TEST(Dump, CarriesLibrariesToARealServerAndFromOne) {
  MemoryTarget memory;
  ServerTarget server;
  MemoryTarget other;
  const std::string expected = CarriedLibraries(memory, other);
  EXPECT_NE(expected.find("[\"key\", \"argument\"]2"), std::string::npos) << expected;
  // If several libraries exist already, the error may name any of them.
  const auto without_name = [](std::string text) {
    for (const char* name : {"Library one", "Library two"}) {
      if (const size_t at = text.find(name); at != std::string::npos)
        text.replace(at + 8, 3, "...");
    }
    return text;
  };
  EXPECT_EQ(without_name(CarriedLibraries(memory, server)), without_name(expected));
  EXPECT_EQ(without_name(CarriedLibraries(server, memory)), without_name(expected));
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
