#include "redouble/sim/storm/studio/studio_storm.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/python/value.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/core/studio/app/studio.h"
#include "redouble/core/studio/events/event_order.h"
#include "redouble/core/studio/keys.h"

namespace redouble::inline v0_1::sim {
namespace {

enum Role : size_t { kOperator, kPusher, kChecker, kSearcher };
enum PromiseIndex : size_t {
  kPairsAgree,
  kIdsAgree,
  kKeepsChanges,
  kSetsAgree,
  kIndexAgrees,
  kIsIndexed,
  kListed,
  kRises,
  kExpires,
  kForgets,
  kFound,
};

constexpr std::array<const char*, 3> kServices = {"a", "b", "c"};
constexpr std::array<const char*, 3> kUrls = {"http://x.test", "http://y.test", "http://z.test"};
constexpr std::array<const char*, 2> kEnvironments = {"prod", "test"};
constexpr std::array<const char*, 2> kTags = {"red", "blue"};
constexpr std::array<const char*, 3> kStatuses = {"queued", "running", "failed"};
constexpr std::array<const char*, 2> kTasks = {"t1", "t2"};
// The member that each operator changes beside the place of a service.
constexpr std::array<const char*, 3> kMembers = {"name", "auth_mode", "environment"};
constexpr double kHot = 0.7;

size_t Draw(base::Rng& rng, size_t count) { return rng.Chance(kHot) ? 0 : rng.Below(count); }

// The services offer nothing, so that each check of their health finds them unreachable.
class NoCapabilities final : public studio::CapabilityFetcher {
 public:
  base::Task<absl::StatusOr<studio::HttpResponse>> Fetch(std::string_view) override {
    co_return absl::UnavailableError("no answer");
  }
};
class NoWorkers final : public studio::WorkerHealthFetcher {
 public:
  base::Task<absl::StatusOr<std::string>> Fetch(std::string_view) override {
    co_return absl::UnavailableError("no answer");
  }
};
class NoFeed final : public studio::FeedSource {
 public:
  base::Task<absl::StatusOr<studio::FeedPage>> Fetch(std::string_view,
                                                     studio::FeedRequest) override {
    co_return studio::FeedPage();
  }
};

// What is known of a service. A deletion or a creation begins a new life, unless it was refused.
struct WatchedService {
  int lives = 0;
  int unresolved = 0;  // Deletions and creations whose outcome is not known.
  // By member, the value of the last change that succeeded; none while the outcome of one is
  // unknown.
  std::map<std::string, std::string> changed;
  std::set<std::string> indexed_tasks;  // Those with an event whose push succeeded.
};

class StudioWorkload final : public Storm {
 public:
  StudioWorkload(World& world, const StormVariant& variant)
      : world_(world), store_(world.ConnectToAll()) {
    const bool hardened = variant.hardened;
    settings_.key_layout = variant.key_layout;
    settings_.push_ingest_enabled = true;
    settings_.hardening = {.atomic_registry = hardened,
                           .atomic_event_insert = hardened,
                           .atomic_search_documents = hardened,
                           .index_duplicates = hardened,
                           .registered_services_only = hardened,
                           .sweep_task_sets = hardened,
                           .sweep_deleted_services = hardened};
    if (const absl::Status status = SetUp(); !status.ok()) world.ReportMistake(status);
  }

  base::Task<void> Act(Actor& actor, store::Store& store, size_t role, StormWork& work) override;
  base::Task<void> Drain(Actor& actor, store::Store& store) override;
  void Observe() override;
  void Judge(Verdicts& verdicts) override;

 private:
  std::unique_ptr<studio::Studio> MakeStudio(store::Store& store, base::Clock& clock) {
    const studio::StudioHttp http = {capabilities_, workers_, feed_};
    return studio::Studio::Create(store, clock, http, settings_).value();
  }
  absl::Status SetUp();
  // How many requests were executed twice.
  int64_t Duplicates() const;
  base::Task<void> Operate(Actor& actor, studio::Studio& studio, base::Rng& rng);
  base::Task<void> Change(size_t member, studio::Studio& studio, base::Rng& rng);
  base::Task<void> Push(Actor& actor, studio::Studio& studio, base::Rng& rng);
  base::Task<void> Check(Actor& actor, studio::Studio& studio, base::Rng& rng);
  // What a user of the web pages reads.
  base::Task<void> Search(Actor& actor, studio::Studio& studio, base::Rng& rng);

  std::vector<std::string> KeysLike(std::string_view pattern) {
    return base::Run(store::Keys(*store_, pattern)).value();
  }
  std::optional<std::string> ValueOf(const std::string& key) {
    return base::Run(store::Get(*store_, key)).value();
  }
  bool Has(const std::string& set, std::string_view member) {
    return base::Run(store::SIsMember(*store_, set, member)).value();
  }
  std::optional<studio::ServiceRecord> RecordOf(std::string_view id);
  void JudgeRegistry(Verdicts& verdicts);
  void JudgeServiceSets(Verdicts& verdicts, std::string_view id);
  void JudgeTaskSets(Verdicts& verdicts, studio::TaskName task);
  void JudgeIndex(Verdicts& verdicts);
  void JudgeSearch(Verdicts& verdicts);
  void JudgeEvents(Verdicts& verdicts);

  World& world_;
  const std::unique_ptr<store::Store> store_;
  studio::StudioSettings settings_;
  NoCapabilities capabilities_;
  NoWorkers workers_;
  NoFeed feed_;
  std::map<std::string, WatchedService, std::less<>> services_;
  int64_t values_ = 0;
  std::map<std::string, std::string> latest_;  // By key, the timestamp at the last look.
  int64_t looks_ = 0;
  std::string went_back_;
};

python::Value RequestOf(const std::string& id, const char* url, const char* environment,
                        const char* tag) {
  return python::Object({{"service_id", id},
                         {"name", "new"},
                         {"base_url", url},
                         {"environment", environment},
                         {"tags", python::Array({tag})},
                         {"auth_mode", "none"}});
}

// Registers a service for each URL.
absl::Status StudioWorkload::SetUp() {
  const std::unique_ptr<studio::Studio> studio = MakeStudio(*store_, world_.clock());
  absl::Status status;
  for (size_t i = 0; i < kServices.size(); ++i) {
    const python::Value request =
        RequestOf(kServices[i], kUrls[i], kEnvironments.front(), kTags.front());
    status.Update(base::Run(studio->registry().CreateService(request)).status());
  }
  return status;
}

base::Task<void> StudioWorkload::Act(Actor& actor, store::Store& store, size_t role,
                                     StormWork& work) {
  const std::unique_ptr<studio::Studio> studio = MakeStudio(store, actor.clock());
  while (std::optional<base::Rng> rng = work.Next()) {
    co_await actor.clock().Sleep(absl::Milliseconds(static_cast<int64_t>(rng->Below(400))));
    if (role == kOperator) co_await Operate(actor, *studio, *rng);
    if (role == kPusher) co_await Push(actor, *studio, *rng);
    if (role == kChecker) co_await Check(actor, *studio, *rng);
    if (role == kSearcher) co_await Search(actor, *studio, *rng);
  }
}

int64_t StudioWorkload::Duplicates() const {
  const std::map<std::string, int64_t> injected = world_.injected_faults();
  const auto found = injected.find("duplicate");
  return found == injected.end() ? 0 : found->second;
}

base::Task<void> StudioWorkload::Operate(Actor& actor, studio::Studio& studio, base::Rng& rng) {
  const std::string id = kServices[Draw(rng, kServices.size())];
  if (rng.Chance(0.75)) {
    const auto member = static_cast<size_t>(actor.name().back() - '0');
    co_await Change(member, studio, rng);
    co_return;
  }
  WatchedService& service = services_[id];
  ++service.unresolved;
  const int64_t duplicates = Duplicates();
  absl::Status status;
  if (rng.Chance(0.3)) {
    status = co_await studio.registry().DeleteService(id);
  } else {
    const python::Value request =
        RequestOf(id, kUrls[Draw(rng, kUrls.size())],
                  kEnvironments[rng.Below(kEnvironments.size())], kTags[rng.Below(kTags.size())]);
    const auto created = co_await studio.registry().CreateService(request);
    status = created.status();
  }
  const bool is_refused = absl::IsAlreadyExists(status) || absl::IsNotFound(status);
  if (!status.ok() && !is_refused) co_return;
  // A request that is delivered twice has its effect first, and is refused then.
  if (is_refused && Duplicates() > duplicates) co_return;
  --service.unresolved;
  if (is_refused) co_return;
  // What others did meanwhile may belong to either life.
  ++service.lives;
  service.changed.clear();
  service.indexed_tasks.clear();
}

// Changes the member that is the operator's own, and sometimes the place of the service.
base::Task<void> StudioWorkload::Change(size_t member, studio::Studio& studio, base::Rng& rng) {
  const std::string id = kServices[Draw(rng, kServices.size())];
  WatchedService& service = services_[id];
  const int life = service.lives;
  const std::string name = kMembers[member];
  std::string value = absl::StrCat("v", ++values_);
  if (name == "environment") value = kEnvironments[rng.Below(kEnvironments.size())];
  python::Value request = python::Object({{name, value}});
  if (rng.Chance(0.3)) {
    request = python::Object({{name, value}, {"base_url", kUrls[Draw(rng, kUrls.size())]}});
  }
  service.changed.erase(name);
  const auto updated = co_await studio.registry().UpdateService(id, request);
  if (updated.ok() && service.lives == life) service.changed[name] = value;
}

base::Task<void> StudioWorkload::Push(Actor& actor, studio::Studio& studio, base::Rng& rng) {
  constexpr int64_t kNoon = 1767268800;
  studio::EventEnvelope envelope;
  envelope.service_id = kServices[Draw(rng, kServices.size())];
  envelope.ingest_method = studio::IngestMethod::kPush;
  studio::ServiceEvent& event = envelope.event;
  event.task_id = kTasks[Draw(rng, kTasks.size())];
  event.event_id = absl::StrCat(actor.name(), "-", ++values_);
  event.cursor = *event.event_id;
  const std::string status = kStatuses[rng.Below(kStatuses.size())];
  event.event_type = absl::StrCat("status.", status);
  event.timestamp = absl::FormatTime(
      "%Y-%m-%dT%H:%M:%SZ", absl::FromUnixSeconds(kNoon + static_cast<int64_t>(rng.Below(1000))),
      absl::UTCTimeZone());
  event.payload = python::Object({{"status", status}});
  WatchedService& service = services_[envelope.service_id];
  const int life = service.lives;
  const std::array<studio::EventEnvelope, 1> envelopes = {envelope};
  const auto report = co_await studio.Push(envelopes);
  if (report.ok() && report->inserted == 1 && service.lives == life) {
    service.indexed_tasks.insert(event.task_id);
  }
}

base::Task<void> StudioWorkload::Check(Actor& actor, studio::Studio& studio, base::Rng& rng) {
  if (rng.Chance(0.3)) {
    const auto pruned = co_await studio.search().PruneExpired(actor.clock().Now());
    pruned.status().IgnoreError();
    co_return;
  }
  const std::string id = kServices[Draw(rng, kServices.size())];
  const auto health = co_await studio.health().RefreshHealth(id, actor.clock().Now());
  health.status().IgnoreError();
}

// The ids of the documents that a search finds, page by page.
base::Task<absl::StatusOr<std::vector<std::string>>> FindTasks(studio::SearchIndex& search,
                                                               studio::TaskQuery query,
                                                               absl::Time now) {
  constexpr size_t kMost = 20;  // More than there are tasks: a page comes again.
  query.limit = 1;
  std::vector<std::string> found;
  while (found.size() < kMost) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const studio::TaskPage page,
                                 co_await search.SearchTasks(query, now));
    for (const studio::TaskDocument& document : page.items) {
      found.push_back(studio::TaskDocumentId({document.service_id, document.task_id}));
    }
    if (!page.next_cursor) break;
    query.cursor = page.next_cursor;
  }
  co_return found;
}

base::Task<void> StudioWorkload::Search(Actor& actor, studio::Studio& studio, base::Rng& rng) {
  const std::string id = kServices[Draw(rng, kServices.size())];
  if (rng.Chance(0.4)) {
    studio::TaskQuery query;
    query.status = kStatuses[rng.Below(kStatuses.size())];
    if (rng.Chance(0.5)) query.service_id = id;
    const auto found = co_await FindTasks(studio.search(), query, actor.clock().Now());
    found.status().IgnoreError();
  } else if (rng.Chance(0.5)) {
    studio::ServiceQuery query;
    query.tag = kTags[rng.Below(kTags.size())];
    const auto found = co_await studio.search().SearchServices(query);
    found.status().IgnoreError();
  } else {
    studio::EventPageRequest page;
    page.limit = 2;
    const std::string task = kTasks[Draw(rng, kTasks.size())];
    const auto events = co_await studio.ingest().ListTaskEvents({id, task}, page);
    events.status().IgnoreError();
    const auto services = co_await studio.ListServices();
    services.status().IgnoreError();
  }
}

// A health round writes the search document of each service again, and a prune ends what is over.
base::Task<void> StudioWorkload::Drain(Actor& actor, store::Store& store) {
  co_await actor.clock().Sleep(absl::Minutes(1));
  const std::unique_ptr<studio::Studio> studio = MakeStudio(store, actor.clock());
  const auto round = co_await studio->health().RefreshAll(actor.clock().Now());
  if (!round.ok()) world_.ReportMistake(round.status());
  const auto pruned = co_await studio->search().PruneExpired(actor.clock().Now());
  if (!pruned.ok()) world_.ReportMistake(pruned.status());
}

void StudioWorkload::Observe() {
  ++looks_;
  for (const std::string& key : KeysLike("studio:events:*latest-*timestamp")) {
    // The time of an insert is that of the process.
    if (key.find("latest-ingested") != std::string::npos) continue;
    const std::string now = ValueOf(key).value_or("");
    std::string& before = latest_[key];
    if (!before.empty() && studio::IsEarlier(now, before)) {
      went_back_ = absl::StrCat(key, " went from ", before, " to ", now);
    }
    before = now;
  }
}

std::optional<studio::ServiceRecord> StudioWorkload::RecordOf(std::string_view id) {
  const auto json = ValueOf(studio::RegistryKeys().Record(id));
  if (!json) return std::nullopt;
  return studio::ParseServiceRecord(*json).value();
}

void StudioWorkload::JudgeRegistry(Verdicts& verdicts) {
  const studio::RegistryKeys keys;
  std::set<std::string> pairs;
  for (const std::string id : kServices) {
    const auto record = RecordOf(id);
    verdicts.Check(kIdsAgree, Has(keys.All(), id) == record.has_value(), record ? "G5" : "G4",
                   absl::StrCat(id, record ? " is not in the set" : " has no record"));
    if (!record) continue;
    const std::string pair = keys.EnvironmentUrl(record->environment, record->base_url);
    pairs.insert(pair);
    const auto owner = ValueOf(pair);
    verdicts.Check(kPairsAgree, owner == id, owner ? "G1" : "G5",
                   absl::StrCat(pair, " names ", owner.value_or("no service"), ", not ", id));
    const WatchedService& service = services_[id];
    if (service.unresolved > 0) continue;
    for (const auto& [member, value] : service.changed) {
      const std::string& actual = member == "name"        ? record->name
                                  : member == "auth_mode" ? record->auth_mode
                                                          : record->environment;
      verdicts.Check(kKeepsChanges, actual == value, "G7",
                     absl::StrCat(id, " has the ", member, " ", actual, ", not ", value));
    }
  }
  for (const std::string& pair : KeysLike("studio:services:by-env-url:*")) {
    verdicts.Check(kPairsAgree, pairs.contains(pair), "G6",
                   absl::StrCat(pair, " names a service that does not have it"));
  }
}

void StudioWorkload::JudgeServiceSets(Verdicts& verdicts, std::string_view id) {
  const studio::SearchKeys keys;
  const auto json = ValueOf(keys.ServiceDocument(id));
  std::optional<studio::ServiceDocument> document;
  if (json) document = studio::ParseServiceDocument(*json).value();
  const auto check = [&](const char* field, std::string_view value, bool expected) {
    const bool actual = Has(keys.ServiceFilter(field, value), id);
    verdicts.Check(kSetsAgree, actual == expected, actual ? "S1" : "S5",
                   absl::StrCat("service ", std::string(id), ", ", field, " ", std::string(value)));
  };
  for (const char* environment : kEnvironments) {
    check("environment", environment, document && document->environment == environment);
  }
  for (const char* tag : kTags) {
    const bool is_tagged = document && std::find(document->tags.begin(), document->tags.end(),
                                                 tag) != document->tags.end();
    check("tag", tag, is_tagged);
  }
}

void StudioWorkload::JudgeTaskSets(Verdicts& verdicts, studio::TaskName task) {
  const studio::SearchKeys keys;
  const std::string id = studio::TaskDocumentId(task);
  const auto json = ValueOf(keys.TaskDocument(id));
  std::optional<studio::TaskDocument> document;
  if (json) document = studio::ParseTaskDocument(*json).value();
  for (const char* status : kStatuses) {
    const bool expected = document && document->status == status;
    const bool actual = Has(keys.TaskFilter("status", status), id);
    verdicts.Check(kSetsAgree, actual == expected, actual ? "S1" : "S5",
                   absl::StrCat("task ", std::string(task.task_id), " of ",
                                std::string(task.service_id), ", status ", status));
  }
  const bool is_registered = RecordOf(task.service_id).has_value();
  const WatchedService& service = services_[std::string(task.service_id)];
  if (is_registered && service.unresolved == 0 &&
      service.indexed_tasks.contains(std::string(task.task_id))) {
    verdicts.Check(kIsIndexed, document.has_value(), kUndocumented,
                   absl::StrCat("task ", std::string(task.task_id), " is not in the index"));
  }
}

// The documents of services after a health round and a prune.
void StudioWorkload::JudgeIndex(Verdicts& verdicts) {
  const studio::SearchKeys keys;
  for (const std::string id : kServices) {
    JudgeServiceSets(verdicts, id);
    for (const std::string task : kTasks) JudgeTaskSets(verdicts, {id, task});
    const auto record = RecordOf(id);
    const auto json = ValueOf(keys.ServiceDocument(id));
    if (!record) {
      verdicts.Check(kForgets, !json, "S8", absl::StrCat(id, " is deleted and has a document"));
    }
    // A record that no list shows has no health round.
    if (!record || !Has(studio::RegistryKeys().All(), id)) continue;
    if (!json) {
      verdicts.Break(kIndexAgrees, kUndocumented, absl::StrCat(id, " has no search document"));
      continue;
    }
    const studio::ServiceDocument document = studio::ParseServiceDocument(*json).value();
    const bool agrees = document.name == record->name && document.base_url == record->base_url &&
                        document.environment == record->environment &&
                        document.tags == record->tags && document.auth_mode == record->auth_mode;
    verdicts.Check(kIndexAgrees, agrees, kUndocumented,
                   absl::StrCat(id, " is found as ", document.name, " and not ", record->name));
  }
}

// A search finds what the documents say, whole and once.
void StudioWorkload::JudgeSearch(Verdicts& verdicts) {
  const studio::SearchKeys keys;
  const std::unique_ptr<studio::Studio> studio = MakeStudio(*store_, world_.clock());
  for (const char* status : kStatuses) {
    studio::TaskQuery query;
    query.status = status;
    const auto found = base::Run(FindTasks(studio->search(), query, world_.clock().Now())).value();
    for (const std::string service : kServices) {
      for (const std::string task : kTasks) {
        const std::string id = studio::TaskDocumentId({service, task});
        const auto json = ValueOf(keys.TaskDocument(id));
        const bool has_it = json && studio::ParseTaskDocument(*json).value().status == status;
        const auto times = std::count(found.begin(), found.end(), id);
        verdicts.Check(kFound, times == (has_it ? 1 : 0), times > 0 ? "S1" : "S5",
                       absl::StrCat("task ", task, " of ", service, " is found ", times,
                                    " times by the status ", status));
      }
    }
  }
}

void StudioWorkload::JudgeEvents(Verdicts& verdicts) {
  std::set<std::string> listed;
  for (const std::string& list : KeysLike("studio:events:*:history")) {
    const auto ids = base::Run(store::LRange(*store_, list, 0, -1)).value();
    if (list.find(":task:") != std::string::npos) listed.insert(ids.begin(), ids.end());
  }
  const std::string prefix = "studio:events:event:";
  for (const std::string& key : KeysLike(prefix + "*")) {
    // In the cluster layout the tag of the service comes first.
    const size_t tag_end = key.find("}:");
    const size_t id = tag_end == std::string::npos ? prefix.size() : tag_end + 2;
    verdicts.Check(kListed, listed.contains(key.substr(id)), "E2",
                   absl::StrCat(key, " is in no list"));
  }
  for (const std::string& key : KeysLike("studio:events:*")) {
    verdicts.Check(kExpires, base::Run(store::TimeToLive(*store_, key)).value().expires(),
                   kUndocumented, absl::StrCat(key, " has no TTL"));
  }
}

void StudioWorkload::Judge(Verdicts& verdicts) {
  JudgeRegistry(verdicts);
  JudgeIndex(verdicts);
  JudgeSearch(verdicts);
  JudgeEvents(verdicts);
  for (int64_t i = 1; i < looks_; ++i) verdicts.Keep(kRises);
  verdicts.Check(kRises, went_back_.empty(), "E1", went_back_);
}

std::vector<Promise> Promises() {
  const std::string registry = "atomic_registry";
  const std::string documents = "atomic_search_documents";
  return {
      {"a pair of environment and URL names the service that has it, and every service has its "
       "pair",
       {{"G1", registry}, {"G5", registry}, {"G6", registry}}},
      {"an id is in the set of ids exactly when its record exists",
       {{"G4", registry}, {"G5", registry}}},
      {"a change of a service that succeeded stays", {{"G7", registry}}},
      {"a document is in the sets of its values and in no other set",
       {{"S1", documents}, {"S5", documents}}},
      {"after a health round the search document of a service agrees with its record", {}},
      {"a task whose event was ingested is in the index", {}},
      {"an event that is stored is in the list of its task", {{"E2", "atomic_event_insert"}}},
      {"a latest timestamp does not go back", {{"E1", "atomic_event_insert"}}},
      {"every key of an event expires", {}},
      {"after a prune a deleted service has no search document",
       {{"S8", "sweep_deleted_services"}}},
      {"a search for a status finds each task that has it once, and no other task",
       {{"S1", documents}, {"S5", documents}}},
  };
}

}  // namespace

StormSystem StudioStorm() {
  return {.name = "studio",
          .promises = Promises(),
          .roles = {{.name = "operator", .least = 2, .most = 3, .operations = 8},
                    {.name = "pusher", .least = 1, .most = 3, .operations = 6},
                    {.name = "checker", .least = 0, .most = 2, .operations = 5},
                    {.name = "searcher", .least = 0, .most = 1, .operations = 4}},
          // Studio keeps all its state in Redis; no document says what remains if Redis loses it.
          .faults = ClientFaults(),
          .documented_layout_only = {"atomic_registry", "atomic_search_documents",
                                     "sweep_deleted_services"},
          .make = [](World& world, const StormVariant& variant) -> std::unique_ptr<Storm> {
            return std::make_unique<StudioWorkload>(world, variant);
          }};
}

}  // namespace redouble::inline v0_1::sim
