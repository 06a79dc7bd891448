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

constexpr int kColumnWidth = 22;
constexpr int kRowHeight = 28;
constexpr int kMarkRadius = 6;
// So many columns lie between two times that are written out.
constexpr size_t kColumnsPerTime = 8;
constexpr int kMicrosDigits = 6;

constexpr char kStyle[] = R"(
body { font: 14px/1.4 system-ui, sans-serif; margin: 1em; color: #222; }
#chart { overflow-x: auto; border: 1px solid #ccc; }
.row { display: flex; width: max-content; border-bottom: 1px solid #eee; height: 28px; }
.label { position: sticky; left: 0; width: 260px; flex: none; overflow: hidden; white-space: nowrap;
  text-overflow: ellipsis; background: #fff; padding: 4px 6px; box-sizing: border-box; }
.lane .label { font-weight: 600; }
.key .label { font-family: ui-monospace, monospace; font-size: 12px; }
.mark { fill: #2a6fb0; cursor: pointer; }
.mark.error { fill: #d08000; }
.dim { opacity: 0.15; }
.fault { fill: #8a4fc0; fill-opacity: 0.35; }
.failing { fill: #d00000; fill-opacity: 0.2; }
.value { fill: #cfe5cf; stroke: #5a8f5a; }
.value.expires { fill: #f5e6b8; stroke: #b09030; }
.ttl { fill: none; stroke: #906000; stroke-width: 1.5; }
.tick { stroke: #bbb; }
.time { font-size: 10px; fill: #555; }
.failure { color: #b00000; white-space: pre-wrap; }
#detail { background: #f6f6f6; padding: 0.6em; white-space: pre-wrap; overflow-wrap: anywhere; }
)";

constexpr char kScript[] = R"(
const data = JSON.parse(document.getElementById('recording').textContent);
const detail = document.getElementById('detail');
for (const mark of document.querySelectorAll('[data-event]')) {
  mark.addEventListener('click', () => {
    detail.textContent = JSON.stringify(data.events[Number(mark.dataset.event)], null, 1);
  });
}
document.getElementById('filter').addEventListener('input', (input) => {
  const text = input.target.value;
  for (const row of document.querySelectorAll('.key')) {
    row.style.display = row.dataset.key.includes(text) ? '' : 'none';
  }
  for (const mark of document.querySelectorAll('.mark')) {
    const event = JSON.stringify(data.events[Number(mark.dataset.event)]);
    mark.classList.toggle('dim', !event.includes(text));
  }
});
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
    for (const std::string& actor : recording_.actors) AddLane(actor);
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
                    "</p>\n<p><label>Keys with <input id=\"filter\" type=\"text\"></label></p>\n",
                    "<div id=\"chart\">\n");
  }

  void AddEnd() {
    absl::StrAppend(&text_,
                    "</div>\n<pre id=\"detail\">Click a mark to keep its event here.</pre>\n",
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
    BeginRow("class=\"row times\"", "time (UTC)");
    std::optional<size_t> written;
    for (size_t column = 0; column < columns_.size(); ++column) {
      const int64_t us = columns_[column].us;
      if (column > 0 && us == columns_[column - 1].us) continue;
      const size_t x = column * kColumnWidth;
      absl::StrAppend(&text_, "<line class=\"tick\" x1=\"", x, "\" x2=\"", x,
                      "\" y1=\"0\" y2=\"28\"><title>", TimeText(us), "</title></line>");
      if (written.has_value() && column - *written < kColumnsPerTime) continue;
      written = column;
      absl::StrAppend(&text_, "<text class=\"time\" x=\"", x + 3, "\" y=\"18\">", TimeText(us),
                      "</text>");
    }
    EndRow();
  }

  void AddLane(const std::string& actor) {
    BeginRow(absl::StrCat("class=\"row lane\" data-actor=\"", Escape(actor), "\""), actor);
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
      } else if (is_ours) {
        AddMark(column, index);
      }
    }
    EndRow();
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
                    kRowHeight / 2, "\" r=\"", kMarkRadius, "\"><title>", Escape(hover),
                    "</title></circle>");
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
