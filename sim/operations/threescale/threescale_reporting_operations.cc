#include "redouble/sim/operations/threescale/threescale_reporting_operations.h"

#include <utility>
#include <variant>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/threescale/authorize/auth_request.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/notify/events.h"
#include "redouble/core/threescale/notify/notifier.h"
#include "redouble/core/threescale/report/aggregator.h"
#include "redouble/core/threescale/report/error_log.h"
#include "redouble/core/threescale/report/reporter.h"
#include "redouble/core/threescale/report/stats_cleaner.h"
#include "redouble/core/threescale/report/worker.h"
#include "redouble/core/threescale/text/timestamp.h"
#include "redouble/sim/operations/threescale/threescale_jobs.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using sim::ArgumentReader;
using sim::Json;
using sim::OperationContext;
using sim::OperationResult;
using threescale::CountedTransaction;
using threescale::EventQueue;
using threescale::Job;
using threescale::JsonObject;
using threescale::Process;
using threescale::ReportRequest;
using threescale::Transaction;

using Session = std::shared_ptr<ThreescaleSession>;
using OptionalText = std::optional<std::string>;

// The sessions of goldens keep jobs; in a scenario, jobs are results and arguments.
bool KeepsJobs(const ThreescaleSession& session) {
  return session.settings().memory != ThreescaleSettings::Memory::kNone;
}

Json OkOrJobs(ThreescaleSession& session) {
  return KeepsJobs(session) ? Json("ok") : TakeJobs(session.queue());
}

// The arguments that all operations of this file read first.
struct Surroundings {
  Surroundings(ThreescaleSession& session, const OperationContext& context, ArgumentReader& reader)
      : process(session.Begin(context, reader)), hardening(ReadThreescaleHardening(reader)) {
    notifier.master_service_id = Text(reader, "master_service_id");
    if (!notifier.master_service_id) {
      notifier.master_service_id = session.settings().master_service_id;
    }
    notifier.batch_size =
        reader.IntegerOr("notification_batch", session.settings().notification_batch);
    if (notifier.batch_size < 1) reader.Refuse("notification_batch", "expected 1 or more");
    notifier.hardening = hardening;
    if (session.settings().events_hook) {
      hook = [&calls = session.hook_calls()]() -> base::Task<absl::Status> {
        ++calls;
        co_return absl::OkStatus();
      };
    }
  }

  threescale::AggregatorOptions aggregator() const { return {hardening, hook}; }
  threescale::WorkerOptions worker() const { return {aggregator(), notifier.master_service_id}; }

  Process process;
  threescale::Hardening hardening;
  threescale::NotifierOptions notifier;
  EventQueue::Hook hook;
};

// The parameters of a request, and the header beside them.
struct RequestParams {
  Json params = Json::object();
  std::string extensions;
};

// The parameters are in `params` or among the other arguments.
RequestParams ReadParams(const Json& arguments, ArgumentReader& reader) {
  constexpr std::string_view kNames[] = {"provider_key", "service_token", "service_id",
                                         "transactions"};
  RequestParams request;
  if (const Json* params = reader.Find("params"); params != nullptr && params->is_object()) {
    request.params = *params;
    request.extensions = Text(reader, "extensions_header").value_or("");
    return request;
  }
  for (const std::string_view name : kNames) {
    reader.FindOrNull(name);
    const auto member = arguments.find(name);
    if (member != arguments.end()) request.params[std::string(name)] = *member;
  }
  return request;
}

OptionalText Param(const Json& params, const char* name) {
  const auto member = params.find(name);
  return member == params.end() ? std::nullopt : TextOf(*member);
}

absl::Status ReadTransactions(const Json& params, ReportRequest& request) {
  const auto transactions = params.find("transactions");
  if (transactions == params.end() || transactions->is_null()) return absl::OkStatus();
  if (transactions->is_string() && transactions->get_ref<const std::string&>().empty()) {
    return absl::OkStatus();
  }
  if (!transactions->is_object()) {
    request.transactions_are_no_map = true;
    return absl::OkStatus();
  }
  for (const auto& item : transactions->items()) {
    if (item.value().is_null()) {
      request.transactions.push_back(std::nullopt);
      continue;
    }
    REDOUBLE_ASSIGN_OR_RETURN(Transaction transaction, TransactionFromJson(item.value()));
    request.transactions.push_back(std::move(transaction));
    request.names_user_id |= item.value().contains("user_id");
  }
  return absl::OkStatus();
}

base::Task<OperationResult> Report(Session session, OperationContext context,
                                   const Json& arguments) {
  ArgumentReader reader(arguments);
  const RequestParams sent = ReadParams(arguments, reader);
  ReportRequest request;
  request.content_type = Text(reader, "content_type");
  request.provider_key = Param(sent.params, "provider_key");
  request.service_token = Param(sent.params, "service_token");
  request.service_id = Param(sent.params, "service_id");
  request.flat_usage = threescale::ParseExtensions(sent.extensions).flat_usage;
  const threescale::HttpRequest http =
      RequestOf("POST", "/transactions.xml", sent.params, sent.extensions);
  const absl::Status read = ReadTransactions(sent.params, request);
  if (!read.ok()) reader.Refuse("transactions", std::string(read.message()));
  Surroundings around(*session, context, reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  threescale::Notifier notifier(around.process, session->queue(), around.notifier);
  threescale::Reporter reporter(around.process, session->queue(), notifier);
  const absl::Status taken = co_await reporter.Report(std::move(request));
  if (!taken.ok() && !threescale::ErrorCodeOf(taken)) co_return taken;
  Json answer = taken.ok() ? Json{{"status", 202}, {"body", ""}} : ErrorAnswer(taken, http);
  if (!KeepsJobs(*session)) answer["jobs"] = TakeJobs(session->queue());
  co_return answer;
}

// Returns whether a job equals a recorded one, which may lack members.
bool IsSameJob(const Job& queued, const Job& recorded) {
  if (queued.index() != recorded.index()) return false;
  if (const auto* notify = std::get_if<threescale::NotifyJob>(&queued)) {
    const auto& other = std::get<threescale::NotifyJob>(recorded);
    return notify->provider_key == other.provider_key && notify->usage == other.usage &&
           notify->time == other.time;
  }
  const auto& report = std::get<threescale::ReportJob>(queued);
  const auto& other = std::get<threescale::ReportJob>(recorded);
  return report.service_id == other.service_id && report.transactions == other.transactions;
}

// Reads the argument `jobs`, or those of `answer`; nullopt if it is only a text for people.
absl::StatusOr<std::optional<std::vector<Job>>> ReadJobs(ArgumentReader& reader) {
  const Json* json = reader.Find("jobs");
  const Json* const answer = reader.Find("answer");
  if (answer != nullptr) {
    if (!answer->is_object() || !answer->contains("jobs")) {
      return absl::InvalidArgumentError("expected the jobs of an answer, got " + answer->dump());
    }
    json = &(*answer)["jobs"];
  }
  if (json == nullptr || !json->is_array()) return std::nullopt;
  std::vector<Job> jobs;
  for (const Json& each : *json) {
    REDOUBLE_ASSIGN_OR_RETURN(Job job, JobFromJson(each));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

// Returns the queued jobs; if there are none, those of the argument.
absl::StatusOr<std::vector<Job>> JobsToRun(ThreescaleSession& session,
                                           std::optional<std::vector<Job>> named) {
  if (session.queue().size() == 0) return std::move(named).value_or(std::vector<Job>());
  std::vector<Job> jobs;
  while (std::optional<Job> job = session.queue().Pop()) jobs.push_back(*std::move(job));
  if (!named) return jobs;
  if (named->size() != jobs.size()) return absl::InternalError("other jobs were enqueued");
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (IsSameJob(jobs[i], (*named)[i])) continue;
    return absl::InternalError("another job was enqueued: " + JobToJson(jobs[i]).dump());
  }
  return jobs;
}

base::Task<OperationResult> RunJobs(Session session, OperationContext context,
                                    const Json& arguments) {
  ArgumentReader reader(arguments);
  absl::StatusOr<std::optional<std::vector<Job>>> named = ReadJobs(reader);
  if (!named.ok()) reader.Refuse("jobs", std::string(named.status().message()));
  Surroundings around(*session, context, reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Job> jobs, JobsToRun(*session, *std::move(named)));
  threescale::Worker worker(around.process, around.worker());
  for (Job& job : jobs) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await worker.Run(std::move(job)));
  }
  co_return Json("ok");
}

absl::StatusOr<CountedTransaction> CountedFromJson(const Json& json, absl::Time now) {
  CountedTransaction transaction;
  ArgumentReader reader(json, "/transactions");
  transaction.service_id = Text(reader, "service_id").value_or("");
  transaction.application_id = Text(reader, "application_id").value_or("");
  const OptionalText timestamp = Text(reader, "timestamp");
  transaction.time = timestamp ? threescale::ParseTimestamp(*timestamp).value_or(now) : now;
  transaction.response_code = Text(reader, "response_code").value_or("");
  const Json* usage = reader.Find("usage");
  REDOUBLE_ASSIGN_OR_RETURN(threescale::Usage read,
                            UsageFromJson(usage == nullptr ? Json() : *usage));
  transaction.usage = std::move(read);
  REDOUBLE_RETURN_IF_ERROR(reader.Finish());
  return transaction;
}

base::Task<OperationResult> Aggregate(Session session, OperationContext context,
                                      const Json& arguments) {
  ArgumentReader reader(arguments);
  Surroundings around(*session, context, reader);
  std::vector<CountedTransaction> transactions;
  for (const Json& json : reader.Any("transactions")) {
    absl::StatusOr<CountedTransaction> transaction =
        CountedFromJson(json, around.process.clock.Now());
    if (!transaction.ok()) {
      reader.Refuse("transactions", std::string(transaction.status().message()));
      break;
    }
    transactions.push_back(*std::move(transaction));
  }
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  threescale::Aggregator aggregator(around.process, around.aggregator());
  REDOUBLE_CO_RETURN_IF_ERROR(co_await aggregator.Aggregate(std::move(transactions)));
  co_return Json("ok");
}

// Returns JSON text as 3scale writes it.
std::string JsonText(const Json& json) {
  if (json.is_string()) return threescale::JsonString(json.get_ref<const std::string&>());
  if (json.is_number_float()) return threescale::JsonDouble(json.get<double>());
  if (json.is_array()) {
    std::string elements;
    for (const Json& element : json) elements += (elements.empty() ? "" : ",") + JsonText(element);
    return "[" + elements + "]";
  }
  if (!json.is_object()) return json.dump();
  JsonObject object;
  for (const auto& item : json.items()) object.AddJson(item.key(), JsonText(item.value()));
  return object.text();
}

base::Task<OperationResult> StoreEvent(Session session, OperationContext context,
                                       const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string type_name = Text(reader, "type").value_or("");
  JsonObject object;
  for (const auto& item : reader.Any("object").items()) {
    object.AddJson(item.key(), JsonText(item.value()));
  }
  Surroundings around(*session, context, reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto type, threescale::FindEventType(type_name));
  REDOUBLE_CO_RETURN_IF_ERROR(
      (co_await EventQueue(around.process, around.hardening).Publish(type, std::move(object)))
          .status());
  co_return Json(true);
}

base::Task<OperationResult> ListEvents(Session session, OperationContext context,
                                       const Json& arguments) {
  ArgumentReader reader(arguments);
  Surroundings around(*session, context, reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto events, co_await EventQueue(around.process).List());
  Json json = Json::array();
  for (const std::string& event : events) {
    json.push_back(Json::parse(event, nullptr, /*allow_exceptions=*/false));
  }
  co_return json;
}

// Reads the id up to which events are deleted; goldens have several names for it.
std::string ReadEventId(ArgumentReader& reader) {
  OptionalText id;
  for (const std::string_view name : {"id", "to_id", "last_id", "upto_id"}) {
    if (OptionalText text = Text(reader, name)) id = std::move(text);
  }
  return id.value_or("");
}

base::Task<OperationResult> DeleteEvents(Session session, OperationContext context,
                                         const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string id = ReadEventId(reader);
  Surroundings around(*session, context, reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t count,
                               co_await EventQueue(around.process).DeleteRange(id));
  co_return Json(count);
}

base::Task<OperationResult> DeleteEvent(Session session, OperationContext context,
                                        const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string id = ReadEventId(reader);
  Surroundings around(*session, context, reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t count, co_await EventQueue(around.process).Delete(id));
  co_return Json(count);
}

base::Task<OperationResult> CountEvents(Session session, OperationContext context,
                                        const Json& arguments) {
  ArgumentReader reader(arguments);
  Surroundings around(*session, context, reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t size, co_await EventQueue(around.process).Size());
  co_return Json(size);
}

base::Task<OperationResult> PingEvents(Session session, OperationContext context,
                                       const Json& arguments) {
  ArgumentReader reader(arguments);
  const OptionalText label = reader.OptionalString("label");
  const bool raises = reader.OptionalString("hook") == "raises" || label == "(hook raises)";
  Surroundings around(*session, context, reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  const EventQueue::Hook hook = [&]() -> base::Task<absl::Status> {
    if (raises) co_return absl::UnknownError("boom");
    ++session->hook_calls();
    co_return absl::OkStatus();
  };
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool called,
                               co_await EventQueue(around.process).PingIfNotEmpty(hook));
  co_return called ? Json(true) : Json("nil");
}

base::Task<OperationResult> HookCalls(Session session, OperationContext context,
                                      const Json& arguments) {
  ArgumentReader reader(arguments);
  Surroundings around(*session, context, reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  if (session->hook_calls() == 0) co_return Json(0);
  Json call =
      Json::array({session->settings().events_hook.value_or(""), Json{{"secret", "SECRET"}}});
  Json calls = Json::array();
  for (int64_t i = 0; i < session->hook_calls(); ++i) calls.push_back(call);
  co_return calls;
}

base::Task<OperationResult> ListErrors(Session session, OperationContext context,
                                       const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string service_id = Text(reader, "service_id").value_or("");
  const int64_t page = reader.IntegerOr("page", 1);
  Surroundings around(*session, context, reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const auto entries, co_await threescale::ErrorLog(around.process).List(service_id, page));
  Json json = Json::array();
  for (const std::string& entry : entries) {
    json.push_back(Json::parse(entry, nullptr, /*allow_exceptions=*/false));
  }
  co_return json;
}

base::Task<OperationResult> CountErrors(Session session, OperationContext context,
                                        const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string service_id = Text(reader, "service_id").value_or("");
  Surroundings around(*session, context, reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto count,
                               co_await threescale::ErrorLog(around.process).Count(service_id));
  co_return Json(count);
}

base::Task<OperationResult> DeleteErrors(Session session, OperationContext context,
                                         const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string service_id = Text(reader, "service_id").value_or("");
  Surroundings around(*session, context, reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_RETURN_IF_ERROR(co_await threescale::ErrorLog(around.process).Delete(service_id));
  co_return Json("ok");
}

base::Task<OperationResult> MarkService(Session session, OperationContext context,
                                        const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string service_id = Text(reader, "service_id").value_or("");
  Surroundings around(*session, context, reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  threescale::StatsCleaner cleaner(context.store, context.clock);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool marked, co_await cleaner.Mark(service_id));
  co_return Json(marked ? 1 : 0);
}

base::Task<OperationResult> DeleteMarked(Session session, OperationContext context,
                                         const Json& arguments) {
  ArgumentReader reader(arguments);
  Surroundings around(*session, context, reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  threescale::StatsCleaner cleaner(context.store, context.clock);
  REDOUBLE_CO_RETURN_IF_ERROR(co_await cleaner.DeleteMarked());
  co_return Json("ok");
}

base::Task<OperationResult> DeleteZeros(Session session, OperationContext context,
                                        const Json& arguments) {
  ArgumentReader reader(arguments);
  Surroundings around(*session, context, reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  threescale::StatsCleaner cleaner(context.store, context.clock);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t deleted, co_await cleaner.DeleteZeros());
  co_return Json(deleted);
}

base::Task<OperationResult> Notify(Session session, OperationContext context,
                                   const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string provider_key = Text(reader, "provider_key").value_or("");
  threescale::Notification notification;
  notification.transactions = reader.OptionalInteger("transactions");
  notification.authorizations = reader.OptionalInteger("authorizations");
  Surroundings around(*session, context, reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  threescale::Notifier notifier(around.process, session->queue(), around.notifier);
  REDOUBLE_CO_RETURN_IF_ERROR(co_await notifier.Notify(provider_key, notification));
  co_return OkOrJobs(*session);
}

}  // namespace

void AddThreescaleReporting(sim::OperationTable& table, const ThreescaleSessions& sessions) {
  AddThreescale(table, sessions, "http.report", Report);
  AddThreescale(table, sessions, "worker.run_all_jobs", RunJobs);
  AddThreescale(table, sessions, "aggregator.process", Aggregate);
  AddThreescale(table, sessions, "events.store", StoreEvent);
  AddThreescale(table, sessions, "events.list", ListEvents);
  AddThreescale(table, sessions, "events.delete_range", DeleteEvents);
  AddThreescale(table, sessions, "events.delete", DeleteEvent);
  AddThreescale(table, sessions, "events.size", CountEvents);
  AddThreescale(table, sessions, "events.ping_if_not_empty", PingEvents);
  AddThreescale(table, sessions, "hook_calls_so_far", HookCalls);
  AddThreescale(table, sessions, "errors.list", ListErrors);
  AddThreescale(table, sessions, "errors.count", CountErrors);
  AddThreescale(table, sessions, "errors.delete", DeleteErrors);
  AddThreescale(table, sessions, "stats.mark_service_to_be_deleted", MarkService);
  AddThreescale(table, sessions, "stats.delete!", DeleteMarked);
  AddThreescale(table, sessions, "stats.delete_zeros", DeleteZeros);
  AddThreescale(table, sessions, "notify", Notify);
}

}  // namespace redouble::inline v0_1::scenarios
