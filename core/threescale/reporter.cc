#include "core/threescale/reporter.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "core/base/string_bridge.h"
#include "core/threescale/auth_request.h"
#include "core/threescale/authorizer.h"
#include "core/threescale/errors.h"
#include "core/threescale/service.h"

namespace redouble::threescale {
namespace {

constexpr std::array<std::string_view, 3> kContentTypes = {"", "application/x-www-form-urlencoded",
                                                           "multipart/form-data"};

absl::Status CheckContentType(const std::optional<std::string>& content_type) {
  if (!content_type) return absl::OkStatus();
  const std::string type(base::ToStd(absl::StripAsciiWhitespace(
      absl::string_view(*content_type).substr(0, content_type->find(';')))));
  const std::string lower = absl::AsciiStrToLower(type);
  const bool known =
      std::find(kContentTypes.begin(), kContentTypes.end(), lower) != kContentTypes.end();
  return known ? absl::OkStatus() : MakeError(ErrorCode::kContentTypeInvalid, *content_type);
}

absl::Status CheckForm(const ReportRequest& request) {
  if (request.transactions_are_no_map) return MakeError(ErrorCode::kTransactionsFormatInvalid);
  if (request.transactions.empty()) return MakeError(ErrorCode::kTransactionsIsBlank);
  const bool has_nil = std::any_of(request.transactions.begin(), request.transactions.end(),
                                   [](const auto& transaction) { return !transaction; });
  if (has_nil) return MakeError(ErrorCode::kTransactionsHasNilTransaction);
  if (request.names_user_id) return MakeError(ErrorCode::kEndUsersNoLongerSupported);
  return absl::OkStatus();
}

std::optional<std::string_view> ViewOf(const std::optional<std::string>& text) {
  return text ? std::optional<std::string_view>(*text) : std::nullopt;
}

// Without usage of "0", and without transactions whose usage was nothing else. A transaction that
// never had any stays.
std::vector<Transaction> WithoutZeroUsage(std::vector<std::optional<Transaction>> transactions) {
  std::vector<Transaction> rest;
  for (std::optional<Transaction>& transaction : transactions) {
    Usage usage = WithoutZeros(transaction->usage);
    if (usage.empty() && !transaction->usage.empty()) continue;
    transaction->usage = std::move(usage);
    rest.push_back(*std::move(transaction));
  }
  return rest;
}

}  // namespace

base::Task<absl::Status> Reporter::Report(ReportRequest request) {
  absl::Status status = CheckContentType(request.content_type);
  if (!status.ok()) co_return status;
  AuthRequest identity;
  identity.provider_key = ViewOf(request.provider_key);
  identity.service_token = ViewOf(request.service_token);
  identity.service_id = ViewOf(request.service_id);
  identity = identity.Normalized();
  const absl::StatusOr<std::string> provider_key =
      co_await Authorizer(process_).FindProviderKey(identity);
  if (!provider_key.ok()) co_return provider_key.status();
  status = CheckForm(request);
  if (!status.ok()) co_return status;
  const absl::StatusOr<Service> service =
      co_await ServiceStore(process_).LoadWithProviderKey(identity.service_id, *provider_key);
  if (!service.ok()) co_return service.status();
  ReportJob job;
  job.service_id = service->id;
  job.transactions = WithoutZeroUsage(std::move(request.transactions));
  if (job.transactions.empty()) co_return absl::OkStatus();
  job.flat_usage = request.flat_usage;
  job.context_info = std::move(request.context_info);
  job.enqueued_at = process_.clock.Now();
  Notification notification;
  notification.transactions = static_cast<int64_t>(job.transactions.size());
  status = co_await queue_.Enqueue(Job(std::move(job)));
  if (!status.ok()) co_return status;
  co_return co_await notifier_.Notify(*provider_key, notification);
}

}  // namespace redouble::threescale
