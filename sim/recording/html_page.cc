#include "redouble/sim/recording/html_page.h"

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
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/utc.h"

namespace redouble::inline v0_1::sim {
namespace {

// In pixels.
constexpr size_t kChartWidth = 1040;  // What a wide window has beside the labels.
constexpr size_t kNarrowestColumn = 76;
constexpr size_t kWidestColumn = 360;
constexpr int kRowHeight = 48;
constexpr int kMarkRadius = 7;
constexpr int kCharacterWidth = 7;  // In the font of marks and bars.
constexpr int kMicrosDigits = 6;
constexpr int64_t kMicrosPerMilli = 1000;
// The part of a key that stays when the label is too narrow: its end tells keys apart.
constexpr size_t kLabelTail = 12;

constexpr char kStyle[] = R"(
:root { color-scheme: light dark; --label: 320px;
  --text: light-dark(#222, #ddd); --dim: light-dark(#555, #aaa); --back: light-dark(#fff, #16181d);
  --panel: light-dark(#f6f6f6, #22252c); --line: light-dark(#e4e4e4, #333842);
  --mark: light-dark(#2a6fb0, #6cb2f5); --error: light-dark(#d08000, #f0a840);
  --fault: light-dark(#d4bfe8, #5a4080); --failing: light-dark(#f7c6c6, #6a2a2e);
  --value: light-dark(#cfe5cf, #2c4a30); --edge: light-dark(#5a8f5a, #6aa870);
  --expires: light-dark(#f5e6b8, #4a401f); --ttl: light-dark(#906000, #e8bc50);
  --rim: light-dark(#b09030, #a08030); --ttl-text: light-dark(#4a3000, #ffe0a0);
  --bad: light-dark(#b00000, #ff8080); }
body { font: 15px/1.45 system-ui, sans-serif; margin: 1em; color: var(--text);
  background: var(--back); }
h1 { font-size: 1.4em; margin: 0 0 0.4em; }
p { margin: 0.4em 0; }
code { font-family: ui-monospace, monospace; background: var(--panel); padding: 1px 5px;
  overflow-wrap: anywhere; }
#chart { overflow-x: auto; border: 1px solid var(--line); }
.row { display: flex; width: max-content; min-width: 100%; border-bottom: 1px solid var(--line);
  height: 48px; }
.label { position: sticky; left: 0; width: var(--label); flex: none; display: flex;
  align-items: center; white-space: pre; background: var(--back); padding: 0 8px;
  box-sizing: border-box; z-index: 1; border-right: 1px solid var(--line); }
.head { overflow: hidden; text-overflow: ellipsis; flex: 0 1 auto; min-width: 1.5em; }
.tail { flex: none; }
.lane .label { font-weight: 600; }
.lane.last { border-bottom: 2px solid var(--dim); }
.key .label { font-family: ui-monospace, monospace; font-size: 13px; }
.legend span { margin-right: 1.2em; white-space: nowrap; }
.legend i { display: inline-block; width: 14px; height: 12px; margin-right: 4px; }
svg { flex: none; overflow: visible; }
text { font-size: 12px; fill: var(--text); pointer-events: none; }
text.name { text-anchor: middle; }
text.left { font-size: 11px; fill: var(--ttl-text); }
.mark { fill: var(--mark); cursor: pointer; }
.mark.error { fill: var(--error); }
.mark:focus { outline: none; }
.mark.kept, .mark:focus-visible { stroke: var(--text); stroke-width: 3; }
.dim { opacity: 0.2; }
.fault { fill: var(--fault); }
.failing { fill: var(--failing); }
.value { fill: var(--value); stroke: var(--edge); }
.value.expires { fill: var(--expires); stroke: var(--rim); }
.remaining { fill: var(--ttl); opacity: 0.25; }
.ttl { fill: none; stroke: var(--ttl); stroke-width: 2; shape-rendering: crispEdges; }
.tick { stroke: var(--line); }
.time { fill: var(--dim); }
.ends { fill: var(--bad); font-weight: 600; }
.failure { color: var(--bad); white-space: pre-wrap; overflow-wrap: anywhere;
  font-family: ui-monospace, monospace; font-size: 13px; }
#filter { font: inherit; max-width: 100%; }
#panel { position: sticky; bottom: 0; background: var(--panel); border: 1px solid var(--line);
  border-top: 2px solid var(--mark); padding: 0.5em 0.8em; max-height: 45vh; overflow: auto;
  z-index: 2; }
#panel h2 { font-size: 1em; margin: 0; }
#detail { margin: 0.3em 0 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px; }
@media (max-width: 700px) {
  :root { --label: 128px; }
  body { margin: 0.5em; font-size: 14px; }
  .key .label { font-size: 11px; }
  .tail { max-width: 60%; overflow: hidden; }
}
)";

constexpr char kScript[] = R"(
const data = JSON.parse(document.getElementById('recording').textContent);
const chart = document.getElementById('chart');
const detail = document.getElementById('detail');
const heading = document.getElementById('event');
const repeat = document.getElementById('until');
const filter = document.getElementById('filter');
const marks = [...document.querySelectorAll('[data-event]')];
marks.sort((a, b) => a.dataset.event - b.dataset.event);
let kept = null;
function show(mark) {
  if (!mark) return;
  const index = Number(mark.dataset.event);
  const event = data.events[index];
  heading.textContent = 'Event ' + index + (event.client === undefined ? '' : ' of ' + event.client) +
      (index === data.failing ? ': the run fails here' : '');
  detail.textContent = JSON.stringify(event, null, 1);
  if (data.repeat) repeat.textContent = data.repeat + ' --until ' + index;
}
function keep(mark, into_view) {
  if (kept) kept.classList.remove('kept');
  kept = mark;
  if (!kept) return;
  kept.classList.add('kept');
  show(kept);
  if (!into_view) return;
  const label = document.querySelector('.label').offsetWidth;
  chart.scrollLeft = Math.max(0, Number(kept.getAttribute('cx')) - (chart.clientWidth - label) / 2);
}
for (const mark of marks) {
  mark.addEventListener('click', () => keep(mark));
  mark.addEventListener('focus', () => keep(mark));
  mark.addEventListener('mouseenter', () => show(mark));
  mark.addEventListener('mouseleave', () => show(kept));
}
function applyFilter() {
  const text = filter.value;
  for (const row of document.querySelectorAll('.key')) {
    row.style.display = row.dataset.key.includes(text) ? '' : 'none';
  }
  for (const mark of marks) {
    const event = JSON.stringify(data.events[Number(mark.dataset.event)]);
    mark.classList.toggle('dim', !event.includes(text));
  }
}
filter.addEventListener('input', applyFilter);
document.addEventListener('keydown', (event) => {
  if (event.target === filter) {
    if (event.key !== 'Escape') return;
    filter.value = '';
    filter.blur();
    return applyFilter();
  }
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
  if (event.key === '/') {
    filter.focus();
  } else if (step && marks.length) {
    const at = marks.indexOf(kept) + step;
    const next = marks[Math.min(Math.max(at, 0), marks.length - 1)];
    next.focus({preventScroll: true});
    keep(next, true);
  } else {
    return;
  }
  event.preventDefault();
});
// A link may say what to look at: page.html#filter=budget:&event=3
const wanted = new URLSearchParams(location.hash.slice(1));
if (wanted.has('theme')) document.documentElement.style.colorScheme = wanted.get('theme');
if (wanted.has('filter')) filter.value = wanted.get('filter');
applyFilter();
const first = wanted.get('event') ?? String(data.failing ?? 0);
keep(marks.find((one) => one.dataset.event === first) ?? marks[marks.length - 1], true);
document.body.dataset.ready = data.events.length;
)";

std::string Escape(std::string_view text) {
  return absl::StrReplaceAll(
      base::ToAbsl(text),
      {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

// In JSON, "<" occurs only in strings. Escaped, it cannot end the script or start a comment.
std::string EscapeForScript(std::string_view json) {
  return absl::StrReplaceAll(base::ToAbsl(json), {{"<", "\\u003c"}});
}

constexpr char kLegend[] =
    "<p class=\"legend\"><span><i style=\"background:var(--mark)\"></i>command</span>"
    "<span><i style=\"background:var(--error)\"></i>error or no reply</span>"
    "<span><i style=\"background:var(--fault)\"></i>fault</span>"
    "<span><i style=\"background:var(--value)\"></i>key</span>"
    "<span><i style=\"background:var(--expires)\"></i>key that expires; filled: the TTL left</span>"
    "<span><i style=\"background:var(--failing)\"></i>where the run failed</span></p>\n";

// An argument of a shell's command line.
std::string ShellWord(const std::string& text) {
  constexpr char kPlain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

// A label whose head is cut if there is no room for all of it.
std::string LabelHtml(std::string_view label) {
  size_t cut = label.size() > kLabelTail ? label.size() - kLabelTail : label.size();
  // Do not cut a UTF-8 character in two.
  while (cut < label.size() && (static_cast<unsigned char>(label[cut]) & 0xC0) == 0x80) ++cut;
  return absl::StrCat("<span class=\"head\">", Escape(label.substr(0, cut)),
                      "</span><span class=\"tail\">", Escape(label.substr(cut)), "</span>");
}

// Returns as much of a text as fits into `width` pixels.
std::string Fitting(std::string_view text, size_t width) {
  const size_t room = width / kCharacterWidth;
  if (text.size() <= room) return std::string(text);
  if (room < 2) return "";
  // Do not cut a UTF-8 character in two.
  size_t end = room - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return absl::StrCat(base::ToAbsl(text.substr(0, end)), "…");
}

std::string TimeText(int64_t us) {
  return base::FormatRfc3339(absl::FromUnixMicros(us), kMicrosDigits);
}

// An event, or a change that the clock caused between two events.
struct Column {
  std::optional<size_t> event;
  size_t moment;  // The keyspace at its end.
  int64_t us;
};

// An unchanged state of a key, from one column up to another, exclusive.
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
    column_width_ = std::clamp(kChartWidth / std::max<size_t>(columns_.size(), 1), kNarrowestColumn,
                               kWidestColumn);
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

  // The command that repeats the run; empty if its file is not known.
  std::string RepeatCommand() const {
    return recording_.file.empty() ? "" : "redouble replay " + ShellWord(recording_.file);
  }

  void AddHead() {
    const std::string title = Escape(recording_.title);
    absl::StrAppend(
        &text_, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
        "<meta name=\"viewport\" content=\"width=device-width\">\n<title>", title,
        "</title>\n<style>", kStyle, "</style>\n</head>\n<body>\n", "<h1>", title, "</h1>\n");
    if (!recording_.failure.empty()) {
      absl::StrAppend(&text_, "<p class=\"failure\">", Escape(recording_.failure), "</p>\n");
    }
    if (!recording_.file.empty()) {
      absl::StrAppend(&text_, "<p>Repeat the run: <code>", Escape(RepeatCommand()),
                      "</code></p>\n");
    }
    absl::StrAppend(&text_, "<p>", events_.size(), " events, trace <code>", recording_.trace_hash,
                    "</code></p>\n", kLegend,
                    "<p><label>Keys and commands with <input id=\"filter\" type=\"text\"></label>",
                    "</p>\n<div id=\"chart\" data-column=\"", column_width_, "\">\n");
  }

  void AddEnd() {
    absl::StrAppend(&text_,
                    "</div>\n<div id=\"panel\"><h2 id=\"event\">No events</h2>"
                    "<p>Keys after it: <code id=\"until\"></code></p>"
                    "<pre id=\"detail\"></pre>"
                    "<p class=\"legend\"><span>← → events</span><span>/ filter</span></p></div>\n"
                    "<script type=\"application/json\" id=\"recording\">{\"repeat\":",
                    EscapeForScript(Json(RepeatCommand()).dump()), ",\"failing\":",
                    recording_.failing_event ? Json(*recording_.failing_event).dump() : "null",
                    ",\"events\":[");
    for (size_t i = 0; i < recording_.events.size(); ++i) {
      absl::StrAppend(&text_, i == 0 ? "\n" : ",\n", EscapeForScript(recording_.events[i]));
    }
    absl::StrAppend(&text_, "\n]}</script>\n<script>", kScript, "</script>\n</body>\n</html>\n");
  }

  // Begins a row and its picture; `attributes` are those of its tag.
  void BeginRow(std::string_view attributes, std::string_view label) {
    absl::StrAppend(&text_, "<div ", base::ToAbsl(attributes), "><span class=\"label\" title=\"",
                    Escape(label), "\">", LabelHtml(label), "</span><svg width=\"",
                    columns_.size() * column_width_, "\" height=\"", kRowHeight, "\">");
    for (size_t column = 0; column < columns_.size(); ++column) {
      const std::optional<size_t> event = columns_[column].event;
      if (event.has_value() && event == recording_.failing_event) {
        AddBand("failing", column, recording_.failure);
      }
    }
  }

  void EndRow() { text_ += "</svg></div>\n"; }

  void AddBand(std::string_view kind, size_t column, std::string_view title) {
    absl::StrAppend(&text_, "<rect class=\"", base::ToAbsl(kind), "\" x=\"", column * column_width_,
                    "\" y=\"0\" width=\"", column_width_, "\" height=\"", kRowHeight, "\"><title>",
                    Escape(title), "</title></rect>");
  }

  void AddTimes() {
    const std::string start = columns_.empty() ? "" : TimeText(columns_.front().us);
    BeginRow("class=\"row times\"", start);
    for (size_t column = 0; column < columns_.size(); ++column) {
      const int64_t us = columns_[column].us;
      const size_t x = column * column_width_;
      if (columns_[column].event.has_value() &&
          columns_[column].event == recording_.failing_event) {
        absl::StrAppend(&text_, "<text class=\"ends\" x=\"", x + 3,
                        "\" y=\"38\">fails here</text>");
      }
      if (column > 0 && us == columns_[column - 1].us) continue;
      const std::string since = absl::FormatDuration(absl::Microseconds(us - columns_.front().us));
      absl::StrAppend(&text_, "<line class=\"tick\" x1=\"", x, "\" x2=\"", x, "\" y1=\"0\" y2=\"",
                      kRowHeight, "\"><title>", TimeText(us), "</title></line>",
                      "<text class=\"time\" x=\"", x + 3, "\" y=\"18\">+", since, "</text>");
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

  // Small text at the bottom of a lane.
  void AddName(size_t column, std::string_view name) {
    absl::StrAppend(&text_, "<text class=\"name\" x=\"", column * column_width_ + column_width_ / 2,
                    "\" y=\"", kRowHeight - 6, "\">", Escape(Fitting(name, column_width_)),
                    "</text>");
  }

  // The words of a request's first command, and how many commands follow.
  static std::string NameOf(const Json& event) {
    const auto join = [](const Json& words) {
      std::string name;
      for (const Json& word : words) {
        absl::StrAppend(&name, name.empty() ? "" : " ", word.get<std::string>());
      }
      return name;
    };
    if (event.contains("event")) return event["event"].get<std::string>();
    const Json command = event.value("command", Json());
    if (command.is_array()) return join(command);
    for (const char* request : {"pipeline", "transaction"}) {
      const Json commands = event.value(request, Json());
      if (!commands.is_array() || commands.empty()) continue;
      return absl::StrCat("+", commands.size() - 1, " ", join(commands.at(0)));
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
    if (event.contains("reply")) absl::StrAppend(&hover, "\nreply: ", reply.dump());
    const bool failed = reply.is_object() && (reply.contains("error") || reply.contains("failure"));
    absl::StrAppend(&text_, "<circle class=\"mark", failed ? " error" : "",
                    "\" tabindex=\"0\" data-event=\"", index, "\" cx=\"",
                    column * column_width_ + column_width_ / 2, "\" cy=\"", kRowHeight / 2 - 8,
                    "\" r=\"", kMarkRadius, "\"><title>", Escape(hover), "</title></circle>");
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
                    span.begin * column_width_, "\" y=\"4\" width=\"",
                    (span.end - span.begin) * column_width_, "\" height=\"", kRowHeight - 8,
                    "\"><title>", Escape(hover), "</title></rect>");
    if (span.expires_at_ms.has_value()) AddTtl(span, longest_us);
    const Json& value = span.entry["value"];
    const std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
    absl::StrAppend(&text_, "<text x=\"", span.begin * column_width_ + 5, "\" y=\"",
                    span.expires_at_ms ? 19 : kRowHeight / 2 + 4, "\">",
                    Escape(Fitting(shown, (span.end - span.begin) * column_width_ - 8)), "</text>");
  }

  // The remaining TTL as a filled area, and in words where it changes. The bar's height represents
  // the longest TTL that the key ever had.
  void AddTtl(const Span& span, int64_t longest_us) {
    constexpr int kTop = 5;
    constexpr int kBottom = kRowHeight - 5;
    std::string points;
    std::string words;
    for (size_t column = span.begin; column < span.end; ++column) {
      const int64_t ttl_us = TtlUs(span, column);
      const double left = static_cast<double>(ttl_us) / static_cast<double>(longest_us);
      const int y = kBottom - static_cast<int>(left * (kBottom - kTop));
      const size_t x = column * column_width_;
      absl::StrAppend(&points, x, ",", y, " ", x + column_width_, ",", y, " ");
      if (column > span.begin && ttl_us == TtlUs(span, column - 1)) continue;
      const std::string text =
          absl::StrCat("TTL ", absl::FormatDuration(absl::Milliseconds(ttl_us / kMicrosPerMilli)));
      absl::StrAppend(&words, "<text class=\"left\" x=\"", x + 5, "\" y=\"", kRowHeight - 9, "\">",
                      Fitting(text, column_width_ - 6), "</text>");
    }
    absl::StrAppend(&text_, "<polygon class=\"remaining\" points=\"", points,
                    span.end * column_width_, ",", kBottom, " ", span.begin * column_width_, ",",
                    kBottom, "\"/><polyline class=\"ttl\" points=\"", points, "\"/>", words);
  }

  const Recording& recording_;
  std::vector<Json> events_;
  std::vector<Column> columns_;
  std::map<std::string, std::vector<Span>> spans_;
  size_t column_width_ = kNarrowestColumn;
  std::string text_;
};

}  // namespace

std::string HtmlPage(const Recording& recording) { return Page(recording).Text(); }

}  // namespace redouble::inline v0_1::sim
