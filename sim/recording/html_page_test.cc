#include "redouble/sim/recording/html_page.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace redouble::inline v0_1::sim {
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

// Two actors, a key that expires, a fault of one actor and one of the server, and a failure.
Recording Sample() {
  Recording recording;
  recording.title = "a <race>";
  recording.file = "my run.json";
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

// Returns the row whose tag begins with these attributes.
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
  EXPECT_THAT(second, HasSubstr("class=\"mark error\" tabindex=\"0\" data-event=\"3\""));
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
  EXPECT_THAT(n, HasSubstr("<rect class=\"value\" x=\"0\" y=\"4\" width=\"692\""));
  EXPECT_THAT(n, HasSubstr("string &quot;1&quot;\nno TTL"));
  const std::string lock = Row(page, "key\" data-key=\"lock\"");
  EXPECT_THAT(lock, HasSubstr("<rect class=\"value expires\" x=\"173\" y=\"4\" width=\"346\""));
  EXPECT_THAT(lock, HasSubstr("\nttl_ms 1000, until 1970-01-01T00:00:01.000Z"));
  EXPECT_THAT(lock, HasSubstr("<polyline class=\"ttl\" points=\"173,5 346,5 346,5 519,5 \""));
  EXPECT_THAT(lock, HasSubstr("<polygon class=\"remaining\" points=\"173,5 346,5 346,5 519,5 "
                              "519,43 173,43\""));
  EXPECT_EQ(Count(lock, ">TTL 1s</text>"), 1u);
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
      R"({"index":0,"us":0,"client":"first","transaction":[["XREADGROUP","GROUP","workers"],)"
      R"(["DEL"]],"reply":[]})";
  for (Moment& moment : recording.moments) {
    if (moment.keyspace.contains("n")) moment.keyspace["n"] = Entry(std::string(99, 'a'));
  }
  const std::string page = HtmlPage(recording);
  EXPECT_THAT(page, HasSubstr(">+1 XREADGROUP GROUP wor…</text>"));
  EXPECT_THAT(page, HasSubstr(">GET n</text>"));
  EXPECT_THAT(page, HasSubstr(">crash</text>"));
  EXPECT_THAT(Row(page, "key\" data-key=\"n\""), HasSubstr(std::string(96, 'a') + "…</text>"));
}

TEST(HtmlPage, CutsNoCharacterInTwo) {
  Recording recording = Sample();
  for (Moment& moment : recording.moments) {
    if (moment.keyspace.contains("n")) moment.keyspace["n"] = Entry(std::string(95, 'a') + "ééé");
  }
  EXPECT_THAT(HtmlPage(recording), HasSubstr(std::string(95, 'a') + "…</text>"));
}

TEST(HtmlPage, FillsTheWindowWithFewColumnsAndKeepsManyReadable) {
  EXPECT_THAT(HtmlPage(Sample()), HasSubstr("data-column=\"173\""));
  EXPECT_THAT(HtmlPage(Recording()), HasSubstr("data-column=\"360\""));
  Recording recording = Sample();
  for (int i = 4; i < 100; ++i) {
    recording.events.push_back(R"({"index":4,"us":2000000,"client":"a","command":["PING"]})");
  }
  EXPECT_THAT(HtmlPage(recording), HasSubstr("data-column=\"76\""));
}

TEST(HtmlPage, ShortensALongKeyInTheMiddle) {
  Recording recording = Sample();
  const std::string key = "session:0b8f5c3e-9a1d-4c0a-8a5e-é1f2e3d4c5b6";
  recording.moments[3].keyspace[key] = Entry("v");
  EXPECT_THAT(HtmlPage(recording),
              HasSubstr("title=\"" + key +
                        "\"><span class=\"head\">"
                        "session:0b8f5c3e-9a1d-4c0a-8a5e-é</span><span class=\"tail\">"
                        "1f2e3d4c5b6</span>"));
}

TEST(HtmlPage, SaysHowToRepeatTheRun) {
  EXPECT_THAT(HtmlPage(Sample()), HasSubstr("<code>redouble replay &#39;my run.json&#39;</code>"));
  Recording recording = Sample();
  recording.file = "it's/run.json";
  EXPECT_THAT(HtmlPage(recording),
              HasSubstr("{\"repeat\":\"redouble replay 'it'\\\\''s/run.json'\""));
  recording.file.clear();
  EXPECT_THAT(HtmlPage(recording), Not(HasSubstr("Repeat the run")));
}

TEST(HtmlPage, OpensTheFailingEvent) {
  EXPECT_THAT(HtmlPage(Sample()), HasSubstr("\"failing\":3,"));
  EXPECT_THAT(HtmlPage(Recording()), HasSubstr("\"failing\":null,"));
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
  EXPECT_EQ(Count(page, "</script>"), 2u);  // The page's own two.
}

TEST(HtmlPage, EmbedsEveryEventAsJson) {
  const std::string page = HtmlPage(Sample());
  const size_t begin = page.find("{\"repeat\":");
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
}  // namespace redouble::inline v0_1::sim
