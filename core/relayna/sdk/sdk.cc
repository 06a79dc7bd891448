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
          .key_layout = settings.key_layout};
}

WorkflowContractOptions WorkflowOptionsOf(const SdkSettings& settings) {
  return {.prefix = settings.workflow_prefix,
          .ttl_seconds = settings.workflow_ttl_seconds,
          .hardening = settings.hardening,
          .key_layout = settings.key_layout};
}

}  // namespace

Sdk::Sdk(store::Store& store, const SdkSettings& settings)
    : statuses_(store, StatusOptionsOf(settings, MakeFeed(store, settings, feed_))),
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

}  // namespace redouble::inline v0_1::relayna
