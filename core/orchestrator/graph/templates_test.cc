#include "redouble/core/orchestrator/graph/templates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace redouble::inline v0_1::orchestrator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Resolved(std::string_view config) {
  const std::vector<NodeOutput> outputs = {
      {"fetch", R"({"url":"https://x","n":7,"links":["a","b"],"deep":{"f":1.5,"nothing":null}})"},
      {"text-1", R"("plain")"},
      {"broken", "{"}};
  return ResolveTemplates(config, outputs);
}

TEST(Templates, AreReplacedByTheOutputsOfNodes) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"a":"$nodes.fetch.url"})", R"({"a":"https://x"})"},
      {R"({"a":"$nodes.fetch.n"})", R"({"a":7})"},
      {R"({"a":"$nodes.fetch.links.1"})", R"({"a":"b"})"},
      {R"({"a":"$nodes.fetch.links"})", R"({"a":["a","b"]})"},
      {R"({"a":"$nodes.fetch.deep.nothing"})", R"({"a":null})"},
      {R"({"a":"$nodes.text-1"})", R"({"a":"plain"})"},
      {R"(["$nodes.fetch.n",{"b":["$nodes.fetch.n"]}])", R"([7,{"b":[7]}])"},
      {R"({"a":"${$nodes.fetch.n} of ${$nodes.fetch.url}!"})", R"({"a":"7 of https://x!"})"},
      {R"({"a":"${$nodes.fetch.links}"})", R"({"a":"[\"a\",\"b\"]"})"},
      {R"("$nodes.fetch.n")", "7"},
  };
  for (const auto& [config, resolved] : rows) EXPECT_EQ(Resolved(config), resolved) << config;
}

TEST(Templates, StayAsTheyAreIfTheyCannotBeResolved) {
  for (const char* config :
       {R"({"a":"$nodes.fetch.missing"})", R"({"a":"$nodes.fetch.links.2"})",
        R"({"a":"$nodes.fetch.links.first"})", R"({"a":"$nodes.fetch.n.x"})",
        R"({"a":"$nodes.other.x"})", R"({"a":"$nodes.broken"})", R"({"a":"$nodes."})",
        R"({"a":"$nodes.fetch..n"})", R"({"a":"$nodes.a b"})", R"({"a":" $nodes.fetch.n"})",
        R"({"a":"${$nodes.fetch.missing} x"})", R"({"a":"${nodes.fetch.n}"})",
        R"({"a":"${$nodes.fetch.n"})", R"({ "a" : 1 })", "{", ""}) {
    EXPECT_EQ(Resolved(config), config);
  }
}

TEST(Templates, MixWhatCanBeResolvedWithTheRest) {
  EXPECT_EQ(Resolved(R"({"a":"${$nodes.x.y} ${$nodes.fetch.n} ${z}"})"),
            R"({"a":"${$nodes.x.y} 7 ${z}"})");
}

TEST(Templates, NameTheNodesThatTheyNeed) {
  EXPECT_THAT(ReferencedNodes(R"({"a":"$nodes.b.x","c":["${$nodes.a} ${$nodes.b.y}"],"d":"b"})"),
              ElementsAre("a", "b"));
  EXPECT_THAT(ReferencedNodes(R"({"a":"nodes.b"})"), IsEmpty());
  EXPECT_THAT(ReferencedNodes("$nodes.b"), IsEmpty());
  EXPECT_THAT(ReferencedNodes(""), IsEmpty());
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
