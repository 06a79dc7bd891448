// Unions, intersections and differences of sorted sets, and of sets, whose members have the score
// 1.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/commands/reply_array.h"
#include "redouble/backends/memory/commands/sorted_sets/sorted_set_replies.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/values/set.h"
#include "redouble/backends/memory/values/sorted_set.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

using Elements = std::vector<SortedSet::Element>;

enum class Operation { kUnion, kInter, kDiff };

enum class Aggregate { kSum, kMin, kMax };

enum class Outcome { kMembers, kStored, kCount };

// One row for each command: its name in errors (its event, if it stores), and its operation.
struct OperationRow {
  std::string_view name;
  Operation operation;
  Outcome outcome;
};
constexpr OperationRow kZUnion{"zunion", Operation::kUnion, Outcome::kMembers};
constexpr OperationRow kZInter{"zinter", Operation::kInter, Outcome::kMembers};
constexpr OperationRow kZDiff{"zdiff", Operation::kDiff, Outcome::kMembers};
constexpr OperationRow kZUnionStore{"zunionstore", Operation::kUnion, Outcome::kStored};
constexpr OperationRow kZInterStore{"zinterstore", Operation::kInter, Outcome::kStored};
constexpr OperationRow kZDiffStore{"zdiffstore", Operation::kDiff, Outcome::kStored};
constexpr OperationRow kZInterCard{"zintercard", Operation::kInter, Outcome::kCount};

// A set or a sorted set; both null if the key does not exist.
struct Input {
  const SortedSet* sorted_set = nullptr;
  const Set* set = nullptr;
  double weight = 1;

  size_t size() const {
    if (sorted_set != nullptr) return sorted_set->size();
    return set == nullptr ? 0 : set->size();
  }
  std::optional<double> Score(std::string_view member) const {
    if (sorted_set != nullptr) return sorted_set->Score(member);
    return set != nullptr && set->Contains(member) ? std::optional<double>(1) : std::nullopt;
  }
  template <typename Visit>
  void ForEach(Visit visit) const {
    if (sorted_set != nullptr) sorted_set->ForEach(0, sorted_set->size(), false, visit);
    if (set != nullptr) set->ForEach([&](std::string_view member) { visit(member, 1.0); });
  }
};

struct Request {
  std::vector<Input> inputs;
  Aggregate aggregate = Aggregate::kSum;
  bool with_scores = false;
  size_t limit = 0;  // ZINTERCARD; 0: no limit.
};

std::optional<Reply> FindInputs(CommandContext& context, Arguments keys, Request& request) {
  for (const std::string_view key : keys) {
    const Database::Entry* entry = context.FindAny(key);
    context.CountRead(key, entry != nullptr);
    const SortedSet* sorted_set = entry == nullptr ? nullptr : entry->value.As<SortedSet>();
    const Set* set = entry == nullptr ? nullptr : entry->value.As<Set>();
    if (entry != nullptr && sorted_set == nullptr && set == nullptr) return WrongType();
    request.inputs.push_back({.sorted_set = sorted_set, .set = set});
  }
  return std::nullopt;
}

std::optional<Reply> ReadWeights(Arguments weights, Request& request) {
  for (size_t i = 0; i < weights.size(); ++i) {
    const std::optional<double> weight = base::ParseDouble(weights[i]);
    if (!weight) return Reply::Error("ERR weight value is not a float");
    request.inputs[i].weight = *weight;
  }
  return std::nullopt;
}

std::optional<Reply> ReadAggregate(std::string_view word, Request& request) {
  if (IsWord(word, "SUM")) {
    request.aggregate = Aggregate::kSum;
  } else if (IsWord(word, "MIN")) {
    request.aggregate = Aggregate::kMin;
  } else if (IsWord(word, "MAX")) {
    request.aggregate = Aggregate::kMax;
  } else {
    return SyntaxError();
  }
  return std::nullopt;
}

std::optional<Reply> ReadLimit(std::string_view text, Request& request) {
  const std::optional<int64_t> limit = base::ParseInt64(text);
  // lint: one-home: Redis writes this text in both commands
  if (!limit || *limit < 0) return Reply::Error("ERR LIMIT can't be negative");
  request.limit = static_cast<size_t>(*limit);
  return std::nullopt;
}

std::optional<Reply> ReadOptions(Arguments options, const OperationRow& row, Request& request) {
  const size_t key_count = request.inputs.size();
  const bool combines = row.operation != Operation::kDiff && row.outcome != Outcome::kCount;
  while (!options.empty()) {
    const std::string_view word = options[0];
    std::optional<Reply> error;
    size_t taken = 2;
    if (combines && options.size() > key_count && IsWord(word, "WEIGHTS")) {
      error = ReadWeights(options.subspan(1, key_count), request);
      taken = 1 + key_count;
    } else if (combines && options.size() >= 2 && IsWord(word, "AGGREGATE")) {
      error = ReadAggregate(options[1], request);
    } else if (row.outcome == Outcome::kMembers && IsWord(word, "WITHSCORES")) {
      request.with_scores = true;
      taken = 1;
    } else if (row.outcome == Outcome::kCount && options.size() >= 2 && IsWord(word, "LIMIT")) {
      error = ReadLimit(options[1], request);
    } else {
      return SyntaxError();
    }
    if (error) return error;
    options = options.subspan(taken);
  }
  return std::nullopt;
}

// Reads `numkeys key... [options]`. Returns the error reply if they are invalid.
std::optional<Reply> ReadRequest(CommandContext& context, Arguments arguments,
                                 const OperationRow& row, Request& request) {
  const std::optional<int64_t> key_count = base::ParseInt64(arguments[0]);
  if (!key_count) return Reply::Error(error_text::kNotAnInteger);
  if (*key_count < 1) {
    return Reply::Error(base::ToStd(absl::StrCat("ERR at least 1 input key is needed for '",
                                                 base::ToAbsl(row.name), "' command")));
  }
  if (static_cast<uint64_t>(*key_count) > arguments.size() - 1) return SyntaxError();
  if (auto error = FindInputs(context, arguments.subspan(1, *key_count), request)) return error;
  return ReadOptions(arguments.subspan(1 + *key_count), row, request);
}

double Combine(Aggregate aggregate, double a, double b) {
  if (aggregate == Aggregate::kMin) return b < a ? b : a;
  if (aggregate == Aggregate::kMax) return b > a ? b : a;
  // The sum of opposite infinities is 0.
  return std::isnan(a + b) ? 0 : a + b;
}

// An infinite score times the weight 0 is 0.
double Weighed(double score, double weight) {
  return std::isnan(score * weight) ? 0 : score * weight;
}

// Sorted by size, which also determines the order of additions.
void SortBySize(std::vector<Input>& inputs) {
  std::stable_sort(inputs.begin(), inputs.end(),
                   [](const Input& a, const Input& b) { return a.size() < b.size(); });
}

Elements Intersect(const Request& request) {
  const std::vector<Input>& inputs = request.inputs;
  Elements common;
  inputs[0].ForEach([&](std::string_view member, double first_score) {
    if (request.limit > 0 && common.size() == request.limit) return;
    double score = Weighed(first_score, inputs[0].weight);
    for (size_t i = 1; i < inputs.size(); ++i) {
      const std::optional<double> other = inputs[i].Score(member);
      if (!other) return;
      score = Combine(request.aggregate, score, *other * inputs[i].weight);
    }
    common.push_back({std::string(member), score});
  });
  return common;
}

Elements Unite(const Request& request) {
  Elements all;
  absl::flat_hash_map<std::string, size_t> places;
  for (const Input& input : request.inputs) {
    input.ForEach([&](std::string_view member, double own_score) {
      const double score = Weighed(own_score, input.weight);
      const auto [place, is_new] = places.try_emplace(std::string(member), all.size());
      if (is_new) {
        all.push_back({std::string(member), score});
      } else {
        double& sum = all[place->second].score;
        sum = Combine(request.aggregate, sum, score);
      }
    });
  }
  return all;
}

Elements Subtract(const Request& request) {
  const std::vector<Input>& inputs = request.inputs;
  Elements rest;
  inputs[0].ForEach([&](std::string_view member, double score) {
    const bool elsewhere = std::any_of(inputs.begin() + 1, inputs.end(), [&](const Input& other) {
      return other.Score(member).has_value();
    });
    if (!elsewhere) rest.push_back({std::string(member), score});
  });
  return rest;
}

// The result's elements in the order of a sorted set.
Elements Compute(Operation operation, Request& request) {
  if (operation != Operation::kDiff) SortBySize(request.inputs);
  Elements elements = operation == Operation::kUnion   ? Unite(request)
                      : operation == Operation::kInter ? Intersect(request)
                                                       : Subtract(request);
  std::sort(elements.begin(), elements.end(),
            [](const SortedSet::Element& a, const SortedSet::Element& b) {
              return a.score < b.score || (a.score == b.score && a.member < b.member);
            });
  return elements;
}

Reply ElementsReply(const CommandContext& context, const Elements& elements, bool with_scores) {
  ReplyArray members = MembersArray(context, elements.size(), with_scores);
  for (const SortedSet::Element& element : elements) {
    AddMember(context, members, element.member, element.score, with_scores);
  }
  return std::move(members).Finish();
}

// Redis builds a table and converts it to a listpack if everything fits, so that the scores of a
// table were never rounded in a listpack.
SortedSet MakeSortedSet(const Elements& elements, const EncodingLimits& limits) {
  SortedSet result;
  const bool too_long =
      std::any_of(elements.begin(), elements.end(), [&](const SortedSet::Element& element) {
        return element.member.size() > limits.zset_max_listpack_value;
      });
  if (too_long || elements.size() > limits.zset_max_listpack_entries) result.ConvertToTable();
  for (const SortedSet::Element& element : elements) {
    result.Set(element.member, element.score, limits);
  }
  return result;
}

Reply Store(CommandContext& context, std::string_view target, const Elements& elements,
            std::string_view event) {
  if (elements.empty()) {
    if (context.Remove(target)) context.Changed(target, EventClass::kGeneric, "del");
    return Reply::Integer(0);
  }
  context.Put(target, Value::Of(MakeSortedSet(elements, context.limits())));
  context.Changed(target, EventClass::kSortedSet, event);
  return Reply::Integer(static_cast<int64_t>(elements.size()));
}

Reply Perform(CommandContext& context, Arguments arguments, const OperationRow& row) {
  const bool stores = row.outcome == Outcome::kStored;
  Request request;
  if (auto error = ReadRequest(context, arguments.subspan(stores ? 1 : 0), row, request)) {
    return *std::move(error);
  }
  const Elements elements = Compute(row.operation, request);
  if (stores) return Store(context, arguments[0], elements, row.name);
  if (row.outcome == Outcome::kCount) {
    return Reply::Integer(static_cast<int64_t>(elements.size()));
  }
  return ElementsReply(context, elements, request.with_scores);
}

}  // namespace

Reply HandleZUnion(CommandContext& context, Arguments arguments) {
  return Perform(context, arguments, kZUnion);
}

Reply HandleZInter(CommandContext& context, Arguments arguments) {
  return Perform(context, arguments, kZInter);
}

Reply HandleZDiff(CommandContext& context, Arguments arguments) {
  return Perform(context, arguments, kZDiff);
}

Reply HandleZUnionStore(CommandContext& context, Arguments arguments) {
  return Perform(context, arguments, kZUnionStore);
}

Reply HandleZInterStore(CommandContext& context, Arguments arguments) {
  return Perform(context, arguments, kZInterStore);
}

Reply HandleZDiffStore(CommandContext& context, Arguments arguments) {
  return Perform(context, arguments, kZDiffStore);
}

Reply HandleZInterCard(CommandContext& context, Arguments arguments) {
  return Perform(context, arguments, kZInterCard);
}

}  // namespace redouble::inline v0_1::memory
