#include "sim/trace/html_page.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "core/base/string_bridge.h"
#include "core/base/utc.h"

namespace redouble::sim {
namespace {

// In pixels.
constexpr int kColumnWidth = 60;
constexpr int kRowHeight = 32;
constexpr int kMarkRadius = 6;
constexpr int kCharacterWidth = 6;  // Of the small letters in marks and bars.
constexpr int kMicrosDigits = 6;

constexpr char kStyle[] = R"(
body { font: 14px/1.4 system-ui, sans-serif; margin: 1em; color: #222; }
#chart { overflow-x: auto; border: 1px solid #ccc; }
.row { display: flex; width: max-content; min-width: 100%; border-bottom: 1px solid #eee;
  height: 32px; }
.label { position: sticky; left: 0; width: 320px; flex: none; overflow: hidden; white-space: nowrap;
  text-overflow: ellipsis; background: #fff; padding: 6px; box-sizing: border-box; z-index: 1; }
.lane .label { font-weight: 600; }
.lane.last { border-bottom: 2px solid #aaa; }
.key .label { font-family: ui-monospace, monospace; font-size: 11px; }
.legend span { margin-right: 1.2em; white-space: nowrap; }
.legend i { display: inline-block; width: 14px; height: 12px; margin-right: 4px; }
svg { flex: none; overflow: visible; }
text { font-size: 9px; fill: #333; pointer-events: none; }
text.name { text-anchor: middle; }
.mark { fill: #2a6fb0; cursor: pointer; }
.mark.error { fill: #d08000; }
.mark.kept { stroke: #222; stroke-width: 2; }
.dim { opacity: 0.15; }
.fault { fill: #d4bfe8; }
.failing { fill: #f7c6c6; }
.value { fill: #cfe5cf; stroke: #5a8f5a; }
.value.expires { fill: #f5e6b8; stroke: #b09030; }
.ttl { fill: none; stroke: #906000; stroke-width: 2; shape-rendering: crispEdges; }
.tick { stroke: #bbb; }
.time { font-size: 10px; fill: #555; }
.ends { fill: #b00000; font-weight: 600; }
.failure { color: #b00000; white-space: pre-wrap; }
#detail { background: #f6f6f6; padding: 0.6em; white-space: pre-wrap; overflow-wrap: anywhere; }
)";

constexpr char kScript[] = R"(
const data = JSON.parse(document.getElementById('recording').textContent);
const detail = document.getElementById('detail');
const filter = document.getElementById('filter');
const marks = [...document.querySelectorAll('[data-event]')];
const nothing = detail.textContent;
let kept = null;
function show(mark) {
  detail.textContent =
      mark ? JSON.stringify(data.events[Number(mark.dataset.event)], null, 1) : nothing;
}
function keep(mark) {
  if (kept) kept.classList.remove('kept');
  kept = mark === kept ? null : mark;
  if (kept) kept.classList.add('kept');
  show(kept);
}
for (const mark of marks) {
  mark.addEventListener('click', () => keep(mark));
  mark.addEventListener('mouseenter', () => show(mark));
  mark.addEventListener('mouseleave', () => show(kept));
}
function applyFilter() {
  const text = filter.value;
  for (const row of document.querySelectorAll('.key')) {
    row.style.display = row.dataset.key.includes(text) ? '' : 'none';
  }
  for (const mark of document.querySelectorAll('.mark')) {
    const event = JSON.stringify(data.events[Number(mark.dataset.event)]);
    mark.classList.toggle('dim', !event.includes(text));
  }
}
filter.addEventListener('input', applyFilter);
// A link may say what to look at: page.html#filter=budget:&event=3
const wanted = new URLSearchParams(location.hash.slice(1));
if (wanted.has('filter')) filter.value = wanted.get('filter');
applyFilter();
const mark = marks.find((one) => one.dataset.event === wanted.get('event'));
if (mark) keep(mark);
document.body.dataset.ready = data.events.length;
)";

std::string Escape(std::string_view text) {
  return absl::StrReplaceAll(
      base::ToAbsl(text),
      {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

// JSON has a "<" in texts only, where it may be written so: no end of a script and no comment
// begins in it.
std::string EscapeForScript(std::string_view json) {
  return absl::StrReplaceAll(base::ToAbsl(json), {{"<", "\\u003c"}});
}

constexpr char kLegend[] =
    "<p class=\"legend\"><span><i style=\"background:#2a6fb0\"></i>command</span>"
    "<span><i style=\"background:#d08000\"></i>error or no reply</span>"
    "<span><i style=\"background:#d4bfe8\"></i>fault</span>"
    "<span><i style=\"background:#cfe5cf\"></i>key</span>"
    "<span><i style=\"background:#f5e6b8\"></i>key that expires, its line: the TTL left</span>"
    "<span><i style=\"background:#f7c6c6\"></i>where the run failed</span></p>\n";

// As much of a text as has room on `width` pixels.
std::string Fitting(std::string_view text, size_t width) {
  const size_t room = width / kCharacterWidth;
  if (text.size() <= room) return std::string(text);
  if (room < 2) return "";
  // Not in the midst of a character of UTF-8.
  size_t end = room - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return absl::StrCat(base::ToAbsl(text.substr(0, end)), "…");
}

std::string TimeText(int64_t us) {
  return base::FormatRfc3339(absl::FromUnixMicros(us), kMicrosDigits);
}

// An event, or what the clock did between two.
struct Column {
  std::optional<size_t> event;
  size_t moment;  // What the server held at its end.
  int64_t us;
};

// One way in which a key stood, from a column to before another.
struct Span {
  size_t begin;
  size_t end;
  Json entry;
  std::optional<int64_t> expires_at_ms;
};

class Page {
 public:
  explicit Page(const Recording& recording) : recording_(recording) {
    for (const std::string& line : recording.events) events_.push_back(Json::parse(line));
    MakeColumns();
    MakeSpans();
  }

  std::string Text() {
    AddHead();
    AddTimes();
    for (const std::string& actor : recording_.actors) {
      AddLane(actor, /*is_last=*/actor == recording_.actors.back());
    }
    for (const auto& [key, spans] : spans_) AddKey(key, spans);
    AddEnd();
    return std::move(text_);
  }

 private:
  void MakeColumns() {
    size_t events = 0;
    for (size_t i = 0; i < recording_.moments.size(); ++i) {
      const Moment& moment = recording_.moments[i];
      if (events == moment.events) columns_.push_back(Column{std::nullopt, i, moment.us});
      for (; events < moment.events; ++events) AddEventColumn(events, i);
    }
    const size_t last = recording_.moments.empty() ? 0 : recording_.moments.size() - 1;
    for (; events < events_.size(); ++events) AddEventColumn(events, last);
  }

  void AddEventColumn(size_t event, size_t moment) {
    columns_.push_back(Column{event, moment, events_[event].value("us", int64_t{0})});
  }

  void MakeSpans() {
    const Moment nothing{0, 0, Json::object()};
    const Moment* before = &nothing;
    for (size_t column = 0; column < columns_.size(); ++column) {
      if (recording_.moments.empty()) return;
      const Moment& moment = recording_.moments[columns_[column].moment];
      if (&moment == before) continue;
      for (const KeyChange& change : FindChanges(*before, moment)) {
        std::vector<Span>& spans = spans_[change.key];
        if (!change.before.is_null()) spans.back().end = column;
        if (change.after.is_null()) continue;
        spans.push_back(
            Span{column, columns_.size(), change.after, ExpiresAtMs(change.after, moment.us)});
      }
      before = &moment;
    }
  }

  void AddHead() {
    const std::string title = Escape(recording_.title);
    absl::StrAppend(&text_,
                    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
                    "<title>", title, "</title>\n<style>", kStyle, "</style>\n</head>\n<body>\n",
                    "<h1>", title, "</h1>\n");
    if (!recording_.failure.empty()) {
      absl::StrAppend(&text_, "<p class=\"failure\">", Escape(recording_.failure), "</p>\n");
    }
    absl::StrAppend(&text_, "<p>", events_.size(), " events, trace ", recording_.trace_hash,
                    "</p>\n", kLegend,
                    "<p><label>Keys and commands with <input id=\"filter\" type=\"text\"></label>",
                    "</p>\n<div id=\"chart\">\n");
  }

  void AddEnd() {
    absl::StrAppend(&text_,
                    "</div>\n<pre id=\"detail\">Point at a mark to see its event here, click it to "
                    "keep it.</pre>\n",
                    "<script type=\"application/json\" id=\"recording\">{\"events\":[");
    for (size_t i = 0; i < recording_.events.size(); ++i) {
      absl::StrAppend(&text_, i == 0 ? "\n" : ",\n", EscapeForScript(recording_.events[i]));
    }
    absl::StrAppend(&text_, "\n]}</script>\n<script>", kScript, "</script>\n</body>\n</html>\n");
  }

  // Begins a row and its picture; `attributes` stand in its tag.
  void BeginRow(std::string_view attributes, std::string_view label) {
    absl::StrAppend(&text_, "<div ", base::ToAbsl(attributes), "><span class=\"label\" title=\"",
                    Escape(label), "\">", Escape(label), "</span><svg width=\"",
                    columns_.size() * kColumnWidth, "\" height=\"", kRowHeight, "\">");
    for (size_t column = 0; column < columns_.size(); ++column) {
      const std::optional<size_t> event = columns_[column].event;
      if (event.has_value() && event == recording_.failing_event) {
        AddBand("failing", column, recording_.failure);
      }
    }
  }

  void EndRow() { text_ += "</svg></div>\n"; }

  void AddBand(std::string_view kind, size_t column, std::string_view title) {
    absl::StrAppend(&text_, "<rect class=\"", base::ToAbsl(kind), "\" x=\"", column * kColumnWidth,
                    "\" y=\"0\" width=\"", kColumnWidth, "\" height=\"", kRowHeight, "\"><title>",
                    Escape(title), "</title></rect>");
  }

  void AddTimes() {
    const std::string start = columns_.empty() ? "" : TimeText(columns_.front().us);
    BeginRow("class=\"row times\"", start);
    for (size_t column = 0; column < columns_.size(); ++column) {
      const int64_t us = columns_[column].us;
      const size_t x = column * kColumnWidth;
      if (columns_[column].event.has_value() &&
          columns_[column].event == recording_.failing_event) {
        absl::StrAppend(&text_, "<text class=\"ends\" x=\"", x + 3,
                        "\" y=\"27\">fails here</text>");
      }
      if (column > 0 && us == columns_[column - 1].us) continue;
      const std::string since = absl::FormatDuration(absl::Microseconds(us - columns_.front().us));
      absl::StrAppend(&text_, "<line class=\"tick\" x1=\"", x, "\" x2=\"", x, "\" y1=\"0\" y2=\"",
                      kRowHeight, "\"><title>", TimeText(us), "</title></line>",
                      "<text class=\"time\" x=\"", x + 3, "\" y=\"14\">+", since, "</text>");
    }
    EndRow();
  }

  void AddLane(const std::string& actor, bool is_last) {
    BeginRow(absl::StrCat("class=\"row lane", is_last ? " last" : "", "\" data-actor=\"",
                          Escape(actor), "\""),
             actor);
    for (size_t column = 0; column < columns_.size(); ++column) {
      if (!columns_[column].event.has_value()) continue;
      const size_t index = *columns_[column].event;
      const Json& event = events_[index];
      const Json client = event.value("client", Json());
      const bool is_ours =
          (client.is_string() ? client.get<std::string>() : client.dump()) == actor;
      if (event.contains("fault") && (client.is_null() || is_ours)) {
        AddBand(
            "fault", column,
            absl::StrCat("fault: ", event["fault"].dump(), "\n", TimeText(columns_[column].us)));
        AddName(column, event["fault"].is_string() ? event["fault"].get<std::string>() : "fault");
      } else if (is_ours) {
        AddMark(column, index);
      }
    }
    EndRow();
  }

  // Small letters at the foot of a lane.
  void AddName(size_t column, std::string_view name) {
    absl::StrAppend(&text_, "<text class=\"name\" x=\"", column * kColumnWidth + kColumnWidth / 2,
                    "\" y=\"", kRowHeight - 3, "\">", Escape(Fitting(name, kColumnWidth)),
                    "</text>");
  }

  // What a request does first, and that it does more.
  static std::string NameOf(const Json& event) {
    const Json command = event.value("command", Json());
    if (command.is_array()) return command.at(0).get<std::string>();
    for (const char* request : {"pipeline", "transaction"}) {
      const Json commands = event.value(request, Json());
      if (!commands.is_array() || commands.empty()) continue;
      return absl::StrCat(commands.at(0).at(0).get<std::string>(), " +", commands.size() - 1);
    }
    return "";
  }

  void AddMark(size_t column, size_t index) {
    const Json& event = events_[index];
    std::string hover = absl::StrCat("event ", index, ", ", TimeText(columns_[column].us));
    for (const char* request : {"command", "pipeline", "transaction"}) {
      if (event.contains(request)) absl::StrAppend(&hover, "\n", event[request].dump());
    }
    const Json reply = event.value("reply", Json());
    absl::StrAppend(&hover, "\nreply: ", reply.dump());
    const bool failed = reply.is_object() && (reply.contains("error") || reply.contains("failure"));
    absl::StrAppend(&text_, "<circle class=\"mark", failed ? " error" : "", "\" data-event=\"",
                    index, "\" cx=\"", column * kColumnWidth + kColumnWidth / 2, "\" cy=\"",
                    kRowHeight / 2 - 4, "\" r=\"", kMarkRadius, "\"><title>", Escape(hover),
                    "</title></circle>");
    AddName(column, NameOf(event));
  }

  void AddKey(const std::string& key, const std::vector<Span>& spans) {
    BeginRow(absl::StrCat("class=\"row key\" data-key=\"", Escape(key), "\""), key);
    int64_t longest_us = 1;
    for (const Span& span : spans) {
      if (!span.expires_at_ms.has_value()) continue;
      longest_us = std::max(longest_us, TtlUs(span, span.begin));
    }
    for (const Span& span : spans) AddSpan(span, longest_us);
    EndRow();
  }

  int64_t TtlUs(const Span& span, size_t column) const {
    constexpr int64_t kMicrosPerMilli = 1000;
    return std::max<int64_t>(0, *span.expires_at_ms * kMicrosPerMilli - columns_[column].us);
  }

  void AddSpan(const Span& span, int64_t longest_us) {
    std::string hover =
        absl::StrCat(span.entry["type"].get<std::string>(), " ", span.entry["value"].dump());
    if (span.expires_at_ms.has_value()) {
      absl::StrAppend(&hover, "\nttl_ms ", span.entry["ttl_ms"].dump(), ", until ",
                      base::FormatRfc3339(absl::FromUnixMillis(*span.expires_at_ms), 3));
    } else {
      hover += "\nno TTL";
    }
    absl::StrAppend(&text_, "<rect class=\"value", span.expires_at_ms ? " expires" : "", "\" x=\"",
                    span.begin * kColumnWidth, "\" y=\"4\" width=\"",
                    (span.end - span.begin) * kColumnWidth, "\" height=\"", kRowHeight - 8,
                    "\"><title>", Escape(hover), "</title></rect>");
    if (span.expires_at_ms.has_value()) AddTtlLine(span, longest_us);
    const Json& value = span.entry["value"];
    const std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
    absl::StrAppend(&text_, "<text x=\"", span.begin * kColumnWidth + 4, "\" y=\"",
                    kRowHeight / 2 + 3, "\">",
                    Escape(Fitting(shown, (span.end - span.begin) * kColumnWidth - 6)), "</text>");
  }

  // The longest TTL of the key's whole life is the height of its bar.
  void AddTtlLine(const Span& span, int64_t longest_us) {
    constexpr int kTop = 5;
    constexpr int kBottom = kRowHeight - 5;
    text_ += "<polyline class=\"ttl\" points=\"";
    for (size_t column = span.begin; column < span.end; ++column) {
      const double left =
          static_cast<double>(TtlUs(span, column)) / static_cast<double>(longest_us);
      const int y = kBottom - static_cast<int>(left * (kBottom - kTop));
      absl::StrAppend(&text_, column * kColumnWidth, ",", y, " ", (column + 1) * kColumnWidth, ",",
                      y, " ");
    }
    text_ += "\"/>";
  }

  const Recording& recording_;
  std::vector<Json> events_;
  std::vector<Column> columns_;
  std::map<std::string, std::vector<Span>> spans_;
  std::string text_;
};

}  // namespace

std::string HtmlPage(const Recording& recording) { return Page(recording).Text(); }

}  // namespace redouble::sim
