#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/threescale/model/application.h"
#include "redouble/sim/operations/threescale/threescale_operations.h"
#include "redouble/sim/operations/threescale/threescale_store_operation.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using sim::ArgumentReader;
using sim::Json;
using sim::OperationContext;
using sim::OperationResult;
using threescale::Application;
using threescale::ApplicationRef;
using threescale::ApplicationStore;

using Session = std::shared_ptr<ThreescaleSession>;
using OptionalText = std::optional<std::string>;

std::optional<std::string_view> View(const OptionalText& text) {
  return text ? std::optional<std::string_view>(*text) : std::nullopt;
}

ApplicationRef RefOf(const Words& words) { return {words[0], words[1]}; }

base::Task<OperationResult> Save(Session session, OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const OptionalText service_id = Text(reader, "service_id");
  const OptionalText id = Text(reader, "id");
  const OptionalText state = Text(reader, "state");
  const OptionalText plan_id = Text(reader, "plan_id");
  const OptionalText plan_name = Text(reader, "plan_name");
  const OptionalText redirect_url = Text(reader, "redirect_url");
  ApplicationStore applications(session->Begin(context, reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  threescale::ApplicationSave save;
  save.service_id = service_id ? *service_id : std::string_view();
  save.id = View(id);
  save.state = View(state);
  save.plan_id = View(plan_id);
  save.plan_name = View(plan_name);
  save.redirect_url = View(redirect_url);
  REDOUBLE_CO_RETURN_IF_ERROR(co_await applications.Save(save));
  Json json = {{"service_id", TextOrNull(service_id)}, {"id", TextOrNull(id)},
               {"state", TextOrNull(state)},           {"plan_id", TextOrNull(plan_id)},
               {"plan_name", TextOrNull(plan_name)},   {"redirect_url", TextOrNull(redirect_url)}};
  co_return json;
}

Json ToJson(const std::optional<Application>& application) {
  if (!application) return Json();
  return {{"service_id", application->service_id},
          {"id", application->id},
          {"state", application->state},
          {"plan_id", TextOrNull(application->plan_id)},
          {"plan_name", TextOrNull(application->plan_name)},
          {"redirect_url", TextOrNull(application->redirect_url)}};
}

// The original's internal API loads the application before it reads keys or filters.
using Texts = std::vector<std::string>;
base::Task<absl::StatusOr<Texts>> Keys(ApplicationStore& applications, const Words& words) {
  REDOUBLE_CO_RETURN_IF_ERROR((co_await applications.LoadOrFail(RefOf(words))).status());
  co_return co_await applications.Keys(RefOf(words));
}
base::Task<absl::StatusOr<Texts>> ReferrerFilters(ApplicationStore& applications,
                                                  const Words& words) {
  REDOUBLE_CO_RETURN_IF_ERROR((co_await applications.LoadOrFail(RefOf(words))).status());
  co_return co_await applications.ReferrerFilters(RefOf(words));
}

base::Task<OperationResult> CreateKey(Session session, OperationContext context,
                                      const Json& arguments) {
  ArgumentReader reader(arguments);
  const Words words(reader, {"service_id", "id", "value"});
  ApplicationStore applications(session->Begin(context, reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());

  const ApplicationRef application = RefOf(words);
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const std::string key,
      co_await applications.CreateKey(application, words.optional(2), context.rng));
  co_return Json(key);
}

}  // namespace

void AddThreescaleApplications(sim::OperationTable& table, const ThreescaleSessions& sessions) {
  using Store = ApplicationStore;
  const auto add = [&](std::string name, auto ask, auto write) {
    AddThreescale(table, sessions, std::move(name),
                  OnStore<Store>({"service_id", "id", "value"}, ask, write));
  };
  const auto add_user_key = [&](std::string name, auto ask, auto write) {
    AddThreescale(table, sessions, std::move(name),
                  OnStore<Store>({"service_id", "user_key", "id"}, ask, write));
  };
  AddThreescale(table, sessions, "application.save", Save);
  add(
      "application.load", [](Store& store, const Words& words) { return store.Load(RefOf(words)); },
      ToJson);
  add(
      "application.exists?",
      [](Store& store, const Words& words) { return store.Exists(RefOf(words)); }, AsItIs());
  add(
      "application.delete",
      [](Store& store, const Words& words) { return store.Delete(RefOf(words)); },
      Saying("deleted"));
  add("application.keys", Keys, AsItIs());
  AddThreescale(table, sessions, "application.create_key", CreateKey);
  add(
      "application.delete_key",
      [](Store& store, const Words& words) { return store.DeleteKey(RefOf(words), words[2]); },
      AsItIs());
  add("application.referrer_filters", ReferrerFilters, AsItIs());
  add(
      "application.create_referrer_filter",
      [](Store& store, const Words& words) {
        return store.CreateReferrerFilter(RefOf(words), words[2]);
      },
      AsItIs());
  add(
      "application.delete_referrer_filter",
      [](Store& store, const Words& words) {
        return store.DeleteReferrerFilter(RefOf(words), words[2]);
      },
      OneOrZero);
  add_user_key(
      "application.save_id_by_key",
      [](Store& store, const Words& words) {
        return store.SaveUserKey({words[0], words[1]}, words[2]);
      },
      Saying("OK"));
  add_user_key(
      "application.load_id_by_key",
      [](Store& store, const Words& words) {
        return store.LoadIdByUserKey({words[0], words[1]});
      },
      TextOrNull);
  add_user_key(
      "application.delete_id_by_key",
      [](Store& store, const Words& words) {
        return store.DeleteUserKey({words[0], words[1]});
      },
      OneOrZero);
}

}  // namespace redouble::inline v0_1::scenarios
