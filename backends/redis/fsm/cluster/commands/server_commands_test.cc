#include "redouble/backends/redis/fsm/cluster/commands/server_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace redouble::inline v0_1::redis {
namespace {

using store::Reply;
using testing::ElementsAre;
using testing::Eq;
using testing::Optional;
using Words = std::vector<std::string_view>;

// A map as RESP2 writes it.
Reply Map(std::vector<std::pair<const char*, Reply>> members) {
  std::vector<Reply> list;
  for (auto& [name, value] : members) {
    list.push_back(Reply::Bulk(name));
    list.push_back(std::move(value));
  }
  return Reply::Array(std::move(list));
}

Reply Spec(const char* begin, Reply from, const char* find, Reply how) {
  return Map({{"flags", Reply::Array({Reply::Status("RW")})},
              {"begin_search", Map({{"type", Reply::Bulk(begin)}, {"spec", std::move(from)}})},
              {"find_keys", Map({{"type", Reply::Bulk(find)}, {"spec", std::move(how)}})}});
}
Reply Index(int64_t index) { return Map({{"index", Reply::Integer(index)}}); }
Reply Range(int64_t last, int64_t step) {
  return Map({{"lastkey", Reply::Integer(last)},
              {"keystep", Reply::Integer(step)},
              {"limit", Reply::Integer(0)}});
}

// The reply to COMMAND INFO of a server since 7.0; `specs` nullopt: of an older one.
Reply Info(int64_t first, int64_t last, int64_t step, std::optional<std::vector<Reply>> specs) {
  std::vector<Reply> members = {Reply::Bulk("name"),   Reply::Integer(-2),   Reply::Array({}),
                                Reply::Integer(first), Reply::Integer(last), Reply::Integer(step),
                                Reply::Array({})};
  if (specs) {
    members.push_back(Reply::Array({}));
    members.push_back(Reply::Array(*std::move(specs)));
  }
  return Reply::Array({Reply::Array(std::move(members))});
}

TEST(ServerCommands, ReadsKeySpecs) {
  ServerCommands commands;
  EXPECT_FALSE(commands.Knows("json.mget"));
  commands.Learn("JSON.MGET",
                 Info(1, -2, 1, std::vector{Spec("index", Index(1), "range", Range(-2, 1))}));
  EXPECT_TRUE(commands.Knows("json.mget"));
  EXPECT_THAT(commands.KeysOf("Json.Mget", Words{"a", "b", "$"}), Optional(ElementsAre(0u, 1u)));
}

TEST(ServerCommands, ReadsSeveralSpecsKeywordsAndCounts) {
  ServerCommands commands;
  const Reply keynum = Map({{"keynumidx", Reply::Integer(0)},
                            {"firstkey", Reply::Integer(1)},
                            {"keystep", Reply::Integer(1)}});
  const Reply keyword = Map({{"keyword", Reply::Bulk("STORE")}, {"startfrom", Reply::Integer(2)}});
  commands.Learn("cms.merge", Info(1, 1, 1,
                                   std::vector{Spec("index", Index(1), "range", Range(0, 1)),
                                               Spec("index", Index(2), "keynum", keynum),
                                               Spec("keyword", keyword, "range", Range(0, 1))}));
  EXPECT_THAT(commands.KeysOf("cms.merge", Words{"d", "2", "a", "b", "store", "e", "x"}),
              Optional(testing::UnorderedElementsAre(0u, 2u, 3u, 5u)));
}

TEST(ServerCommands, ReadsPositionsOfServersBefore7) {
  ServerCommands commands;
  commands.Learn("all", Info(1, -1, 1, std::nullopt));
  EXPECT_THAT(commands.KeysOf("all", Words{"a", "b"}), Optional(ElementsAre(0u, 1u)));
  commands.Learn("pair", Info(2, 4, 2, std::nullopt));
  EXPECT_THAT(commands.KeysOf("pair", Words{"x", "a", "y", "b", "z"}),
              Optional(ElementsAre(1u, 3u)));
  commands.Learn("none", Info(0, 0, 0, std::nullopt));
  EXPECT_THAT(commands.KeysOf("none", Words{"a"}), Optional(ElementsAre()));
}

TEST(ServerCommands, DoesNotGuessWhatTheServerDoesNotSay) {
  ServerCommands commands;
  commands.Learn("error", Reply::Error("NOPERM no"));
  commands.Learn("missing", Reply::Array({Reply::Nil()}));
  commands.Learn("unknown",
                 Info(0, 0, 0, std::vector{Spec("unknown", Map({}), "unknown", Map({}))}));
  commands.Learn("short", Reply::Array({Reply::Array({Reply::Bulk("short")})}));
  commands.Learn("damaged", Info(1, 1, 1, std::vector{Reply::Integer(7)}));
  for (const std::string name : {"error", "missing", "unknown", "short", "damaged", "never"}) {
    EXPECT_THAT(commands.KeysOf(name, Words{"a"}), Eq(std::nullopt)) << name;
    EXPECT_EQ(commands.Knows(name), name != "never");
  }
  commands.Learn("get", Info(1, 1, 1, std::nullopt));
  EXPECT_THAT(commands.KeysOf("get", {}), Eq(std::nullopt)) << "the arguments contradict it";
}

TEST(ServerCommands, KeepsABoundedNumberOfNames) {
  ServerCommands commands;
  for (size_t i = 0; i < ServerCommands::kMaxNames; ++i) {
    commands.Learn(std::to_string(i), Reply::Array({Reply::Nil()}));
  }
  EXPECT_TRUE(commands.Knows("another")) << "it is not asked for";
  EXPECT_THAT(commands.KeysOf("another", Words{"a"}), Eq(std::nullopt));
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
