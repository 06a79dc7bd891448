#include "redouble/sim/operations/threescale/threescale_operations.h"

#include <utility>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/core/threescale/model/service.h"
#include "redouble/core/threescale/model/service_token.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/threescale/threescale_reporting_operations.h"
#include "redouble/sim/operations/threescale/threescale_store_operation.h"

namespace redouble::inline v0_1::scenarios {
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

std::optional<std::string_view> View(const OptionalText& text) {
  return text ? std::optional<std::string_view>(*text) : std::nullopt;
}

Json ToJson(const Service& service) {
  return {{"id", service.id},
          {"state", service.active ? "active" : "suspended"},
          {"provider_key", service.provider_key},
          {"backend_version", TextOrNull(service.backend_version)},
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
  const threescale::Process process = session->Begin(context, reader);
  ServiceStore services(process, ReadThreescaleHardening(reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_ASSIGN_OR_RETURN(const Service service, co_await services.Save(save));
  Json json = ToJson(service);
  if (!has_filters) json["referrer_filters_required"] = Json();
  co_return json;
}

base::Task<OperationResult> SaveTokens(Session session, OperationContext context,
                                       const Json& arguments) {
  ArgumentReader reader(arguments);
  const Json& list = reader.Any("pairs");
  std::vector<std::pair<OptionalText, OptionalText>> texts;
  for (const Json& pair : list) {
    ArgumentReader pair_reader(pair, "/pairs");
    texts.emplace_back(Text(pair_reader, "service_token"), Text(pair_reader, "service_id"));
    REDOUBLE_CO_RETURN_IF_ERROR(pair_reader.Finish());
  }
  ServiceTokenStore tokens(session->Begin(context, reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  std::vector<threescale::ServiceTokenPair> pairs;
  for (const auto& [token, service_id] : texts) pairs.push_back({View(token), View(service_id)});
  REDOUBLE_CO_RETURN_IF_ERROR(co_await tokens.SavePairs(pairs));
  co_return Json("ok");
}

// Recorders delete a key to simulate its expiry.
base::Task<OperationResult> DeleteKeyOfRedis(Session session, OperationContext context,
                                             const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string key = reader.String("key");
  const threescale::Process process = session->Begin(context, reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool deleted, co_await store::Del(process.store, key));
  co_return Json(deleted ? 1 : 0);
}

// Recorders write a key that another program could have written.
base::Task<OperationResult> SetKeyOfRedis(Session session, OperationContext context,
                                          const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string key = reader.String("key");
  const std::string value = reader.String("value");
  const threescale::Process process = session->Begin(context, reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Set(process.store, key, value)).status());
  co_return Json("OK");
}

}  // namespace

void AddThreescaleServices(sim::OperationTable& table, const ThreescaleSessions& sessions) {
  using Store = ServiceStore;
  const auto add = [&](std::string name, std::string_view subject, auto ask, auto write) {
    AddThreescale(table, sessions, std::move(name), OnStore<Store>({subject}, ask, write));
  };
  AddThreescale(table, sessions, "service.save", SaveService);
  add(
      "service.load_by_id", "id",
      [](Store& store, const Words& words) { return store.LoadById(words[0]); },
      [](const std::optional<Service>& service) { return service ? ToJson(*service) : Json(); });
  AddThreescale(table, sessions, "service.load_with_provider_key",
                OnStore<Store>(
                    {"id", "provider_key"},
                    [](Store& store, const Words& words) {
                      return store.LoadWithProviderKey(words.optional(0), words[1]);
                    },
                    ToJson));
  add(
      "service.delete", "id",
      [](Store& store, const Words& words) { return store.Delete(words[0]); }, Saying("deleted"));
  add(
      "service.exists?", "id",
      [](Store& store, const Words& words) { return store.Exists(words[0]); }, AsItIs());
  add(
      "service.list", "provider_key",
      [](Store& store, const Words& words) { return store.List(words[0]); }, AsItIs());
  add(
      "service.default_id", "provider_key",
      [](Store& store, const Words& words) { return store.DefaultId(words[0]); }, TextOrNull);
  AddThreescale(table, sessions, "provider_key.change",
                OnStore<Store>(
                    {"old_key", "new_key"},
                    [](Store& store, const Words& words) {
                      return store.ChangeProviderKey({words.optional(0), words.optional(1)});
                    },
                    Saying("ok")));
  AddThreescale(table, sessions, "service_token.save_pairs", SaveTokens);
  AddThreescale(table, sessions, "service_token.delete",
                OnStore<ServiceTokenStore>(
                    {"service_token", "service_id"},
                    [](ServiceTokenStore& tokens, const Words& words) {
                      return tokens.Delete({words[0], words[1]});
                    },
                    OneOrZero));
  AddThreescale(table, sessions, "service_token.exists?",
                OnStore<ServiceTokenStore>({"service_token", "service_id"},
                                           [](ServiceTokenStore& tokens, const Words& words) {
                                             return tokens.Exists({words[0], words[1]});
                                           }));
  AddThreescale(table, sessions, "redis.set", SetKeyOfRedis);
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

}  // namespace redouble::inline v0_1::scenarios
