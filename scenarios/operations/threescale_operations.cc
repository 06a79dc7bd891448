#include "scenarios/operations/threescale_operations.h"

#include <utility>
#include <vector>

#include "core/store/keys.h"
#include "core/threescale/service.h"
#include "core/threescale/service_token.h"
#include "scenarios/operations/threescale_reporting_operations.h"
#include "sim/scenario/arguments.h"

namespace redouble::scenarios {
namespace {

using sim::ArgumentReader;
using sim::Json;
using sim::OperationContext;
using sim::OperationResult;
using threescale::Service;
using threescale::ServiceStore;
using threescale::ServiceTokenStore;

using Session = std::shared_ptr<ThreescaleSession>;
using OptionalText = std::optional<std::string>;

Json ToJson(const OptionalText& text) { return text ? Json(*text) : Json(); }

std::optional<std::string_view> View(const OptionalText& text) {
  return text ? std::optional<std::string_view>(*text) : std::nullopt;
}

Json ToJson(const Service& service) {
  return {{"id", service.id},
          {"state", service.active ? "active" : "suspended"},
          {"provider_key", service.provider_key},
          {"backend_version", ToJson(service.backend_version)},
          {"referrer_filters_required", service.referrer_filters_required},
          {"default_service", service.is_default}};
}

base::Task<OperationResult> SaveService(Session session, OperationContext context,
                                        const Json& arguments) {
  ArgumentReader reader(arguments);
  const OptionalText id = Text(reader, "id");
  const OptionalText provider_key = Text(reader, "provider_key");
  const OptionalText version = Text(reader, "backend_version");
  const OptionalText state = Text(reader, "state");
  threescale::ServiceSave save;
  save.id = id ? *id : std::string_view();
  save.provider_key = provider_key ? *provider_key : std::string_view();
  save.backend_version = View(version);
  save.state = View(state);
  const bool has_filters = reader.Find("referrer_filters_required") != nullptr;
  save.referrer_filters_required = reader.BoolOr("referrer_filters_required", false);
  if (reader.Find("default_service") != nullptr) save.is_default = reader.Bool("default_service");
  ServiceStore services(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const absl::StatusOr<Service> service = co_await services.Save(save);
  if (!service.ok()) co_return service.status();
  Json json = ToJson(*service);
  if (!has_filters) json["referrer_filters_required"] = Json();
  co_return json;
}

base::Task<OperationResult> LoadService(Session session, OperationContext context,
                                        const Json& arguments) {
  ArgumentReader reader(arguments);
  const OptionalText id = Text(reader, "id");
  ServiceStore services(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const absl::StatusOr<std::optional<Service>> service =
      co_await services.LoadById(id.value_or(""));
  if (!service.ok()) co_return service.status();
  co_return *service ? ToJson(**service) : Json();
}

base::Task<OperationResult> LoadServiceOfProvider(Session session, OperationContext context,
                                                  const Json& arguments) {
  ArgumentReader reader(arguments);
  const OptionalText id = Text(reader, "id");
  const OptionalText provider_key = Text(reader, "provider_key");
  ServiceStore services(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const absl::StatusOr<Service> service =
      co_await services.LoadWithProviderKey(View(id), provider_key.value_or(""));
  if (!service.ok()) co_return service.status();
  co_return ToJson(*service);
}

base::Task<OperationResult> DeleteService(Session session, OperationContext context,
                                          const Json& arguments) {
  ArgumentReader reader(arguments);
  const OptionalText id = Text(reader, "id");
  ServiceStore services(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const absl::Status deleted = co_await services.Delete(id.value_or(""));
  if (!deleted.ok()) co_return deleted;
  co_return Json("deleted");
}

base::Task<OperationResult> ServiceExists(Session session, OperationContext context,
                                          const Json& arguments) {
  ArgumentReader reader(arguments);
  const OptionalText id = Text(reader, "id");
  ServiceStore services(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const absl::StatusOr<bool> exists = co_await services.Exists(id.value_or(""));
  if (!exists.ok()) co_return exists.status();
  co_return Json(*exists);
}

base::Task<OperationResult> ListServices(Session session, OperationContext context,
                                         const Json& arguments) {
  ArgumentReader reader(arguments);
  const OptionalText provider_key = Text(reader, "provider_key");
  ServiceStore services(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const absl::StatusOr<std::vector<std::string>> ids =
      co_await services.List(provider_key.value_or(""));
  if (!ids.ok()) co_return ids.status();
  co_return Json(*ids);
}

base::Task<OperationResult> DefaultServiceId(Session session, OperationContext context,
                                             const Json& arguments) {
  ArgumentReader reader(arguments);
  const OptionalText provider_key = Text(reader, "provider_key");
  ServiceStore services(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const absl::StatusOr<OptionalText> id = co_await services.DefaultId(provider_key.value_or(""));
  if (!id.ok()) co_return id.status();
  co_return ToJson(*id);
}

base::Task<OperationResult> ChangeProviderKey(Session session, OperationContext context,
                                              const Json& arguments) {
  ArgumentReader reader(arguments);
  const OptionalText old_key = Text(reader, "old_key");
  const OptionalText new_key = Text(reader, "new_key");
  ServiceStore services(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const threescale::ProviderKeyChange change{View(old_key), View(new_key)};
  const absl::Status changed = co_await services.ChangeProviderKey(change);
  if (!changed.ok()) co_return changed;
  co_return Json("ok");
}

base::Task<OperationResult> SaveTokens(Session session, OperationContext context,
                                       const Json& arguments) {
  ArgumentReader reader(arguments);
  const Json& list = reader.Any("pairs");
  std::vector<std::pair<OptionalText, OptionalText>> texts;
  for (const Json& pair : list) {
    ArgumentReader pair_reader(pair, "/pairs");
    texts.emplace_back(Text(pair_reader, "service_token"), Text(pair_reader, "service_id"));
    if (absl::Status status = pair_reader.Finish(); !status.ok()) co_return status;
  }
  ServiceTokenStore tokens(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  std::vector<threescale::ServiceTokenPair> pairs;
  for (const auto& [token, service_id] : texts) pairs.push_back({View(token), View(service_id)});
  const absl::Status saved = co_await tokens.SavePairs(pairs);
  if (!saved.ok()) co_return saved;
  co_return Json("ok");
}

base::Task<OperationResult> DeleteToken(Session session, OperationContext context,
                                        const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string token = Text(reader, "service_token").value_or("");
  const std::string service_id = Text(reader, "service_id").value_or("");
  ServiceTokenStore tokens(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const threescale::ServiceTokenRef ref{token, service_id};
  const absl::StatusOr<bool> deleted = co_await tokens.Delete(ref);
  if (!deleted.ok()) co_return deleted.status();
  co_return Json(*deleted ? 1 : 0);
}

base::Task<OperationResult> TokenExists(Session session, OperationContext context,
                                        const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string token = Text(reader, "service_token").value_or("");
  const std::string service_id = Text(reader, "service_id").value_or("");
  ServiceTokenStore tokens(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const threescale::ServiceTokenRef ref{token, service_id};
  const absl::StatusOr<bool> exists = co_await tokens.Exists(ref);
  if (!exists.ok()) co_return exists.status();
  co_return Json(*exists);
}

// How a recorder lets a key expire.
base::Task<OperationResult> DeleteKeyOfRedis(Session session, OperationContext context,
                                             const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string key = reader.String("key");
  const threescale::Process process = session->Begin(context, reader);
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const absl::StatusOr<bool> deleted = co_await store::Del(process.store, key);
  if (!deleted.ok()) co_return deleted.status();
  co_return Json(*deleted ? 1 : 0);
}

}  // namespace

void AddThreescaleServices(sim::OperationTable& table, const ThreescaleSessions& sessions) {
  AddThreescale(table, sessions, "service.save", SaveService);
  AddThreescale(table, sessions, "service.load_by_id", LoadService);
  AddThreescale(table, sessions, "service.load_with_provider_key", LoadServiceOfProvider);
  AddThreescale(table, sessions, "service.delete", DeleteService);
  AddThreescale(table, sessions, "service.exists?", ServiceExists);
  AddThreescale(table, sessions, "service.list", ListServices);
  AddThreescale(table, sessions, "service.default_id", DefaultServiceId);
  AddThreescale(table, sessions, "provider_key.change", ChangeProviderKey);
  AddThreescale(table, sessions, "service_token.save_pairs", SaveTokens);
  AddThreescale(table, sessions, "service_token.delete", DeleteToken);
  AddThreescale(table, sessions, "service_token.exists?", TokenExists);
  AddThreescale(table, sessions, "redis.del", DeleteKeyOfRedis);
  AddThreescale(table, sessions, "redis.raw_del_simulating_ttl_expiry", DeleteKeyOfRedis);
}

sim::OperationTable ThreescaleOperations(ThreescaleSessions sessions) {
  if (!sessions) sessions = [] { return std::make_shared<ThreescaleSession>(); };
  sim::OperationTable table;
  AddThreescaleServices(table, sessions);
  AddThreescaleApplications(table, sessions);
  AddThreescaleMetrics(table, sessions);
  AddThreescaleAuthorization(table, sessions);
  AddThreescaleReporting(table, sessions);
  return table;
}

}  // namespace redouble::scenarios
