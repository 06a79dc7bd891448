#include "redouble/core/korvet/topics/topic_steps.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/scripts/script_texts.h"
#include "redouble/core/korvet/topics/topic_hash.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/hashes.h"
#include "redouble/core/store/typed/sets.h"

namespace redouble::inline v0_1::korvet {
namespace {

using store::Batch;
using store::CommandId;
using store::Reply;

// How long a copy keeps the epoch of a deleted topic.
constexpr int64_t kDroppedMs = 24 * 60 * 60 * 1000;
// Partitions whose scripts are one pipeline.
constexpr int32_t kPage = 1000;
// How often a creation raises its epoch above those of copies that an earlier topic left.
constexpr int kMostRaises = 3;

// The text of a script that replaces a hash.
std::string WithReplaceHash(std::string_view text) {
  return absl::StrCat(base::ToAbsl(kReplaceHashText), base::ToAbsl(text));
}

// KEYS: the topic's hash. ARGV: the step, the topic's id in both forms, and the step's arguments:
//
//   "claim"               the number of partitions, then the other fields and values
//   "raise"               the epoch of the claim, and the epoch of a copy
//   "reveal", "removed"   the epoch
//   "remove"              "unmade" to remove a half-made topic too, otherwise "made"
//   "add", "added"        the total
//   "settle"              the value type
//   "alter"               fields and values
//   "discard"             none
//
// Replies {0, value...}; {36} the name is in use; {3} no topic, or not in the state that the step
// needs; {103} another topic; {37, n} the total is not above n; {-1, field} an unreadable field.
const store::Script& StepScript() {
  static const store::Script& script = *new store::Script(WithReplaceHash(kTopicStepText));
  return script;
}

// KEYS: a partition's copy and its stream. ARGV: the epoch, "make" or "renew", fields and values,
// beginning with the id. Replies -1 if it wrote the copy, and 0 if the copy has this epoch and id.
// Otherwise it replies the epoch of the copy, which is greater, or equal and of another topic.
// "make" also removes the stream.
const store::Script& WriteCopyScript() {
  static const store::Script& script = *new store::Script(WithReplaceHash(kWriteCopyText));
  return script;
}

// KEYS: a partition's copy and its stream. ARGV: the epoch; for how many milliseconds the copy
// keeps it. Replies 0 if the copy has a greater epoch, otherwise 1.
const store::Script& DropScript() {
  static const store::Script& script = *new store::Script(WithReplaceHash(kDropPartitionText));
  return script;
}

// KEYS: the set of names, the index of ids. ARGV: the name, ids. Replies how many entries it
// removed.
const store::Script& UnlistScript() {
  static const store::Script& script = *new store::Script(std::string(kUnlistTopicText));
  return script;
}

absl::Status UnexpectedReply() {
  return store::ProtocolError("a script of topics answered something else");
}

absl::StatusOr<int64_t> NumberAt(std::span<const Reply> answer, size_t index) {
  if (index < answer.size() && answer[index].is_integer()) return answer[index].integer();
  return UnexpectedReply();
}

// Whether a step failed because the topic was deleted or replaced.
bool IsGone(const absl::Status& status) {
  const ErrorCode code = ErrorCodeOf(status);
  return code == ErrorCode::kUnknownTopicOrPartition || code == ErrorCode::kInconsistentTopicId;
}

absl::StatusOr<int32_t> PartitionsOf(int64_t number) {
  if (number >= 0 && number <= std::numeric_limits<int32_t>::max()) {
    return static_cast<int32_t>(number);
  }
  return UnexpectedReply();
}

// What a script that runs once for each partition needs while its batch is executed.
struct PartitionCall {
  std::vector<std::string> keys;
  std::vector<std::string_view> key_views;
};

absl::StatusOr<PartitionCall> CallOf(const Keys& keys, TopicPartition partition) {
  PartitionCall call;
  REDOUBLE_ASSIGN_OR_RETURN(std::string copy, keys.Metadata(partition));
  REDOUBLE_ASSIGN_OR_RETURN(std::string stream, keys.Stream(partition));
  call.keys = {std::move(copy), std::move(stream)};
  return call;
}

}  // namespace

base::Task<absl::StatusOr<std::vector<Reply>>> TopicSteps::Step(
    std::string_view step, const Topic& topic, std::vector<std::string> arguments) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys_.Topic(topic.name));
  const std::string id = topic.id.ToString();
  const std::string uuid = topic.id.ToUuid();
  std::vector<std::string_view> words = {step, id, uuid};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::vector<std::string_view> keys = {key};
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<Reply> answer,
                               store::DecodeArray(co_await StepScript().Run(store_, keys, words)));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t code, NumberAt(answer, 0));
  switch (static_cast<ErrorCode>(code)) {
    case ErrorCode::kNone:
      answer.erase(answer.begin());
      co_return answer;
    case ErrorCode::kTopicAlreadyExists:
      co_return MakeError(ErrorCode::kTopicAlreadyExists,
                          absl::StrCat("there is a topic ", topic.name));
    case ErrorCode::kUnknownTopicOrPartition:
      co_return NoSuchTopic(topic.name);
    case ErrorCode::kInconsistentTopicId:
      co_return AnotherTopic(topic.name);
    case ErrorCode::kInvalidPartitions: {
      REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t current, NumberAt(answer, 1));
      // The total is the only argument.
      const std::optional<int64_t> total = base::ParseInt64(arguments.front());
      co_return NotMorePartitions(topic.name, current, static_cast<int32_t>(total.value_or(0)));
    }
    case ErrorCode::kUnknownServerError:
      co_return UnreadableHash(topic.name, "partitions is not a number");
    default:
      co_return UnexpectedReply();
  }
}

// One pipeline for each page.
base::Task<absl::StatusOr<std::vector<int64_t>>> TopicSteps::RunOnPartitions(
    const store::Script& script, std::string_view topic, Copies range,
    std::span<const std::string_view> arguments) {
  std::vector<int64_t> numbers;
  for (int32_t begin = range.first; begin < range.last;) {
    const int32_t end = range.last - begin > kPage ? begin + kPage : range.last;
    std::vector<PartitionCall> calls;
    Batch batch(Batch::Atomicity::kPipeline);
    for (int32_t partition = begin; partition < end; ++partition) {
      REDOUBLE_CO_ASSIGN_OR_RETURN(PartitionCall call, CallOf(keys_, {topic, partition}));
      calls.push_back(std::move(call));
    }
    for (PartitionCall& call : calls) {
      call.key_views.assign(call.keys.begin(), call.keys.end());
      script.AddTo(batch, call.key_views, arguments);
    }
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> replies,
                                 co_await store::Execute(store_, batch));
    for (const Reply& reply : replies) {
      REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t number, store::DecodeInteger(reply));
      numbers.push_back(number);
    }
    begin = end;
  }
  co_return numbers;
}

base::Task<absl::StatusOr<TopicSteps::CopiesWritten>> TopicSteps::WriteCopies(const Topic& topic,
                                                                              Copies copies) {
  const std::string epoch = base::FormatInt64(topic.epoch);
  const std::vector<ConfigField> fields = HashOf(topic);
  std::vector<std::string_view> arguments = {epoch, copies.is_new ? "make" : "renew"};
  for (const auto& [field, value] : fields) {
    arguments.push_back(field);
    arguments.push_back(value);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const std::vector<int64_t> outcomes,
      co_await RunOnPartitions(WriteCopyScript(), topic.name, copies, arguments));
  CopiesWritten written;
  for (const int64_t outcome : outcomes) {
    written.count += outcome < 0 ? 1 : 0;
    written.greatest = std::max(written.greatest, outcome);
  }
  co_return written;
}

base::Task<absl::StatusOr<Topic>> TopicSteps::Create(Topic topic) {
  std::vector<std::string> claim = {base::FormatInt64(topic.partitions)};
  for (const auto& [field, value] : HashOf(topic)) {
    // The claim writes the id, and the last step the number of partitions.
    if (field == kTopicId || field == kTopicPartitions) continue;
    claim.push_back(field);
    claim.push_back(value);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> claimed,
                               co_await Step("claim", topic, std::move(claim)));
  REDOUBLE_CO_ASSIGN_OR_RETURN(topic.epoch, NumberAt(claimed, 0));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await WriteClaimed(topic));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await ListTopic(topic));
  std::vector<std::string> reveal = {base::FormatInt64(topic.epoch)};
  REDOUBLE_CO_RETURN_IF_ERROR((co_await Step("reveal", topic, std::move(reveal))).status());
  co_return topic;
}

base::Task<absl::Status> TopicSteps::WriteClaimed(Topic& topic) {
  const Copies all = {0, topic.partitions, /*is_new=*/true};
  for (int raises = 0;; ++raises) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const CopiesWritten written, co_await WriteCopies(topic, all));
    if (written.greatest == 0) co_return absl::OkStatus();
    if (raises == kMostRaises) {
      co_return MakeError(
          ErrorCode::kUnknownServerError,
          absl::StrCat("the partitions of topic ", topic.name, " have newer epochs than its hash"));
    }
    // An earlier topic of the name was deleted within the last day, and its epoch is greater: the
    // clock of Redis was set back, or no millisecond has passed.
    std::vector<std::string> raise = {base::FormatInt64(topic.epoch),
                                      base::FormatInt64(written.greatest)};
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> raised,
                                 co_await Step("raise", topic, std::move(raise)));
    REDOUBLE_CO_ASSIGN_OR_RETURN(topic.epoch, NumberAt(raised, 0));
  }
}

// The set and the index have one tag.
base::Task<absl::Status> TopicSteps::ListTopic(const Topic& topic) {
  const std::string id = topic.id.ToString();
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kSAdd, {keys_.Topics(), topic.name});
  batch.Add(CommandId::kHSet, {keys_.TopicIds(), id, topic.name});
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> replies,
                               co_await store::Execute(store_, batch));
  co_return store::FirstError(replies);
}

base::Task<absl::StatusOr<bool>> TopicSteps::Unlist(std::string name,
                                                    std::vector<std::string> ids) {
  const std::vector<std::string_view> keys = {keys_.Topics(), keys_.TopicIds()};
  std::vector<std::string_view> arguments = {name};
  arguments.insert(arguments.end(), ids.begin(), ids.end());
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const int64_t removed,
      store::DecodeInteger(co_await UnlistScript().Run(store_, keys, arguments)));
  co_return removed > 0;
}

base::Task<absl::StatusOr<std::optional<TopicSteps::Removal>>> TopicSteps::StartRemoval(
    const Topic& topic, bool also_half_made) {
  std::vector<std::string> arguments = {also_half_made ? "unmade" : "made"};
  const absl::StatusOr<std::vector<Reply>> started =
      co_await Step("remove", topic, std::move(arguments));
  if (IsGone(started.status())) co_return std::nullopt;
  REDOUBLE_CO_RETURN_IF_ERROR(started.status());
  Removal removal;
  REDOUBLE_CO_ASSIGN_OR_RETURN(removal.epoch, NumberAt(*started, 0));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t number, NumberAt(*started, 1));
  REDOUBLE_CO_ASSIGN_OR_RETURN(removal.partitions, PartitionsOf(number));
  co_return removal;
}

base::Task<absl::Status> TopicSteps::FinishRemoval(const Topic& topic, Removal removal) {
  std::vector<std::string> ids = {topic.id.ToString(), topic.id.ToUuid()};
  REDOUBLE_CO_RETURN_IF_ERROR((co_await Unlist(topic.name, std::move(ids))).status());
  const std::string epoch = base::FormatInt64(removal.epoch);
  const std::string kept = base::FormatInt64(kDroppedMs);
  const std::vector<std::string_view> arguments = {epoch, kept};
  const Copies all = {0, removal.partitions};
  REDOUBLE_CO_RETURN_IF_ERROR(
      (co_await RunOnPartitions(DropScript(), topic.name, all, arguments)).status());
  std::vector<std::string> last = {epoch};
  const absl::Status removed = (co_await Step("removed", topic, std::move(last))).status();
  // Another process finished the same deletion.
  if (IsGone(removed)) co_return absl::OkStatus();
  co_return removed;
}

base::Task<absl::Status> TopicSteps::Delete(std::string name) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys_.Topic(name));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<std::string> id_text,
                               co_await store::HGet(store_, key, kTopicId));
  if (!id_text) co_return NoSuchTopic(name);
  Topic topic;
  topic.name = name;
  REDOUBLE_CO_ASSIGN_OR_RETURN(topic.id, ReadTopicId(name, *id_text));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<Removal> removal,
                               co_await StartRemoval(topic, /*also_half_made=*/false));
  if (!removal) co_return NoSuchTopic(name);
  co_return co_await FinishRemoval(topic, *removal);
}

base::Task<absl::Status> TopicSteps::AddPartitions(Topic topic, int32_t total) {
  const std::string text = base::FormatInt64(total);
  std::vector<std::string> add = {text};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> claimed,
                               co_await Step("add", topic, std::move(add)));
  if (claimed.size() != 2) co_return UnexpectedReply();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<ConfigField> fields,
                               store::DecodePairs(claimed[1]));
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<Topic> now,
                               TopicOfHash(topic.name, fields, keys_.layout()));
  if (!now) co_return UnexpectedReply();
  const int32_t before = std::exchange(now->partitions, total);
  // A producer that learns the number from an old partition can write to the new ones.
  const Copies added = {before, total};
  const Copies old = {0, before};
  for (const Copies& copies : {added, old}) {
    REDOUBLE_CO_RETURN_IF_ERROR((co_await WriteCopies(*now, copies)).status());
  }
  std::vector<std::string> last = {text};
  co_return (co_await Step("added", topic, std::move(last))).status();
}

base::Task<absl::Status> TopicSteps::AlterConfig(Topic topic, std::vector<ConfigField> fields) {
  std::vector<std::string> words;
  for (const auto& [field, value] : fields) {
    words.push_back(field);
    words.push_back(value);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> altered,
                               co_await Step("alter", topic, std::move(words)));
  if (altered.size() != 2) co_return UnexpectedReply();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<ConfigField> now_fields,
                               store::DecodePairs(altered[1]));
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<Topic> now,
                               TopicOfHash(topic.name, now_fields, keys_.layout()));
  if (!now) co_return UnexpectedReply();
  // The copies of partitions that are being added need the options as well, because they ignore
  // later steps of the addition: its epoch is below the epoch of this change.
  const std::string* const adding = FieldOf(now_fields, kTopicAdding);
  if (adding != nullptr) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int32_t total,
                                 PartitionsOf(base::ParseInt64(*adding).value_or(-1)));
    now->partitions = std::max(now->partitions, total);
  }
  const Copies all = {0, now->partitions};
  co_return (co_await WriteCopies(*now, all)).status();
}

base::Task<absl::StatusOr<ValueType>> TopicSteps::SettleValueType(const Topic& topic,
                                                                  ValueType proposed) {
  std::vector<std::string> arguments = {std::string(ValueTypeName(proposed))};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> settled,
                               co_await Step("settle", topic, std::move(arguments)));
  if (settled.size() != 1 || !settled[0].is_bulk()) co_return UnexpectedReply();
  const std::optional<ValueType> type = FindValueType(settled[0].text());
  if (type) co_return *type;
  co_return UnreadableHash(
      topic.name,
      absl::StrCat("valueType is \"", absl::CEscape(base::ToAbsl(settled[0].text())), "\""));
}

base::Task<absl::StatusOr<std::vector<std::string>>> TopicSteps::List() {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<std::string> names,
                               co_await store::SMembers(store_, keys_.Topics()));
  std::sort(names.begin(), names.end());
  Batch batch(Batch::Atomicity::kPipeline);
  for (const std::string& name : names) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::string key, keys_.Topic(name));
    batch.Add(CommandId::kHMGet).AddOwned(std::move(key)).Add(kTopicId).Add(kTopicPartitions);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> replies,
                               co_await store::Execute(store_, batch));
  std::vector<std::string> visible;
  for (size_t i = 0; i < names.size(); ++i) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto fields, store::DecodeStringsOrNil(replies[i]));
    if (fields.size() == 2 && fields[0] && fields[1]) visible.push_back(std::move(names[i]));
  }
  co_return visible;
}

base::Task<absl::StatusOr<bool>> TopicSteps::RepairVisible(Topic topic, int32_t adding) {
  bool changed = false;
  if (adding > topic.partitions) {
    const absl::Status added = co_await AddPartitions(topic, adding);
    REDOUBLE_CO_RETURN_IF_ERROR(added);
    REDOUBLE_CO_RETURN_IF_ERROR(co_await RefreshTopic(store_, keys_, topic));
    changed = true;
  }
  const Copies all = {0, topic.partitions};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const CopiesWritten written, co_await WriteCopies(topic, all));
  changed = changed || written.count > 0;
  if (written.greatest > 0 || topic.epoch == 0) {
    // A failover has lost the newest epoch of the hash.
    REDOUBLE_CO_RETURN_IF_ERROR(co_await AlterConfig(topic, {}));
    changed = true;
  }
  const std::string id = topic.id.ToString();
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kSIsMember, {keys_.Topics(), topic.name});
  batch.Add(CommandId::kHExists, {keys_.TopicIds(), id});
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> listed,
                               co_await store::Execute(store_, batch));
  for (const Reply& reply : listed) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const bool is_there, store::DecodeBool(reply));
    if (is_there) continue;
    REDOUBLE_CO_RETURN_IF_ERROR(co_await ListTopic(topic));
    changed = true;
  }
  co_return changed;
}

base::Task<absl::StatusOr<bool>> TopicSteps::Repair(std::string name) {
  // The index is read first: what a creator that is running adds is then not among the ids.
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<ConfigField> index,
                               co_await store::HGetAll(store_, keys_.TopicIds()));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys_.Topic(name));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<ConfigField> fields,
                               co_await store::HGetAll(store_, key));
  const std::string* const id_text = FieldOf(fields, kTopicId);
  const bool is_rest = FieldOf(fields, kTopicPartitions) == nullptr &&
                       FieldOf(fields, kTopicMaking) == nullptr &&
                       FieldOf(fields, kTopicRemoving) == nullptr;
  std::vector<std::string> stale;
  for (const auto& [id, of_name] : index) {
    const bool is_own = id_text != nullptr && id == *id_text && !is_rest;
    if (of_name == name && !is_own) stale.push_back(id);
  }
  bool changed = false;
  if (!stale.empty() || fields.empty()) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(changed, co_await Unlist(name, std::move(stale)));
  }
  if (fields.empty()) co_return changed;
  Topic topic;
  topic.name = name;
  if (id_text == nullptr || is_rest) {
    REDOUBLE_CO_RETURN_IF_ERROR((co_await Step("discard", topic, {})).status());
    std::vector<std::string> none;
    REDOUBLE_CO_RETURN_IF_ERROR((co_await Unlist(name, std::move(none))).status());
    co_return true;
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(topic.id, ReadTopicId(name, *id_text));
  if (FieldOf(fields, kTopicPartitions) == nullptr) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<Removal> removal,
                                 co_await StartRemoval(topic, /*also_half_made=*/true));
    if (!removal) co_return changed;
    REDOUBLE_CO_RETURN_IF_ERROR(co_await FinishRemoval(topic, *removal));
    co_return true;
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<Topic> visible,
                               TopicOfHash(name, fields, keys_.layout()));
  const std::string* const adding = FieldOf(fields, kTopicAdding);
  const int64_t total = adding == nullptr ? 0 : base::ParseInt64(*adding).value_or(0);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int32_t wanted, PartitionsOf(total));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool completed,
                               co_await RepairVisible(*std::move(visible), wanted));
  co_return changed || completed;
}

base::Task<absl::Status> TopicSteps::RenewPartition(Topic& topic, int32_t partition) {
  REDOUBLE_CO_RETURN_IF_ERROR(co_await RefreshTopic(store_, keys_, topic));
  if (partition >= topic.partitions) {
    co_return MakeError(ErrorCode::kUnknownTopicOrPartition,
                        absl::StrCat("the topic ", topic.name, " has ", topic.partitions,
                                     " partitions, so no partition ", partition));
  }
  const Copies one = {partition, partition + 1};
  co_return (co_await WriteCopies(topic, one)).status();
}

base::Task<absl::StatusOr<int64_t>> TopicSteps::RenewPartitions(const Topic& topic) {
  const Copies all = {0, topic.partitions};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const CopiesWritten written, co_await WriteCopies(topic, all));
  co_return written.count;
}

}  // namespace redouble::inline v0_1::korvet
