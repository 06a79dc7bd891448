#include "redouble/tests/property/migrate/readings.h"

#include <optional>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/gateway/budget.h"
#include "redouble/core/korvet/groups/coordinator.h"
#include "redouble/core/korvet/groups/group_admin.h"
#include "redouble/core/korvet/log/log.h"
#include "redouble/core/korvet/topics/topic_hash.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/core/orchestrator/approvals/approvals.h"
#include "redouble/core/orchestrator/run/monitor.h"
#include "redouble/core/python/json.h"
#include "redouble/core/relayna/service_event_feed.h"
#include "redouble/core/relayna/status_store.h"
#include "redouble/core/studio/events/event_store.h"
#include "redouble/core/studio/search/search_store.h"
#include "redouble/core/threescale/model/application.h"
#include "redouble/core/threescale/model/metric.h"
#include "redouble/core/threescale/model/service.h"
#include "redouble/core/threescale/notify/events.h"
#include "redouble/core/threescale/report/error_log.h"
#include "redouble/core/threescale/report/stats_reader.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::KeyLayout;
using store::Store;

struct Source {
  Store& store;
  base::Clock& clock;
  KeyLayout layout;
  const Ids& ids;

  // The ids of a placeholder.
  const std::set<std::string>& Of(std::string_view placeholder) const {
    static const std::set<std::string>& none = *new std::set<std::string>();
    const auto found = ids.find(placeholder);
    return found == ids.end() ? none : found->second;
  }
};

// Adds a line; of an error only its code, because its text may name a key.
template <typename T, typename Format>
void Add(Reading& reading, const std::string& what, const absl::StatusOr<T>& value, Format format) {
  reading.push_back(absl::StrCat(
      what, ": ", value.ok() ? format(*value) : absl::StatusCodeToString(value.status().code())));
}

std::string Texts(const std::vector<std::string>& texts) { return absl::StrJoin(texts, ","); }
std::string OrNone(const std::optional<std::string>& text) { return text.value_or("none"); }
std::string Json(const std::vector<python::Value>& values) {
  return absl::StrJoin(values, ",", [](std::string* out, const python::Value& value) {
    absl::StrAppend(out, python::PyJson(value).value_or("?"));
  });
}

void ReadGateway(const Source& source, Reading& reading) {
  gateway::BudgetStore budgets(source.store, gateway::Hardening(), gateway::Keys(source.layout));
  gateway::BudgetLimits limits;
  limits.daily_usd = 1;
  limits.monthly_usd = 1;
  for (const std::string& id : source.Of("key_id")) {
    Add(reading, id, base::Run(budgets.CheckBudget(id, limits, source.clock.Now())),
        [](const gateway::BudgetDecision& decision) {
          return absl::StrCat(decision.daily_spend_usd, " ", decision.monthly_spend_usd);
        });
  }
}

std::string TextOf(const korvet::Assignment& assignment) {
  std::string text;
  for (const auto& [member, partitions] : assignment) {
    absl::StrAppend(&text, member, "=");
    for (const auto& each : partitions)
      absl::StrAppend(&text, each.topic, ":", each.partition, " ");
  }
  return text;
}

void ReadLogs(const Source& source, const korvet::Keys& keys, const korvet::Topic& topic,
              Reading& reading) {
  korvet::Log log(source.store, source.clock, keys, topic);
  for (int32_t partition = 0; partition < topic.partitions; ++partition) {
    const std::string where = absl::StrCat(topic.name, ":", partition);
    const auto bounds = base::Run(log.Bounds(partition));
    Add(reading, where, bounds,
        [](const korvet::LogBounds& each) { return absl::StrCat(each.start, "-", each.end); });
    if (!bounds.ok()) continue;
    const korvet::FetchPosition from[] = {{partition, bounds->start}};
    korvet::FetchRequest request;
    request.positions = from;
    Add(reading, where, base::Run(log.Fetch(request)), [](const auto& fetched) {
      std::string text = absl::StrCat(fetched[0].next_offset);
      for (const korvet::LogRecord& record : fetched[0].records) {
        absl::StrAppend(&text, " ", record.offset, "=", record.record.value.value_or("none"));
      }
      return text;
    });
  }
}

void ReadKorvet(const Source& source, Reading& reading) {
  const korvet::Keys keys = korvet::Keys::Create("korvet", source.layout).value();
  base::Rng rng(1);
  korvet::Topics topics(source.store, rng, keys);
  for (const std::string& name : source.Of("topic")) {
    const auto topic = base::Run(topics.Describe(name));
    Add(reading, name, topic, [](const korvet::Topic& each) {
      return absl::StrJoin(korvet::HashOf(each), ",", absl::PairFormatter("="));
    });
    if (!topic.ok()) continue;
    Add(reading, "by id", base::Run(topics.DescribeById(topic->id)),
        [](const korvet::Topic& each) { return each.name; });
    ReadLogs(source, keys, *topic, reading);
  }
  korvet::GroupAdmin admin(source.store, keys);
  const auto groups = base::Run(admin.List());
  Add(reading, "groups", groups, Texts);
  std::set<std::string> names = source.Of("group");
  if (groups.ok()) names.insert(groups->begin(), groups->end());
  korvet::Coordinator coordinator(source.store, keys);
  for (const std::string& name : names) {
    Add(reading, name, base::Run(coordinator.Describe(name)),
        [](const korvet::CoordinatedGroup& group) {
          return absl::StrCat(static_cast<int>(group.state), " ", group.epoch, " ",
                              TextOf(group.assignment), " ", TextOf(group.target));
        });
    Add(reading, name, base::Run(admin.Describe(name)), [](const korvet::GroupDescription& group) {
      std::string text = absl::StrCat(static_cast<int>(group.state));
      for (const auto& each : group.partitions) {
        absl::StrAppend(&text, " ", each.topic, ":", each.partition, "@",
                        each.last_delivered_id.ToString(), "+", each.pending, "/",
                        each.members.size());
      }
      return text;
    });
    Add(reading, name, base::Run(admin.Offsets(name)), [](const auto& offsets) {
      std::string text;
      for (const korvet::GroupOffset& each : offsets) {
        absl::StrAppend(&text, " ", each.topic, ":", each.partition, "=",
                        each.progress.committed.value_or(-1), "/", each.progress.lag.total());
      }
      return text;
    });
  }
}

void ReadOrchestrator(const Source& source, Reading& reading) {
  const orchestrator::Keys keys(source.layout);
  orchestrator::Monitor monitor(source.store, keys);
  Add(reading, "depths", base::Run(monitor.Depths()), [](const orchestrator::QueueDepths& depths) {
    std::string text = absl::StrCat(depths.signals);
    for (const auto& each : depths.streams) {
      absl::StrAppend(&text, " ", each.type, "=", each.length);
      for (const auto& group : each.groups) {
        absl::StrAppend(&text, "/", group.info.name, ":", group.info.pending);
      }
    }
    for (const auto& each : depths.processing) {
      absl::StrAppend(&text, " ", each.consumer, "=", each.length);
    }
    return text;
  });
  orchestrator::Approvals approvals(source.store, source.clock, keys);
  for (const std::string& run : source.Of("run_id")) {
    Add(reading, run, base::Run(monitor.KeysOf(run)), [](const auto& of_run) {
      std::string text;
      for (const orchestrator::RunKey& each : of_run) {
        absl::StrAppend(&text, " ", each.key.substr(0, each.key.find(':')), "=",
                        each.ttl.expires() ? absl::FormatDuration(each.ttl.remaining()) : "none");
      }
      return text;
    });
    for (const std::string& id : source.Of("approval_id")) {
      const auto found = base::Run(approvals.Find(run, id));
      // The documented key does not name the run.
      if (found.ok() && *found && (*found)->run_id != run) continue;
      if (found.ok() && !*found) continue;
      Add(reading, absl::StrCat(run, "/", id), found, [](const auto& approval) {
        return absl::StrCat(approval->run_id, " ", approval->node_id, " ",
                            static_cast<int>(approval->status), " ", approval->approver);
      });
    }
  }
}

void ReadRelayna(const Source& source, Reading& reading) {
  relayna::FeedOptions feed_options;
  feed_options.key_layout = source.layout;
  relayna::ServiceEventFeed feed(source.store, feed_options);
  Add(reading, "feed", base::Run(feed.GetFeed({.limit = 1000})),
      [](const relayna::FeedPage& page) { return Json(page.items); });
  relayna::StatusOptions options;
  options.key_layout = source.layout;
  relayna::StatusStore statuses(source.store, options);
  for (const std::string& task : source.Of("task_id")) {
    Add(reading, task, base::Run(statuses.GetHistory(task)), Json);
    Add(reading, task, base::Run(statuses.GetChildTaskIds(task)), Texts);
  }
}

std::string TextOfPage(const studio::EventPage& page) {
  return absl::StrJoin(page.items, ",",
                       [](std::string* out, const studio::ControlPlaneEvent& event) {
                         absl::StrAppend(out, python::PyJson(studio::ToValue(event)).value_or("?"));
                       });
}

void ReadStudio(const Source& source, Reading& reading) {
  studio::EventStoreOptions options;
  options.key_layout = source.layout;
  studio::EventStore events(source.store, options);
  studio::SearchStoreOptions search_options;
  search_options.key_layout = source.layout;
  studio::SearchStore documents(source.store, search_options);
  Add(reading, "services", base::Run(documents.ServiceIds()), Texts);
  Add(reading, "tasks", base::Run(documents.TaskIds()), Texts);
  for (const std::string& service : source.Of("service_id")) {
    Add(reading, service, base::Run(events.ListServiceEvents(service)), TextOfPage);
    Add(reading, service, base::Run(events.GetActivitySnapshot(service)),
        [](const studio::ActivitySnapshot& snapshot) {
          return absl::StrCat(OrNone(snapshot.latest_status_event_at), " ",
                              OrNone(snapshot.latest_observation_event_at), " ",
                              OrNone(snapshot.latest_ingested_at));
        });
    Add(reading, service, base::Run(events.GetPullCursor(service)), OrNone);
    for (const std::string& task : source.Of("task_id")) {
      const studio::TaskName name = {service, task};
      Add(reading, task, base::Run(events.ListTaskEvents(name)), TextOfPage);
    }
  }
}

void ReadStatistics(const threescale::Process& process, const std::string& service,
                    const Source& source, Reading& reading) {
  threescale::StatsReader statistics(process);
  Add(reading, service, base::Run(statistics.Applications(service)), Texts);
  for (const std::string& metric : source.Of("metric_id")) {
    threescale::StatsQuery query;
    query.service_id = service;
    query.metric_id = metric;
    query.granularity = threescale::Granularity::kEternity;
    Add(reading, metric, base::Run(statistics.Total(query)), threescale::FormatInteger);
    for (const std::string& application : source.Of("application_id")) {
      query.application_id = application;
      Add(reading, absl::StrCat(metric, "/", application), base::Run(statistics.Total(query)),
          threescale::FormatInteger);
    }
  }
}

void ReadThreescale(const Source& source, Reading& reading) {
  threescale::Process process(source.store, source.clock);
  process.keys = threescale::Keys(source.layout);
  threescale::EventQueue events(process);
  Add(reading, "events", base::Run(events.List()), Texts);
  threescale::ServiceStore services(process);
  threescale::ApplicationStore applications(process);
  threescale::MetricStore metrics(process);
  threescale::ErrorLog errors(process);
  for (const std::string& service : source.Of("service_id")) {
    Add(reading, service, base::Run(services.LoadById(service)), [](const auto& found) {
      return found ? absl::StrCat(found->provider_key, " ", found->active, " ", found->is_default)
                   : std::string("none");
    });
    Add(reading, service, base::Run(metrics.LoadIds(service)), Texts);
    Add(reading, service, base::Run(errors.Count(service)),
        [](int64_t count) { return absl::StrCat(count); });
    for (const std::string& application : source.Of("application_id")) {
      const threescale::ApplicationRef ref = {service, application};
      Add(reading, application, base::Run(applications.Load(ref)), [](const auto& found) {
        return found ? absl::StrCat(found->state, " ", OrNone(found->plan_id), " ",
                                    OrNone(found->plan_name))
                     : std::string("none");
      });
      Add(reading, application, base::Run(applications.Keys(ref)), Texts);
    }
    ReadStatistics(process, service, source, reading);
  }
}

}  // namespace

Reading ReadSystem(std::string_view system, Store& store, base::Clock& clock, KeyLayout layout,
                   const Ids& ids) {
  static const auto& readers = *new std::map<std::string_view, void (*)(const Source&, Reading&)>{
      {"gateway", ReadGateway}, {"korvet", ReadKorvet}, {"orchestrator", ReadOrchestrator},
      {"relayna", ReadRelayna}, {"studio", ReadStudio}, {"threescale", ReadThreescale}};
  Reading reading;
  readers.at(system)({store, clock, layout, ids}, reading);
  return reading;
}

}  // namespace redouble::inline v0_1::tests
