#include "redouble/backends/redis/observe/command_spans.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::redis {
namespace {

using Attributes = std::vector<std::pair<std::string, CommandSpan::Value>>;

// Adds "PREFIX.address" and, for TCP, "PREFIX.port".
void AddAddress(std::string_view prefix, std::string_view node, Attributes& attributes) {
  if (node.empty()) return;
  const size_t colon = node.starts_with('/') ? node.npos : node.rfind(':');
  std::string_view host = node.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  attributes.emplace_back(absl::StrCat(base::ToAbsl(prefix), ".address"), std::string(host));
  int64_t port = 0;
  if (colon != node.npos && absl::SimpleAtoi(base::ToAbsl(node.substr(colon + 1)), &port)) {
    attributes.emplace_back(absl::StrCat(base::ToAbsl(prefix), ".port"), port);
  }
}

// What the client says of a failure. The text of an error reply may repeat arguments.
std::string DescriptionOf(const CommandEvent& end) {
  if (end.result == nullptr) return "the caller does not wait any more";
  if (!end.result->ok()) return std::string(end.result->status().message());
  return "";
}

}  // namespace

CommandSpans::CommandSpans(const base::Clock& clock, const Options& options,
                           std::function<void(CommandSpan)> finished)
    : clock_(clock), finished_(std::move(finished)) {
  common_.emplace_back("db.system.name", "redis");
  common_.emplace_back("db.namespace", absl::StrCat(options.database));
  AddAddress("server", NodeName(options), common_);
}

CommandHook CommandSpans::hook() {
  return [this](const CommandEvent& event) { Take(event); };
}

void CommandSpans::Take(const CommandEvent& event) {
  if (event.kind == CommandEvent::Kind::kStart) return Begin(event);
  const auto open = open_.find(event.id);
  if (open == open_.end()) return;
  if (event.kind == CommandEvent::Kind::kRedirect) {
    CommandSpan::Event redirect{"redirect", clock_.Now(), {}};
    redirect.attributes.emplace_back("redouble.cause", std::string(event.cause));
    AddAddress("network.peer", event.node, redirect.attributes);
    open->second.events.push_back(std::move(redirect));
  } else if (event.kind == CommandEvent::Kind::kEnd) {
    CommandSpan span = std::move(open->second);
    open_.erase(open);
    Finish(event, std::move(span));
  }
}

void CommandSpans::Begin(const CommandEvent& event) {
  CommandSpan& span = open_[event.id];
  span.name = RequestName(*event.request);
  span.start = clock_.Now();
  if (parent_) span.parent = parent_();
  span.attributes = common_;
  span.attributes.emplace_back("db.operation.name", span.name);
  if (event.request->kind() != store::Request::Kind::kCommand) {
    span.attributes.emplace_back("db.operation.batch.size",
                                 static_cast<int64_t>(event.request->commands().size()));
  }
}

void CommandSpans::Finish(const CommandEvent& event, CommandSpan span) {
  span.end = span.start + absl::Microseconds(event.duration_us);
  AddAddress("network.peer", event.node, span.attributes);
  span.attributes.emplace_back("redouble.sends", int64_t{event.sends});
  span.attributes.emplace_back("redouble.redirects", int64_t{event.redirects});
  const std::string error = ErrorOf(event);
  if (!error.empty()) {
    span.failed = true;
    span.description = DescriptionOf(event);
    span.attributes.emplace_back("error.type", error);
    const bool by_server = event.result != nullptr && event.result->ok();
    if (by_server) span.attributes.emplace_back("db.response.status_code", error);
  }
  finished_(std::move(span));
}

}  // namespace redouble::inline v0_1::redis
