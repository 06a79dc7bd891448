#include "redouble/core/threescale/report/reporter.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/threescale/authorize/auth_request.h"
#include "redouble/core/threescale/authorize/authorizer.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/model/service.h"

namespace redouble::inline v0_1::threescale {
namespace {

constexpr std::array<std::string_view, 3> kContentTypes = {"", "application/x-www-form-urlencoded",
                                                           "multipart/form-data"};

// Returns the media type of a header in lower case, without its parameters.
std::string MediaType(std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find_first_of(";,"));
  return absl::AsciiStrToLower(absl::StripAsciiWhitespace(base::ToAbsl(type)));
}

absl::Status CheckContentType(const std::optional<std::string>& content_type) {
  if (!content_type) return absl::OkStatus();
  const std::string type = MediaType(*content_type);
  const bool known =
      std::find(kContentTypes.begin(), kContentTypes.end(), type) != kContentTypes.end();
  return known ? absl::OkStatus() : MakeError(ErrorCode::kContentTypeInvalid, type);
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

// Removes usage entries of "0", and transactions whose usage becomes empty. Transactions that had
// no usage stay.
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
  REDOUBLE_CO_RETURN_IF_ERROR(CheckContentType(request.content_type));
  AuthRequest identity;
  identity.provider_key = ViewOf(request.provider_key);
  identity.service_token = ViewOf(request.service_token);
  identity.service_id = ViewOf(request.service_id);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string provider_key,
                               co_await Authorizer(process_).FindProviderKey(identity));
  REDOUBLE_CO_RETURN_IF_ERROR(CheckForm(request));
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const Service service,
      co_await ServiceStore(process_).LoadWithProviderKey(identity.service_id, provider_key));
  ReportJob job;
  job.service_id = service.id;
  job.transactions = WithoutZeroUsage(std::move(request.transactions));
  if (job.transactions.empty()) co_return absl::OkStatus();
  job.flat_usage = request.flat_usage;
  job.enqueued_at = process_.clock.Now();
  Notification notification;
  notification.transactions = static_cast<int64_t>(job.transactions.size());
  Job enqueued(std::move(job));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await queue_.Enqueue(std::move(enqueued)));
  co_return co_await notifier_.Notify(provider_key, notification);
}

}  // namespace redouble::inline v0_1::threescale
