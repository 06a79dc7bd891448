#include "redouble/core/studio/ingest/ingest_service.h"

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/iso_time.h"
#include "redouble/core/python/model_reader.h"
#include "redouble/core/studio/registry/capabilities.h"

namespace redouble::inline v0_1::studio {

base::Task<absl::StatusOr<IngestReport>> IngestService::IngestEvents(
    std::span<const EventEnvelope> envelopes, absl::Time now) {
  IngestReport report;
  for (const EventEnvelope& envelope : envelopes) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await IngestEvent(envelope, now, report));
  }
  co_return report;
}

base::Task<absl::Status> IngestService::IngestEvent(const EventEnvelope& envelope, absl::Time now,
                                                    IngestReport& report) {
  const absl::StatusOr<ServiceRecord> service = co_await registry_.GetService(envelope.service_id);
  if (absl::IsNotFound(service.status())) {
    ++report.invalid;
    co_return absl::OkStatus();
  }
  REDOUBLE_CO_RETURN_IF_ERROR(service.status());
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool inserted, co_await events_.InsertEvent(envelope, now));
  if (!inserted) {
    ++report.duplicate;
    if (index_ == nullptr || !hardening_.index_duplicates) co_return absl::OkStatus();
    co_return co_await IndexDuplicate(*service, envelope, now);
  }
  if (index_ != nullptr) {
    ControlPlaneEvent event;
    event.service_id = envelope.service_id;
    event.ingest_method = envelope.ingest_method;
    event.ingested_at = python::FormatIso(now);
    event.event = envelope.event;
    REDOUBLE_CO_RETURN_IF_ERROR(co_await index_->UpsertTaskDocument(*service, event, now));
  }
  ++report.inserted;
  co_return absl::OkStatus();
}

base::Task<absl::Status> IngestService::IndexDuplicate(const ServiceRecord& service,
                                                       const EventEnvelope& envelope,
                                                       absl::Time now) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto stored, co_await events_.GetEvent(envelope));
  if (!stored) co_return absl::OkStatus();  // It has expired meanwhile.
  co_return co_await index_->UpsertMissedEvent(service, *stored, now);
}

base::Task<absl::StatusOr<EventPage>> IngestService::ListServiceEvents(std::string_view service_id,
                                                                       EventFilter filter,
                                                                       EventPageRequest page) {
  REDOUBLE_CO_RETURN_IF_ERROR((co_await registry_.GetService(service_id)).status());
  co_return co_await events_.ListServiceEvents(service_id, std::move(filter), std::move(page));
}

base::Task<absl::StatusOr<EventPage>> IngestService::ListTaskEvents(TaskName task,
                                                                    EventPageRequest page) {
  REDOUBLE_CO_RETURN_IF_ERROR((co_await registry_.GetService(task.service_id)).status());
  co_return co_await events_.ListTaskEvents(task, std::move(page));
}

absl::StatusOr<FeedPage> ParseFeedPage(std::string_view json) {
  constexpr std::string_view kModel = "RelaynaServiceEventFeedResponse";
  REDOUBLE_ASSIGN_OR_RETURN(const python::Value value, python::ParseModelJson(json, kModel));
  python::ModelReader reader(value, kModel);
  FeedPage page;
  page.next_cursor = reader.OptionalString("next_cursor");
  REDOUBLE_RETURN_IF_ERROR(reader.status());
  const python::Value* items = reader.FindGiven("items");
  if (items == nullptr) return page;
  if (items->array() == nullptr) return python::ValidationError("items: Input should be a list");
  for (const python::Value& item : *items->array()) {
    REDOUBLE_ASSIGN_OR_RETURN(ServiceEvent event, ReadServiceEvent(item));
    page.items.push_back(std::move(event));
  }
  return page;
}

base::Task<absl::Status> PullSync::SyncService(const ServiceRecord& service,
                                               const base::Clock& clock) {
  REDOUBLE_CO_RETURN_IF_ERROR(ingest_.registry().CheckOutbound(service));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto seen, co_await events_.GetPullCursor(service.service_id));
  std::optional<std::string> newest;
  FeedRequest request;
  request.limit = options_.page_limit;
  for (int64_t index = 0; index < options_.max_pages; ++index) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(FeedPage page, co_await feed_.Fetch(service.base_url, request));
    if (page.items.empty()) break;
    if (index == 0) newest = page.items.front().cursor;
    std::vector<EventEnvelope> unseen;
    bool met_seen = false;
    for (ServiceEvent& item : page.items) {
      met_seen = seen && item.cursor == *seen;
      if (met_seen) break;
      EventEnvelope envelope;
      envelope.service_id = service.service_id;
      envelope.ingest_method = IngestMethod::kPull;
      envelope.event = std::move(item);
      unseen.push_back(std::move(envelope));
    }
    REDOUBLE_CO_RETURN_IF_ERROR((co_await ingest_.IngestEvents(unseen, clock.Now())).status());
    if (met_seen || !page.next_cursor) break;
    request.after = page.next_cursor;
  }
  if (!newest) co_return absl::OkStatus();
  co_return co_await events_.SetPullCursor(service.service_id, *newest);
}

base::Task<absl::StatusOr<SyncRound>> PullSync::SyncAll(const base::Clock& clock) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto services, co_await ingest_.registry().ListServices());
  SyncRound round;
  for (const ServiceRecord& service : services) {
    if (service.status != ServiceStatus::kHealthy) continue;
    if (!SupportsRoute(service.capabilities, kEventsFeedRoute)) continue;
    const absl::Status synced = co_await SyncService(service, clock);
    if (synced.ok()) {
      round.synced.push_back(service.service_id);
    } else {
      round.failed.emplace_back(service.service_id, synced);
    }
  }
  co_return round;
}

}  // namespace redouble::inline v0_1::studio
