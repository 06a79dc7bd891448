#include <utility>

#include "core/threescale/application.h"
#include "scenarios/operations/threescale_operations.h"

namespace redouble::scenarios {
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

Json ToJson(const OptionalText& text) { return text ? Json(*text) : Json(); }

std::optional<std::string_view> View(const OptionalText& text) {
  return text ? std::optional<std::string_view>(*text) : std::nullopt;
}

// What most operations have: an application, and a value.
struct Arguments {
  std::string service_id;
  std::string id;
  OptionalText value;

  ApplicationRef ref() const { return {service_id, id}; }
};

Arguments ReadArguments(ArgumentReader& reader) {
  Arguments arguments;
  arguments.service_id = Text(reader, "service_id").value_or("");
  arguments.id = Text(reader, "id").value_or("");
  arguments.value = Text(reader, "value");
  return arguments;
}

base::Task<OperationResult> Save(Session session, OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const OptionalText service_id = Text(reader, "service_id");
  const OptionalText id = Text(reader, "id");
  const OptionalText state = Text(reader, "state");
  const OptionalText plan_id = Text(reader, "plan_id");
  const OptionalText plan_name = Text(reader, "plan_name");
  const OptionalText redirect_url = Text(reader, "redirect_url");
  ApplicationStore applications(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  threescale::ApplicationSave save;
  save.service_id = service_id ? *service_id : std::string_view();
  save.id = View(id);
  save.state = View(state);
  save.plan_id = View(plan_id);
  save.plan_name = View(plan_name);
  save.redirect_url = View(redirect_url);
  const absl::Status saved = co_await applications.Save(save);
  if (!saved.ok()) co_return saved;
  Json json = {{"service_id", ToJson(service_id)}, {"id", ToJson(id)},
               {"state", ToJson(state)},           {"plan_id", ToJson(plan_id)},
               {"plan_name", ToJson(plan_name)},   {"redirect_url", ToJson(redirect_url)}};
  co_return json;
}

base::Task<OperationResult> Load(Session session, OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const Arguments read = ReadArguments(reader);
  ApplicationStore applications(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const absl::StatusOr<std::optional<Application>> loaded = co_await applications.Load(read.ref());
  if (!loaded.ok()) co_return loaded.status();
  if (!*loaded) co_return Json();
  const Application& application = **loaded;
  Json json = {{"service_id", application.service_id},
               {"id", application.id},
               {"state", application.state},
               {"plan_id", ToJson(application.plan_id)},
               {"plan_name", ToJson(application.plan_name)},
               {"redirect_url", ToJson(application.redirect_url)}};
  co_return json;
}

base::Task<OperationResult> Exists(Session session, OperationContext context,
                                   const Json& arguments) {
  ArgumentReader reader(arguments);
  const Arguments read = ReadArguments(reader);
  ApplicationStore applications(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const absl::StatusOr<bool> exists = co_await applications.Exists(read.ref());
  if (!exists.ok()) co_return exists.status();
  co_return Json(*exists);
}

base::Task<OperationResult> Delete(Session session, OperationContext context,
                                   const Json& arguments) {
  ArgumentReader reader(arguments);
  const Arguments read = ReadArguments(reader);
  ApplicationStore applications(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const absl::Status deleted = co_await applications.Delete(read.ref());
  if (!deleted.ok()) co_return deleted;
  co_return Json("deleted");
}

// The system's own interface loads the application before it looks at keys or filters.
base::Task<OperationResult> Keys(Session session, OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const Arguments read = ReadArguments(reader);
  ApplicationStore applications(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const absl::StatusOr<Application> loaded = co_await applications.LoadOrFail(read.ref());
  if (!loaded.ok()) co_return loaded.status();
  const absl::StatusOr<std::vector<std::string>> keys = co_await applications.Keys(read.ref());
  if (!keys.ok()) co_return keys.status();
  co_return Json(*keys);
}

base::Task<OperationResult> ReferrerFilters(Session session, OperationContext context,
                                            const Json& arguments) {
  ArgumentReader reader(arguments);
  const Arguments read = ReadArguments(reader);
  ApplicationStore applications(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const absl::StatusOr<Application> loaded = co_await applications.LoadOrFail(read.ref());
  if (!loaded.ok()) co_return loaded.status();
  const absl::StatusOr<std::vector<std::string>> filters =
      co_await applications.ReferrerFilters(read.ref());
  if (!filters.ok()) co_return filters.status();
  co_return Json(*filters);
}

base::Task<OperationResult> CreateKey(Session session, OperationContext context,
                                      const Json& arguments) {
  ArgumentReader reader(arguments);
  const Arguments read = ReadArguments(reader);
  ApplicationStore applications(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const absl::StatusOr<std::string> key =
      co_await applications.CreateKey(read.ref(), View(read.value), context.rng);
  if (!key.ok()) co_return key.status();
  co_return Json(*key);
}

base::Task<OperationResult> DeleteKey(Session session, OperationContext context,
                                      const Json& arguments) {
  ArgumentReader reader(arguments);
  const Arguments read = ReadArguments(reader);
  ApplicationStore applications(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const absl::StatusOr<bool> deleted =
      co_await applications.DeleteKey(read.ref(), read.value.value_or(""));
  if (!deleted.ok()) co_return deleted.status();
  co_return Json(*deleted);
}

base::Task<OperationResult> CreateReferrerFilter(Session session, OperationContext context,
                                                 const Json& arguments) {
  ArgumentReader reader(arguments);
  const Arguments read = ReadArguments(reader);
  ApplicationStore applications(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const absl::StatusOr<std::string> filter =
      co_await applications.CreateReferrerFilter(read.ref(), read.value.value_or(""));
  if (!filter.ok()) co_return filter.status();
  co_return Json(*filter);
}

base::Task<OperationResult> DeleteReferrerFilter(Session session, OperationContext context,
                                                 const Json& arguments) {
  ArgumentReader reader(arguments);
  const Arguments read = ReadArguments(reader);
  ApplicationStore applications(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const absl::StatusOr<bool> deleted =
      co_await applications.DeleteReferrerFilter(read.ref(), read.value.value_or(""));
  if (!deleted.ok()) co_return deleted.status();
  co_return Json(*deleted ? 1 : 0);
}

base::Task<OperationResult> SaveUserKey(Session session, OperationContext context,
                                        const Json& arguments) {
  ArgumentReader reader(arguments);
  const Arguments read = ReadArguments(reader);
  const std::string user_key = Text(reader, "user_key").value_or("");
  ApplicationStore applications(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const threescale::UserKeyRef ref{read.service_id, user_key};
  const absl::Status saved = co_await applications.SaveUserKey(ref, read.id);
  if (!saved.ok()) co_return saved;
  co_return Json("OK");
}

base::Task<OperationResult> LoadUserKey(Session session, OperationContext context,
                                        const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string service_id = Text(reader, "service_id").value_or("");
  const std::string user_key = Text(reader, "user_key").value_or("");
  ApplicationStore applications(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const threescale::UserKeyRef ref{service_id, user_key};
  const absl::StatusOr<OptionalText> id = co_await applications.LoadIdByUserKey(ref);
  if (!id.ok()) co_return id.status();
  co_return ToJson(*id);
}

base::Task<OperationResult> DeleteUserKey(Session session, OperationContext context,
                                          const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string service_id = Text(reader, "service_id").value_or("");
  const std::string user_key = Text(reader, "user_key").value_or("");
  ApplicationStore applications(session->Begin(context, reader));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;

  const threescale::UserKeyRef ref{service_id, user_key};
  const absl::StatusOr<bool> deleted = co_await applications.DeleteUserKey(ref);
  if (!deleted.ok()) co_return deleted.status();
  co_return Json(*deleted ? 1 : 0);
}

}  // namespace

void AddThreescaleApplications(sim::OperationTable& table, const ThreescaleSessions& sessions) {
  AddThreescale(table, sessions, "application.save", Save);
  AddThreescale(table, sessions, "application.load", Load);
  AddThreescale(table, sessions, "application.exists?", Exists);
  AddThreescale(table, sessions, "application.delete", Delete);
  AddThreescale(table, sessions, "application.keys", Keys);
  AddThreescale(table, sessions, "application.create_key", CreateKey);
  AddThreescale(table, sessions, "application.delete_key", DeleteKey);
  AddThreescale(table, sessions, "application.referrer_filters", ReferrerFilters);
  AddThreescale(table, sessions, "application.create_referrer_filter", CreateReferrerFilter);
  AddThreescale(table, sessions, "application.delete_referrer_filter", DeleteReferrerFilter);
  AddThreescale(table, sessions, "application.save_id_by_key", SaveUserKey);
  AddThreescale(table, sessions, "application.load_id_by_key", LoadUserKey);
  AddThreescale(table, sessions, "application.delete_id_by_key", DeleteUserKey);
}

}  // namespace redouble::scenarios
