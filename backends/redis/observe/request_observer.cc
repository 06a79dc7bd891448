#include "redouble/backends/redis/observe/request_observer.h"

#include <utility>

#include "redouble/backends/redis/fsm/queue_limits.h"

namespace redouble::inline v0_1::redis {
namespace {

// The size of the texts in a reply.
size_t BytesOf(const store::Reply& reply) {
  if (!reply.is_array()) return reply.is_integer() || reply.is_nil() ? 0 : reply.text().size();
  size_t bytes = 0;
  for (const store::Reply& element : reply.elements()) bytes += BytesOf(element);
  return bytes;
}

}  // namespace

// Represents a request of the caller in the client.
class RequestObserver::Observed final : public store::Request {
 public:
  Observed(std::shared_ptr<RequestObserver> observer, store::Request& request)
      : Request(request.kind(), request.commands()),
        original(&request),
        observer_(std::move(observer)) {}

  store::Request* const original;
  uint64_t id = 0;
  int64_t start_us = 0;
  int sends = 0;
  int redirects = 0;
  std::string node;

 private:
  void OnComplete(absl::StatusOr<store::Reply>&& result) override {
    // End destroys this request, and perhaps the client.
    const std::shared_ptr<RequestObserver> observer = observer_;
    observer->End(*this, std::move(result));
  }

  const std::shared_ptr<RequestObserver> observer_;
};

std::shared_ptr<RequestObserver> RequestObserver::Make(CommandHook hook, std::string node,
                                                       std::function<int64_t()> now_us) {
  if (hook == nullptr) return nullptr;
  return std::shared_ptr<RequestObserver>(
      new RequestObserver(std::move(hook), std::move(node), std::move(now_us)));
}

RequestObserver::RequestObserver(CommandHook hook, std::string node,
                                 std::function<int64_t()> now_us)
    : hook_(std::move(hook)), node_(std::move(node)), now_us_(std::move(now_us)) {}

RequestObserver::~RequestObserver() = default;

void RequestObserver::Submit(store::Request& request,
                             absl::FunctionRef<void(store::Request&)> submit) {
  auto owned = std::make_unique<Observed>(shared_from_this(), request);
  Observed& observed = *owned;
  observed.id = ++last_id_;
  observed.start_us = now_us_();
  by_request_.emplace(&request, std::move(owned));
  by_observed_.emplace(&observed, &observed);
  request.SetKeeper(this);
  CommandEvent event;
  event.id = observed.id;
  event.at_us = observed.start_us;
  event.request = &observed;
  hook_(event);
  submit(observed);
}

RequestObserver::Observed* RequestObserver::Find(const store::Request& observed) const {
  const auto found = by_observed_.find(&observed);
  return found == by_observed_.end() ? nullptr : found->second;
}

void RequestObserver::Sent(const store::Request& request, std::string_view node) {
  Observed* const observed = Find(request);
  if (observed == nullptr) return;
  ++observed->sends;
  observed->node = node;
  CommandEvent event;
  event.kind = CommandEvent::Kind::kSend;
  event.id = observed->id;
  event.at_us = now_us_();
  event.request = observed;
  event.node = node;
  event.sends = observed->sends;
  event.redirects = observed->redirects;
  hook_(event);
}

void RequestObserver::Redirected(const store::Request& request,
                                 std::optional<std::string_view> node, std::string_view cause) {
  Observed* const observed = Find(request);
  if (observed == nullptr) return;
  ++observed->redirects;
  CommandEvent event;
  event.kind = CommandEvent::Kind::kRedirect;
  event.id = observed->id;
  event.at_us = now_us_();
  event.request = observed;
  event.node = node.value_or(observed->node);
  event.sends = observed->sends;
  event.redirects = observed->redirects;
  event.cause = cause;
  hook_(event);
}

void RequestObserver::ReportEnd(const Observed& observed,
                                const absl::StatusOr<store::Reply>* result) const {
  CommandEvent event;
  event.kind = CommandEvent::Kind::kEnd;
  event.id = observed.id;
  event.at_us = now_us_();
  event.request = &observed;
  event.node = observed.node;
  event.sends = observed.sends;
  event.redirects = observed.redirects;
  event.duration_us = event.at_us - observed.start_us;
  event.request_bytes = BytesOf(observed);
  if (result != nullptr && result->ok()) event.reply_bytes = BytesOf(**result);
  event.result = result;
  hook_(event);
}

std::unique_ptr<RequestObserver::Observed> RequestObserver::Take(const store::Request& request) {
  auto taken = by_request_.extract(&request);
  if (taken.empty()) return nullptr;
  by_observed_.erase(taken.mapped().get());
  return std::move(taken.mapped());
}

void RequestObserver::End(Observed& observed, absl::StatusOr<store::Reply>&& result) {
  // The commands belong to the caller, who may destroy them once the request is complete.
  ReportEnd(observed, &result);
  store::Request& original = *observed.original;
  const std::unique_ptr<Observed> owned = Take(original);
  original.Complete(std::move(result));
}

void RequestObserver::Abandon(store::Request& request) {
  const std::unique_ptr<Observed> owned = Take(request);
  if (owned != nullptr) ReportEnd(*owned, nullptr);
}

}  // namespace redouble::inline v0_1::redis
