#include "redouble/core/relayna/sdk/sdk.h"

namespace redouble::inline v0_1::relayna {
namespace {

// Emplaces the feed, and returns it or null.
ServiceEventFeed* MakeFeed(store::Store& store, const SdkSettings& settings,
                           std::optional<ServiceEventFeed>& feed) {
  if (!settings.service_event_store_prefix) return nullptr;
  FeedOptions options;
  options.prefix = *settings.service_event_store_prefix;
  options.ttl_seconds = settings.feed_ttl();
  options.feed_maxlen = settings.service_event_feed_maxlen;
  options.hardening = settings.hardening;
  options.key_layout = settings.key_layout;
  return &feed.emplace(store, options);
}

StatusOptions StatusOptionsOf(const SdkSettings& settings, ServiceEventFeed* feed) {
  return {.prefix = settings.store_prefix,
          .ttl_seconds = settings.store_ttl_seconds,
          .history_maxlen = settings.store_history_maxlen,
          .feed = feed,
          .hardening = settings.hardening,
          .key_layout = settings.key_layout,
          .channels = settings.channels};
}

WorkflowContractOptions WorkflowOptionsOf(const SdkSettings& settings) {
  return {.prefix = settings.workflow_prefix,
          .ttl_seconds = settings.workflow_ttl_seconds,
          .hardening = settings.hardening,
          .key_layout = settings.key_layout};
}

}  // namespace

Sdk::Sdk(store::Store& store, const SdkSettings& settings)
    : store_(store),
      settings_(settings),
      statuses_(store, StatusOptionsOf(settings, MakeFeed(store, settings, feed_))),
      workflow_contracts_(store, WorkflowOptionsOf(settings)) {
  if (settings.observation_store_prefix) {
    ObservationOptions options;
    options.prefix = *settings.observation_store_prefix;
    options.ttl_seconds = settings.observation_ttl();
    options.history_maxlen = settings.observation_history_maxlen;
    options.feed = feed();
    options.hardening = settings.hardening;
    options.key_layout = settings.key_layout;
    observations_.emplace(store, options);
  }
  if (settings.dlq_store_prefix) {
    DlqOptions options;
    options.prefix = *settings.dlq_store_prefix;
    options.ttl_seconds = settings.dlq_store_ttl_seconds;
    options.hardening = settings.hardening;
    options.key_layout = settings.key_layout;
    dlq_.emplace(store, options);
  }
}

base::Task<absl::StatusOr<store::UnusedKeysReport>> Sdk::DeleteUnused(absl::Duration unused_for) {
  const store::KeyLayout layout = settings_.key_layout;
  const StatusKeys statuses(settings_.store_prefix, layout);
  const WorkflowKeys workflows(settings_.workflow_prefix, layout);
  std::optional<ObservationKeys> observations;
  if (observations_) observations.emplace(*settings_.observation_store_prefix, layout);
  std::optional<FeedKeys> feed;
  if (feed_) feed.emplace(*settings_.service_event_store_prefix, layout);
  store::UnusedKeys unused;
  unused.unused_for = unused_for;
  unused.selects = [&](std::string_view key) {
    return statuses.IsOfTask(key) || workflows.IsContract(key) ||
           (observations && observations->IsOfTask(key)) || (feed && feed->IsEvent(key));
  };
  co_return co_await store::DeleteUnusedKeys(store_, std::move(unused));
}

}  // namespace redouble::inline v0_1::relayna
