#include "redouble/core/relayna/service_event_feed.h"

#include <algorithm>
#include <array>
#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/python/json.h"
#include "redouble/core/python/model_reader.h"
#include "redouble/core/python/text.h"
#include "redouble/core/relayna/tokens.h"
#include "redouble/core/store/typed/lists.h"

namespace redouble::inline v0_1::relayna {
namespace {

using python::NormalizedText;
using python::Object;
using python::Value;
using Text = std::optional<std::string>;
using Foreign = python::PyJsonOptions::Foreign;

constexpr std::string_view kEventType = "event_type";

// The members of an item other than cursor and payload.
struct ItemFields {
  Text task_id;
  std::string event_type;
  std::string source_kind;
  Text component;
  Text timestamp;
  Text event_id;
  Text correlation_id;
  Text parent_task_id;
};

// Reads members of an event, of any type, as normalized text. It keeps the first error. Items are
// read by python::ModelReader, which checks their types.
class Fields {
 public:
  explicit Fields(const Object& object) : object_(object) {}

  Text Get(std::string_view name) { return Normalized(object_.Find(name)); }
  Text Normalized(const Value* value) {
    absl::StatusOr<Text> text = NormalizedText(value);
    if (text.ok()) return *std::move(text);
    status_.Update(text.status());
    return std::nullopt;
  }
  const absl::Status& status() const { return status_; }

 private:
  const Object& object_;
  absl::Status status_;
};

Object ItemOf(const ItemFields& fields, std::string_view cursor, Value payload) {
  return Object::OfDistinct({{"cursor", cursor},
                             {"task_id", fields.task_id},
                             {std::string(kEventType), fields.event_type},
                             {"source_kind", fields.source_kind},
                             {"component", fields.component},
                             {"timestamp", fields.timestamp},
                             {"event_id", fields.event_id},
                             {"correlation_id", fields.correlation_id},
                             {"parent_task_id", fields.parent_task_id},
                             {"payload", std::move(payload)}});
}

absl::StatusOr<std::string> CursorOf(const Text& event_id, const Value& hashed) {
  if (event_id) return *event_id;
  return python::HashOfPyJson(hashed, {.sorted = true, .date_times = Foreign::kIsoOrText});
}

// Parses one element of the list and checks it against the model of an item.
absl::StatusOr<Value> ParseItem(std::string_view element) {
  constexpr std::string_view kModel = "ServiceEventFeedItem";
  REDOUBLE_ASSIGN_OR_RETURN(Value item, python::ParseModelJson(element, kModel));
  python::ModelReader reader(item, kModel);
  for (const std::string_view name : {"cursor", "task_id", "event_type", "source_kind"}) {
    reader.String(name);
  }
  for (const std::string_view name :
       {"component", "timestamp", "event_id", "correlation_id", "parent_task_id"}) {
    reader.OptionalString(name);
  }
  reader.Object("payload");
  REDOUBLE_RETURN_IF_ERROR(reader.status());
  return item;
}

// The page that follows `after`; it begins at the newest item if no item has that cursor.
FeedPage PageOf(std::vector<Value> items, const FeedQuery& query) {
  auto begin = items.begin();
  if (query.after && !query.after->empty()) {
    const auto found = std::find_if(items.begin(), items.end(), [&](const Value& item) {
      return *item.Find("cursor")->text() == *query.after;
    });
    if (found != items.end()) begin = found + 1;
  }
  const int64_t limit = std::max<int64_t>(1, query.limit);
  const auto end = begin + std::min<int64_t>(limit, items.end() - begin);
  FeedPage page;
  const bool is_last = end == items.end();
  page.items.assign(std::make_move_iterator(begin), std::make_move_iterator(end));
  if (!is_last) page.next_cursor = *page.items.back().Find("cursor")->text();
  return page;
}

}  // namespace

ServiceEventFeed::ServiceEventFeed(store::Store& store, FeedOptions options)
    : store_(store), options_(std::move(options)), keys_(options_.prefix, options_.key_layout) {}

absl::StatusOr<Append> ServiceEventFeed::AppendOf(std::string cursor, Object item) const {
  REDOUBLE_ASSIGN_OR_RETURN(std::string payload, python::PydanticJson(std::move(item)));
  return Append{.marker = keys_.Event(cursor),
                .list = keys_.Feed(),
                .payload = std::move(payload),
                .maxlen = options_.feed_maxlen,
                .ttl_seconds = options_.ttl_seconds};
}

absl::StatusOr<std::optional<Append>> ServiceEventFeed::StatusEventAppend(
    const Value& event) const {
  REDOUBLE_RETURN_IF_ERROR(CheckEvent(event));
  Fields fields(*event.object());
  ItemFields item = {.task_id = fields.Get("task_id"),
                     .event_type = "",
                     .source_kind = "status",
                     .component = "status",
                     .timestamp = fields.Get("timestamp"),
                     .event_id = fields.Get("event_id"),
                     .correlation_id = fields.Get("correlation_id"),
                     .parent_task_id = std::nullopt};
  const std::string status_text = fields.Get("status").value_or("unknown");
  item.event_type = "status." + python::Lower(status_text);
  if (const Value* meta = event.Find("meta")) {
    item.parent_task_id = fields.Normalized(meta->Find("parent_task_id"));
  }
  REDOUBLE_RETURN_IF_ERROR(fields.status());
  if (!item.task_id) return std::nullopt;
  const Value hashed = Object({{"event_id", nullptr},
                               {"payload", event},
                               {"source_kind", "status"},
                               {"task_id", item.task_id}});
  REDOUBLE_ASSIGN_OR_RETURN(std::string cursor, CursorOf(item.event_id, hashed));
  REDOUBLE_ASSIGN_OR_RETURN(Append append, AppendOf(cursor, ItemOf(item, cursor, event)));
  return append;
}

absl::StatusOr<std::optional<Append>> ServiceEventFeed::ObservationAppend(
    const Observation& observation) const {
  if (!observation.fields) return std::nullopt;
  Object payload = *observation.fields;
  payload.Erase(kEventType);
  Fields fields(payload);
  const ItemFields item = {.task_id = fields.Get("task_id"),
                           .event_type = observation.class_name,
                           .source_kind = "observation",
                           .component = fields.Get("component"),
                           .timestamp = fields.Get("timestamp"),
                           .event_id = fields.Get("event_id"),
                           .correlation_id = fields.Get("correlation_id"),
                           .parent_task_id = fields.Get("parent_task_id")};
  REDOUBLE_RETURN_IF_ERROR(fields.status());
  if (!item.task_id) return std::nullopt;
  const Value hashed = Object({{"event_type", observation.class_name},
                               {"payload", payload},
                               {"source_kind", "observation"}});
  REDOUBLE_ASSIGN_OR_RETURN(std::string cursor, CursorOf(item.event_id, hashed));
  REDOUBLE_ASSIGN_OR_RETURN(Append append,
                            AppendOf(cursor, ItemOf(item, cursor, std::move(payload))));
  return append;
}

base::Task<absl::StatusOr<bool>> ServiceEventFeed::Add(
    absl::StatusOr<std::optional<Append>> append) {
  REDOUBLE_CO_RETURN_IF_ERROR(append.status());
  if (!append->has_value()) co_return false;
  if (!options_.hardening.atomic_events) co_return co_await AppendOnce(store_, **append);
  const std::array<Append, 1> appends = {**append};
  co_return co_await AppendOnceAtomically(store_, appends);
}

base::Task<absl::StatusOr<bool>> ServiceEventFeed::AddStatusEvent(const Value& event) {
  return Add(StatusEventAppend(event));
}

base::Task<absl::StatusOr<bool>> ServiceEventFeed::AddObservation(const Observation& observation) {
  return Add(ObservationAppend(observation));
}

base::Task<absl::StatusOr<FeedPage>> ServiceEventFeed::GetFeed(FeedQuery query) {
  const std::string feed = keys_.Feed();
  const int64_t last = std::max<int64_t>(0, options_.feed_maxlen - 1);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> elements,
                               co_await store::LRange(store_, feed, 0, last));
  std::vector<Value> items;
  items.reserve(elements.size());
  for (const std::string& element : elements) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(Value item, ParseItem(element));
    items.push_back(std::move(item));
  }
  co_return PageOf(std::move(items), query);
}

}  // namespace redouble::inline v0_1::relayna
