#include "redouble/sim/storm/relayna/dead_letters.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/relayna/keys.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::sim {
namespace {

enum LetterPromise : size_t {
  kIsKept,
  kIsListedOnce,
  kIsPublishedOnce,
  kHasOneReplay,
  kMarkedIsPublished,
  kCountsReplays,
  kStaysExpired,
  kForgetsExpired,
};

constexpr double kHot = 0.7;
// An answer of the broker takes up to a minute.
constexpr int64_t kTickSeconds = 10;
constexpr uint64_t kMostTicks = 6;
constexpr const char* kQueue = "q.dlq";
constexpr const char* kRefusal = "the broker refuses the message";

constexpr absl::Duration kLock = absl::Seconds(relayna::kReplayLockTtlSeconds);

}  // namespace

std::vector<Promise> DeadLetters::Promises() {
  return {
      {"a dead letter that was acknowledged is in the list with its record until its TTL passes",
       {}},
      {"a dead letter is listed once", {{"R16", "add_once"}}},
      {"a message that was published is published again by a forced replay only",
       {{"R12", "mark_before_publish"}, {"R14", "mark_before_publish"}, {"R16", "add_once"}}},
      {"a dead letter has one replay at the broker while the lock of the replay lives",
       {{"R12", "owner_token"}}},
      // Only with mark_before_publish, which has no remedy for it.
      {"a message that is marked as replayed was published", {{"R14", ""}}},
      {"the replay count of a record has every replay", {{"R13", "atomic_marks"}}},
      {"a record that has expired does not come back", {{"R18", "atomic_marks"}}},
      {"an add forgets the ids of expired records", {{"R15", "forget_expired_ids"}}},
  };
}

// Takes longer than a lock lives at times, and refuses a part of the messages.
class DeadLetters::Broker final : public relayna::QueuePublisher {
 public:
  Broker(DeadLetters& letters, std::string id, size_t replay, base::Clock& clock, base::Rng& rng)
      : letters_(letters), id_(std::move(id)), replay_(replay), clock_(clock), rng_(rng) {}

  base::Task<absl::Status> Publish(relayna::QueueMessage) override {
    letters_.Arrive(id_, replay_);
    co_await clock_.Sleep(absl::Milliseconds(1));
    // Slow answers come in whole ticks, so that two replays of a letter can end at once.
    if (rng_.Chance(0.6)) {
      const absl::Time now = letters_.clock_.Now();
      const int64_t ticks = absl::ToUnixSeconds(now) / kTickSeconds + 1;
      const auto more = static_cast<int64_t>(rng_.Below(kMostTicks));
      co_await clock_.Sleep(absl::FromUnixSeconds((ticks + more) * kTickSeconds) - now);
    }
    const bool refuses = rng_.Chance(0.25);
    letters_.Leave(id_, replay_, !refuses);
    if (refuses) co_return absl::UnavailableError(kRefusal);
    co_return absl::OkStatus();
  }

 private:
  DeadLetters& letters_;
  const std::string id_;
  const size_t replay_;
  base::Clock& clock_;
  base::Rng& rng_;
};

DeadLetters::DeadLetters(store::Store& store, relayna::DlqOptions options, base::Clock& clock)
    : store_(store),
      options_(std::move(options)),
      keys_(options_.prefix, options_.key_layout),
      clock_(clock) {}

relayna::DlqRecord DeadLetters::RecordOf(const std::string& id, absl::Time now) const {
  relayna::DlqRecord record;
  record.dlq_id = id;
  record.queue_name = kQueue;
  record.source_queue_name = "q";
  record.retry_queue_name = "q.retry";
  record.task_id = "t1";
  record.reason = "handler_error";
  record.dead_lettered_at = {now};
  record.SetBody("{}");
  return record;
}

base::Task<absl::Status> DeadLetters::AddOnce(relayna::DlqStore& dlq, base::Clock& clock,
                                              const std::string& id) {
  const relayna::DlqRecord record = RecordOf(id, clock.Now());
  const absl::Status added = co_await dlq.Add(record);
  if (added.ok()) letters_[id].acknowledged = true;
  co_return added;
}

base::Task<void> DeadLetters::Add(relayna::DlqStore& dlq, base::Clock& clock, base::Rng& rng) {
  constexpr int kDeliveries = 3;
  const std::string id = absl::StrCat("d", letters_.size() + 1);
  letters_[id].sent = clock_.Now();
  for (int i = 0; i < kDeliveries; ++i) {
    const absl::Status added = co_await AddOnce(dlq, clock, id);
    if (added.ok() && !rng.Chance(0.2)) co_return;
    co_await clock.Sleep(absl::Seconds(static_cast<int64_t>(rng.Below(20))));
  }
}

// Reads the list in pages, as a person does who stops at a letter that is there again.
base::Task<void> DeadLetters::LookAt(relayna::DlqStore& dlq, base::Rng& rng) {
  relayna::DlqQuery query;
  query.limit = 2;
  query.state = relayna::DlqRecord::kDeadLettered;
  std::set<std::string> seen;
  while (true) {
    const auto page = co_await dlq.ListRecords(query);
    if (!page.ok() || !page->next_cursor || !seen.insert(*page->next_cursor).second) break;
    query.cursor = page->next_cursor;
  }
  if (!rng.Chance(0.3)) co_return;
  const auto summary = co_await dlq.SummarizeQueues();
  summary.status().IgnoreError();
}

base::Task<void> DeadLetters::Operate(relayna::DlqStore& dlq, base::Clock& clock,
                                      const std::string& actor, base::Rng& rng) {
  if (letters_.empty() || rng.Chance(0.2)) {
    co_await LookAt(dlq, rng);
  } else {
    co_await ReplayOne(dlq, clock, actor, rng);
  }
}

base::Task<void> DeadLetters::ReplayOne(relayna::DlqStore& dlq, base::Clock& clock,
                                        const std::string& actor, base::Rng& rng) {
  auto chosen = letters_.begin();
  if (!rng.Chance(kHot)) std::advance(chosen, rng.Below(letters_.size()));
  const std::string id = chosen->first;
  const bool force = rng.Chance(0.25);
  Letter& letter = chosen->second;
  const size_t index = letter.replays.size();
  letter.replays.push_back(
      {.actor = actor, .began = clock_.Now(), .begin = ++steps_, .forced = force});
  Broker broker(*this, id, index, clock, rng);
  relayna::DlqReplayService service(dlq, broker);
  const relayna::DlqReplayRequest request = {.dlq_id = id, .now = clock.Now(), .force = force};
  const auto result = co_await service.ReplayMessage(request);
  Replay& replay = letters_[id].replays[index];
  replay.end = ++steps_;
  replay.succeeded = result.ok() && result->has_value();
  // Another error comes from Redis: whether the mark was taken back is not known then.
  const bool took_back =
      absl::IsUnavailable(result.status()) && result.status().message() == kRefusal;
  if (!took_back) replay.refused = false;
}

void DeadLetters::Restart(const std::string& actor) {
  for (auto& [id, letter] : letters_) {
    for (Replay& replay : letter.replays) {
      if (replay.actor != actor || replay.end != INT64_MAX) continue;
      replay.end = ++steps_;
      replay.refused = false;
      replay.at_broker = false;
    }
  }
}

void DeadLetters::Arrive(const std::string& id, size_t replay) {
  Look();
  Letter& letter = letters_[id];
  Replay& arriving = letter.replays[replay];
  arriving.at_broker = true;
  bool alone = true;
  std::string what;
  for (const Replay& other : letter.replays) {
    if (&other == &arriving || !other.at_broker || other.life != letter.life) continue;
    // The lock is as old as the replay at most, and a key still exists at its deadline.
    if (clock_.Now() > other.began + kLock) continue;
    alone = false;
    what = absl::StrCat(id, ": ", other.actor, " and ", arriving.actor, " replay it");
  }
  arriving.life = letter.life;
  events_.push_back({kHasOneReplay, alone, "R12", what});
}

void DeadLetters::Leave(const std::string& id, size_t replay, bool published) {
  Letter& letter = letters_[id];
  Replay& leaving = letter.replays[replay];
  leaving.at_broker = false;
  leaving.refused = !published;
  if (!published) return;
  leaving.published = true;
  if (leaving.forced) return;
  const bool is_first = std::none_of(
      letter.replays.begin(), letter.replays.end(),
      [&](const Replay& other) { return &other != &leaving && Precedes(other, leaving); });
  events_.push_back({kIsPublishedOnce, is_first, ExplanationOf(letter, leaving),
                     absl::StrCat(id, " was published twice, last by ", leaving.actor)});
}

bool DeadLetters::Precedes(const Replay& other, const Replay& now) {
  // A forced replay may follow one that is still at the broker, and be faster.
  const bool follows = other.forced && other.begin > now.begin;
  return other.published && other.life == now.life && !follows;
}

std::string DeadLetters::ExplanationOf(const Letter& letter, const Replay& now) {
  if (letter.listed_twice) return "R16";
  std::string section = "R12";
  for (const Replay& other : letter.replays) {
    if (&other == &now || !Precedes(other, now)) continue;
    // Others were at the broker when this one claimed the record, or ended before.
    if (other.end > now.begin) continue;
    if (other.succeeded) return std::string(kUndocumented);
    section = "R14";
  }
  return section;
}

std::vector<std::string> DeadLetters::Listed() {
  return base::Run(store::LRange(store_, keys_.Records(), 0, -1)).value();
}

void DeadLetters::Observe() {
  if (!letters_.empty() && clock_.Now() != last_look_) Look();
}

void DeadLetters::Look() {
  last_look_ = clock_.Now();
  const std::vector<std::string> ids = Listed();
  for (auto& [id, letter] : letters_) {
    const auto times = std::count(ids.begin(), ids.end(), id);
    letter.listed = times > 0;
    letter.listed_twice = letter.listed_twice || times > 1;
    const auto text = base::Run(store::Get(store_, keys_.Record(id))).value();
    const bool returns = !letter.present && text && letter.gone;
    letter.gone = (letter.gone || letter.present) && !text;
    letter.present = text.has_value();
    if (!returns) continue;
    // An add writes a record that is not marked.
    const bool is_marked =
        relayna::ParseDlqRecord(*text).value().state == relayna::DlqRecord::kReplayed;
    if (!is_marked) ++letter.life;
    letter.came_back = letter.came_back || is_marked;
  }
}

base::Task<void> DeadLetters::Drain(relayna::DlqStore& dlq, base::Clock& clock) {
  for (const std::string& id : Listed()) {
    if (!base::Run(store::Exists(store_, keys_.Record(id))).value()) {
      expired_before_last_.insert(id);
    }
  }
  const std::string id = absl::StrCat("d", letters_.size() + 1);
  letters_[id].sent = clock_.Now();
  const absl::Status added = co_await AddOnce(dlq, clock, id);
  added.IgnoreError();
}

void DeadLetters::JudgeLetter(Verdicts& verdicts, size_t first, const std::string& id,
                              const Letter& letter) {
  if (letter.acknowledged && clock_.Now() < letter.sent + kTtl) {
    verdicts.Check(first + kIsKept, letter.present && letter.listed, kUndocumented,
                   absl::StrCat(id, letter.present ? " is not listed" : " has no record"));
  }
  verdicts.Check(first + kIsListedOnce, !letter.listed_twice, "R16",
                 absl::StrCat(id, " is in the list twice"));
  verdicts.Check(first + kStaysExpired, !letter.came_back, "R18",
                 absl::StrCat(id, " was there again after it had expired"));
  relayna::DlqStore dlq(store_, options_);
  const auto record = base::Run(dlq.Get(id));
  // A record that was written again has nothing of the replays before.
  if (!record.ok() || !record->has_value() || letter.listed_twice || letter.life > 0 ||
      letter.came_back) {
    return;
  }
  JudgeMarks(verdicts, first, letter, **record);
}

void DeadLetters::JudgeMarks(Verdicts& verdicts, size_t first, const Letter& letter,
                             const relayna::DlqRecord& record) {
  int64_t succeeded = 0;
  bool is_published = false;
  bool is_interrupted = false;
  for (const Replay& replay : letter.replays) {
    succeeded += replay.succeeded ? 1 : 0;
    is_published = is_published || replay.published;
    is_interrupted = is_interrupted || (!replay.succeeded && !replay.refused);
  }
  verdicts.Check(first + kCountsReplays, record.replay_count >= succeeded, "R13",
                 absl::StrCat(record.dlq_id, " has the count ", record.replay_count, " after ",
                              succeeded, " replays"));
  if (record.state != relayna::DlqRecord::kReplayed) return;
  const bool at_most_once = options_.hardening.mark_before_publish && is_interrupted;
  verdicts.Check(first + kMarkedIsPublished, is_published, at_most_once ? "R14" : kUndocumented,
                 absl::StrCat(record.dlq_id, " is marked and was not published"));
}

void DeadLetters::Judge(Verdicts& verdicts, size_t first) {
  Look();
  for (const auto& [id, letter] : letters_) JudgeLetter(verdicts, first, id, letter);
  for (const Event& event : events_) {
    verdicts.Check(first + event.promise, event.holds, event.section, event.what);
  }
  const std::vector<std::string> listed = Listed();
  const bool forgets = std::none_of(listed.begin(), listed.end(), [&](const std::string& id) {
    return expired_before_last_.contains(id);
  });
  verdicts.Check(first + kForgetsExpired, forgets, "R15", "the list has ids of expired records");
}

}  // namespace redouble::inline v0_1::sim
