#include "sim/trace/html_page.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace redouble::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

Json Entry(Json value, Json ttl_ms = nullptr) {
  Json entry{{"type", "string"}, {"value", value}};
  if (!ttl_ms.is_null()) entry["ttl_ms"] = ttl_ms;
  return entry;
}

// Two actors, a key that expires, a fault on one and one on the server, a failure.
Recording Sample() {
  Recording recording;
  recording.title = "a <race>";
  recording.actors = {"first", "second"};
  recording.events = {
      R"({"index":0,"us":0,"client":"first","command":["SET","lock","</script>"],"reply":"OK"})",
      R"({"index":1,"us":0,"fault":"crash","client":"second"})",
      R"({"index":2,"us":2000000,"fault":"restart"})",
      R"({"index":3,"us":2000000,"client":"second","command":["GET","n"],)"
      R"("reply":{"failure":"outcome unknown"}})"};
  recording.moments = {
      {0, 0, {{"n", Entry("1")}}},
      {1, 0, {{"n", Entry("1")}, {"lock", Entry("</script>", 1000)}}},
      {2, 0, {{"n", Entry("1")}, {"lock", Entry("</script>", 1000)}}},
      {2, 1000000, {{"n", Entry("1")}}},
      {3, 2000000, Json::object()},
      {4, 2000000, Json::object()},
  };
  recording.failure = "both count: \"6\"";
  recording.failing_event = 3;
  return recording;
}

// The row that begins with these attributes.
std::string Row(const std::string& page, const std::string& attributes) {
  const size_t begin = page.find("<div class=\"row " + attributes);
  if (begin == std::string::npos) return "no such row";
  return page.substr(begin, page.find("</div>", begin) - begin);
}

TEST(HtmlPage, HasALanePerActorWithItsCommands) {
  const std::string page = HtmlPage(Sample());
  const std::string first = Row(page, "lane\" data-actor=\"first\"");
  EXPECT_THAT(first, HasSubstr("data-event=\"0\""));
  EXPECT_EQ(Count(first, "class=\"mark"), 1u);
  const std::string second = Row(page, "lane last\" data-actor=\"second\"");
  EXPECT_THAT(second, HasSubstr("class=\"mark error\" data-event=\"3\""));
  EXPECT_EQ(Count(page, "class=\"row lane"), 2u);
}

TEST(HtmlPage, ShowsCommandAndReplyWhenAMarkIsHovered) {
  EXPECT_THAT(HtmlPage(Sample()),
              HasSubstr("<title>event 3, 1970-01-01T00:00:02.000000Z\n[&quot;GET&quot;,"
                        "&quot;n&quot;]\nreply: {&quot;failure&quot;:&quot;outcome unknown&quot;}"
                        "</title>"));
}

TEST(HtmlPage, PutsAFaultOverItsLaneAndAServersOverAll) {
  const std::string page = HtmlPage(Sample());
  EXPECT_EQ(Count(page, "fault: &quot;crash&quot;"), 1u);
  EXPECT_THAT(Row(page, "lane last\" data-actor=\"second\""),
              HasSubstr("fault: &quot;crash&quot;"));
  EXPECT_EQ(Count(page, "fault: &quot;restart&quot;"), 2u);
}

TEST(HtmlPage, MarksTheFailingStepInEveryRow) {
  const std::string page = HtmlPage(Sample());
  EXPECT_EQ(Count(page, "<rect class=\"failing\""), Count(page, "<div class=\"row "));
  EXPECT_THAT(page, HasSubstr("<p class=\"failure\">both count: &quot;6&quot;</p>"));
}

TEST(HtmlPage, MarksNothingWhenNothingFailed) {
  Recording recording = Sample();
  recording.failure.clear();
  recording.failing_event.reset();
  const std::string page = HtmlPage(recording);
  EXPECT_THAT(page, Not(HasSubstr("<rect class=\"failing\"")));
  EXPECT_THAT(page, Not(HasSubstr("<p class=\"failure\"")));
}

TEST(HtmlPage, ShowsKeysWhileTheyAreThereAndTheirTtl) {
  const std::string page = HtmlPage(Sample());
  // Columns: the start, two events, the clock, two events.
  const std::string n = Row(page, "key\" data-key=\"n\"");
  EXPECT_THAT(n, HasSubstr("<rect class=\"value\" x=\"0\" y=\"4\" width=\"240\""));
  EXPECT_THAT(n, HasSubstr("string &quot;1&quot;\nno TTL"));
  const std::string lock = Row(page, "key\" data-key=\"lock\"");
  EXPECT_THAT(lock, HasSubstr("<rect class=\"value expires\" x=\"60\" y=\"4\" width=\"120\""));
  EXPECT_THAT(lock, HasSubstr("\nttl_ms 1000, until 1970-01-01T00:00:01.000Z"));
  EXPECT_THAT(lock, HasSubstr("<polyline class=\"ttl\" points=\"60,5 120,5 120,5 180,5 \""));
}

TEST(HtmlPage, HasABarForEachValueOfAKey) {
  Recording recording = Sample();
  recording.moments[3].keyspace["n"] = Entry("2");
  const std::string n = Row(HtmlPage(recording), "key\" data-key=\"n\"");
  EXPECT_EQ(Count(n, "<rect class=\"value\""), 2u);
}

TEST(HtmlPage, WritesNamesAndValuesAsFarAsThereIsRoom) {
  Recording recording = Sample();
  recording.events[0] =
      R"({"index":0,"us":0,"client":"first","transaction":[["XREADGROUP"],["DEL"]],"reply":[]})";
  for (Moment& moment : recording.moments) {
    if (moment.keyspace.contains("n")) moment.keyspace["n"] = Entry(std::string(99, 'a'));
  }
  const std::string page = HtmlPage(recording);
  EXPECT_THAT(page, HasSubstr(">XREADGROU…</text>"));
  EXPECT_THAT(page, HasSubstr(">GET</text>"));
  EXPECT_THAT(page, HasSubstr(">crash</text>"));
  EXPECT_THAT(Row(page, "key\" data-key=\"n\""), HasSubstr(std::string(38, 'a') + "…</text>"));
}

TEST(HtmlPage, CutsNoCharacterInTwo) {
  Recording recording = Sample();
  for (Moment& moment : recording.moments) {
    if (moment.keyspace.contains("n")) moment.keyspace["n"] = Entry(std::string(37, 'a') + "ééé");
  }
  EXPECT_THAT(HtmlPage(recording), HasSubstr(std::string(37, 'a') + "…</text>"));
}

TEST(HtmlPage, WritesTheTimeSinceTheBeginning) {
  const std::string times = Row(HtmlPage(Sample()), "times\"");
  EXPECT_THAT(times, HasSubstr("title=\"1970-01-01T00:00:00.000000Z\""));
  EXPECT_THAT(times, HasSubstr(">+0</text>"));
  EXPECT_THAT(times, HasSubstr(">+2s</text>"));
  EXPECT_THAT(times, HasSubstr(">fails here</text>"));
}

TEST(HtmlPage, EscapesWhatItShowsAndWhatItEmbeds) {
  const std::string page = HtmlPage(Sample());
  EXPECT_THAT(page, HasSubstr("<title>a &lt;race&gt;</title>"));
  EXPECT_THAT(page, HasSubstr("[\"SET\",\"lock\",\"\\u003c/script>\"]"));
  EXPECT_EQ(Count(page, "</script>"), 2u);  // Those of the page itself.
}

TEST(HtmlPage, EmbedsEveryEventAsJson) {
  const std::string page = HtmlPage(Sample());
  const size_t begin = page.find("{\"events\":");
  const Json data = Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  ASSERT_EQ(data["events"].size(), 4u);
  EXPECT_EQ(data["events"][0], Json::parse(Sample().events[0]));
}

TEST(HtmlPage, FiltersKeysByATextBox) {
  const std::string page = HtmlPage(Sample());
  EXPECT_THAT(page, HasSubstr("<input id=\"filter\" type=\"text\">"));
  EXPECT_THAT(page, HasSubstr("filter.addEventListener('input', applyFilter)"));
}

TEST(HtmlPage, LoadsNothing) {
  const std::string page = HtmlPage(Sample());
  for (const char* what : {"http:", "https:", "src=", "href=", "url(", "@import"}) {
    EXPECT_THAT(page, Not(HasSubstr(what)));
  }
}

TEST(HtmlPage, IsTheSameForEqualRecordings) { EXPECT_EQ(HtmlPage(Sample()), HtmlPage(Sample())); }

TEST(HtmlPage, ShowsARunInWhichNothingHappened) {
  const std::string page = HtmlPage(Recording());
  EXPECT_THAT(page, HasSubstr("<p>0 events"));
  EXPECT_EQ(Count(page, "class=\"row "), 1u);
}

}  // namespace
}  // namespace redouble::sim
