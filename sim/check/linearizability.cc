#include "redouble/sim/check/linearizability.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "redouble/core/base/text/glob.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Reply;
using Operations = std::vector<HistoryOperation>;

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Sorts an array's elements: the order of SMEMBERS is not specified.
std::vector<std::string> SortedTexts(const Reply& reply) {
  std::vector<std::string> texts;
  for (const Reply& element : reply.elements()) texts.push_back(element.text());
  std::sort(texts.begin(), texts.end());
  return texts;
}

bool IsSame(const HistoryOperation& operation, const Reply& modelled) {
  const Reply& told = *operation.reply;
  const bool any_order = operation.words[0] == "SMEMBERS" && told.is_array();
  return any_order ? SortedTexts(told) == SortedTexts(modelled) : told == modelled;
}

// Searches for a linearization of one key's operations.
class Search {
 public:
  Search(const Operations& operations, const SequentialModel& model)
      : operations_(operations), model_(model), done_(operations.size(), false) {}

  bool Run() { return Extend(model_.Initial()); }

 private:
  // Returns true if the remaining operations can follow a prefix that ends in this state.
  bool Extend(const std::string& state) {
    if (AllAnsweredAreDone()) return true;
    if (!tried_.emplace(done_, state).second) return false;
    // An operation cannot precede one that ended before it began.
    const int64_t first_end = FirstEnd();
    for (size_t i = 0; i < operations_.size(); ++i) {
      if (done_[i] || operations_[i].begun > first_end) continue;
      const auto step = model_.Apply(state, operations_[i].words);
      if (!step || (operations_[i].reply && !IsSame(operations_[i], step->reply))) continue;
      done_[i] = true;
      if (Extend(step->state)) return true;
      done_[i] = false;
    }
    return false;
  }

  // An operation without a reply may never have taken effect.
  bool AllAnsweredAreDone() const {
    for (size_t i = 0; i < operations_.size(); ++i) {
      if (!done_[i] && operations_[i].ended) return false;
    }
    return true;
  }

  int64_t FirstEnd() const {
    int64_t first = kNever;
    for (size_t i = 0; i < operations_.size(); ++i) {
      if (!done_[i]) first = std::min(first, operations_[i].ended.value_or(kNever));
    }
    return first;
  }

  const Operations& operations_;
  const SequentialModel& model_;
  std::vector<bool> done_;
  std::set<std::pair<std::vector<bool>, std::string>> tried_;
};

std::string Describe(const Operations& operations) {
  std::string text;
  for (const HistoryOperation& operation : operations) {
    absl::StrAppend(&text, "[", operation.begun, ", ",
                    operation.ended ? absl::StrCat(*operation.ended) : "never", "] ",
                    operation.client, ": ", absl::StrJoin(operation.words, " "), " -> ",
                    operation.reply ? operation.reply->DebugString() : "unknown", "\n");
  }
  return text;
}

}  // namespace

std::optional<LinearizabilityViolation> CheckLinearizable(const History& history,
                                                          const SequentialModel& model,
                                                          std::string_view keys) {
  std::map<std::string, Operations> by_key;
  for (HistoryOperation& operation : history.operations()) {
    if (!base::GlobMatch(keys, operation.key)) continue;
    by_key[operation.key].push_back(std::move(operation));
  }
  for (const auto& [key, operations] : by_key) {
    if (Search(operations, model).Run()) continue;
    return LinearizabilityViolation{key, Describe(operations)};
  }
  return std::nullopt;
}

}  // namespace redouble::inline v0_1::sim
