#include "redouble/sim/operations/studio/studio_parts.h"

#include <algorithm>
#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/sim/operations/python_json.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using sim::ArgumentReader;
using sim::Json;

studio::RegistryStoreOptions RecordOptions(studio::Hardening hardening) {
  studio::RegistryStoreOptions options;
  options.hardening = hardening;
  return options;
}

studio::SearchStoreOptions DocumentOptions(studio::Hardening hardening) {
  studio::SearchStoreOptions options;
  options.hardening = hardening;
  return options;
}

studio::HealthStoreOptions HealthOptions(studio::Hardening hardening) {
  studio::HealthStoreOptions options;
  options.hardening = hardening;
  return options;
}

std::optional<std::string> BodyOf(ArgumentReader& reader, std::string_view name) {
  const Json* body = reader.Find(name);
  if (body == nullptr) return std::nullopt;
  return body->dump();
}

std::string ErrorOf(ArgumentReader& reader, std::string_view name) {
  return reader.OptionalString(name).value_or("no answer");
}

absl::StatusOr<std::vector<studio::ServiceEvent>> ReadFeed(ArgumentReader& reader) {
  std::vector<studio::ServiceEvent> events;
  const Json* feed = reader.Find("feed");
  if (feed == nullptr) return events;
  for (const Json& item : *feed) {
    REDOUBLE_ASSIGN_OR_RETURN(studio::ServiceEvent event, studio::ReadServiceEvent(ToValue(item)));
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace

studio::Hardening ReadStudioHardening(ArgumentReader& reader) {
  studio::Hardening hardening;
  hardening.atomic_registry = reader.BoolOr("atomic_registry", false);
  hardening.atomic_event_insert = reader.BoolOr("atomic_event_insert", false);
  hardening.atomic_search_documents = reader.BoolOr("atomic_search_documents", false);
  hardening.index_duplicates = reader.BoolOr("index_duplicates", false);
  hardening.registered_services_only = reader.BoolOr("registered_services_only", false);
  hardening.sweep_task_sets = reader.BoolOr("sweep_task_sets", false);
  hardening.sweep_deleted_services = reader.BoolOr("sweep_deleted_services", false);
  return hardening;
}

studio::EventStoreOptions ReadEventOptions(ArgumentReader& reader, studio::Hardening hardening) {
  studio::EventStoreOptions options;
  options.prefix = reader.OptionalString("event_prefix").value_or(options.prefix);
  if (reader.FindOrNull("ttl_seconds") != nullptr) {
    options.ttl_seconds = reader.OptionalInteger("ttl_seconds");
  }
  options.history_maxlen = reader.IntegerOr("history_maxlen", options.history_maxlen);
  options.hardening = hardening;
  return options;
}

studio::SearchIndexOptions ReadIndexOptions(ArgumentReader& reader) {
  studio::SearchIndexOptions options;
  options.task_ttl_seconds = reader.IntegerOr("task_index_ttl_seconds", options.task_ttl_seconds);
  return options;
}

ScriptedCapabilities::ScriptedCapabilities(ArgumentReader& reader)
    : body_(BodyOf(reader, "capabilities")), error_(ErrorOf(reader, "capability_error")) {}

base::Task<absl::StatusOr<studio::HttpResponse>> ScriptedCapabilities::Fetch(
    std::string_view /*base_url*/) {
  if (!body_) co_return absl::UnavailableError(error_);
  studio::HttpResponse response;
  response.body = *body_;
  co_return response;
}

ScriptedWorkers::ScriptedWorkers(ArgumentReader& reader)
    : body_(BodyOf(reader, "workers")), error_(ErrorOf(reader, "worker_error")) {}

base::Task<absl::StatusOr<std::string>> ScriptedWorkers::Fetch(std::string_view /*base_url*/) {
  if (!body_) co_return absl::UnavailableError(error_);
  co_return *body_;
}

ScriptedFeed::ScriptedFeed(ArgumentReader& reader)
    : events_(ReadFeed(reader)), page_size_(reader.IntegerOr("server_page_size", 0)) {}

base::Task<absl::StatusOr<studio::FeedPage>> ScriptedFeed::Fetch(std::string_view /*base_url*/,
                                                                 studio::FeedRequest request) {
  REDOUBLE_CO_RETURN_IF_ERROR(events_.status());
  const auto named = std::find_if(events_->begin(), events_->end(), [&](const auto& event) {
    return request.after && event.cursor == *request.after;
  });
  const auto first = named == events_->end() ? events_->begin() : named + 1;
  const int64_t limit = page_size_ > 0 ? std::min(page_size_, request.limit) : request.limit;
  const auto last = first + std::min<int64_t>(limit, events_->end() - first);
  studio::FeedPage page;
  page.items.assign(first, last);
  if (last != events_->end() && first != last) page.next_cursor = page.items.back().cursor;
  co_return page;
}

StudioParts::StudioParts(sim::OperationContext context, ArgumentReader& reader)
    : now_(reader.TimeOr("now", context.clock.Now())),
      hardening_(ReadStudioHardening(reader)),
      has_search_(reader.BoolOr("search", true)),
      capabilities_(reader),
      workers_(reader),
      records(context.store, RecordOptions(hardening_)),
      events(context.store, ReadEventOptions(reader, hardening_)),
      documents(context.store, DocumentOptions(hardening_)),
      index(documents, ReadIndexOptions(reader)),
      registry(records, {.policy = studio::OutboundPolicy::Create().value(),
                         .fetcher = &capabilities_,
                         .indexer = has_search_ ? &index : nullptr}),
      ingest(registry, events, has_search_ ? &index : nullptr, hardening_),
      health_documents(context.store, HealthOptions(hardening_)),
      health({.registry = registry,
              .events = events,
              .documents = health_documents,
              .workers = workers_,
              .indexer = has_search_ ? &index : nullptr,
              .limits = {}}) {}

}  // namespace redouble::inline v0_1::scenarios
