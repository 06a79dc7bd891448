#include "redouble/sim/world_file/property_invariants.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/nearest_word.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/check/linearizability.h"
#include "redouble/sim/json/bytes.h"

namespace redouble::inline v0_1::sim {
namespace {

// Which bound values an invariant judges.
struct Selection {
  std::string actor;  // Empty: every actor.
  std::string name;

  static Selection Read(ArgumentReader& fields, std::string name) {
    return Selection{fields.OptionalString("actor").value_or(""), std::move(name)};
  }
  bool Selects(const BoundValue& value) const {
    return value.name == name && (actor.empty() || value.actor == actor);
  }
};

class BoundInvariant final : public WorldInvariant {
 public:
  explicit BoundInvariant(ArgumentReader& fields)
      : selection_(Selection::Read(fields, fields.String("value"))),
        expectation_(Expectation::Read(fields)) {}

  std::string_view bound_name() const override { return selection_.name; }
  std::string_view bound_actor() const override { return selection_.actor; }

  absl::Status Check(const WorldView& view) const override {
    for (const BoundValue& bound : view.observed.bound) {
      if (!selection_.Selects(bound)) continue;
      REDOUBLE_RETURN_IF_ERROR(
          expectation_.Check(bound.value, absl::StrCat(bound.name, " of ", bound.actor, " is")));
    }
    return absl::OkStatus();
  }

 private:
  const Selection selection_;
  const Expectation expectation_;
};

absl::Status Decreases(absl::string_view what, double from, double to) {
  return absl::FailedPreconditionError(absl::StrCat(what, " goes back from ", from, " to ", to));
}

// The numbers that an actor has bound to a name.
class MonotoneValues final : public WorldInvariant {
 public:
  explicit MonotoneValues(ArgumentReader& fields)
      : selection_(Selection::Read(fields, fields.String("value"))) {}

  std::string_view bound_name() const override { return selection_.name; }
  std::string_view bound_actor() const override { return selection_.actor; }

  absl::Status Check(const WorldView& view) const override {
    std::map<std::string, double> last;
    for (const BoundValue& bound : view.observed.bound) {
      if (!selection_.Selects(bound) || bound.value.is_null()) continue;
      const std::string what = absl::StrCat(bound.name, " of ", bound.actor);
      const std::optional<double> number = NumberIn(bound.value);
      if (!number) {
        return absl::FailedPreconditionError(
            absl::StrCat(what, " is no number: ", bound.value.dump()));
      }
      const auto [entry, is_first] = last.try_emplace(bound.actor, *number);
      if (!is_first && *number < entry->second) return Decreases(what, entry->second, *number);
      entry->second = *number;
    }
    return absl::OkStatus();
  }

 private:
  const Selection selection_;
};

// The number that a command returns after each step.
class MonotoneReply final : public WorldInvariant {
 public:
  explicit MonotoneReply(ArgumentReader& fields) : command_(ReadWords(fields, "command")) {}

  absl::Status Check(const WorldView& view) const override {
    REDOUBLE_ASSIGN_OR_RETURN(const Json reply, AskForJson(view.world, command_, server()));
    const std::optional<double> number = NumberIn(reply.is_null() ? Json(0) : reply);
    if (!number) return absl::FailedPreconditionError(absl::StrCat("no number: ", reply.dump()));
    const auto [entry, is_first] = view.observed.last.try_emplace(this, *number);
    const double before = std::exchange(entry->second, *number);
    return *number < before ? Decreases(command_.front(), before, *number) : absl::OkStatus();
  }

 private:
  const std::vector<std::string> command_;
};

class ExactlyOnceInvariant final : public WorldInvariant {
 public:
  explicit ExactlyOnceInvariant(ArgumentReader& fields)
      : selection_(Selection::Read(fields, fields.String("value"))),
        may_be_missing_(fields.BoolOr("may_be_missing", false)) {
    if (fields.Find("waiting") != nullptr) waiting_ = ReadWords(fields, "waiting");
    const Json& elements = fields.Any("elements");
    if (!elements.is_array() || elements.empty()) {
      fields.Refuse("elements", "expected an array of values");
    }
    for (const Json& element : elements) elements_.push_back(element);
  }

  std::string_view bound_name() const override { return selection_.name; }
  std::string_view bound_actor() const override { return selection_.actor; }

  absl::Status Check(const WorldView& view) const override {
    std::map<Json, int> counts;
    for (const BoundValue& bound : view.observed.bound) {
      if (selection_.Selects(bound)) Count(bound.value, counts);
    }
    if (!waiting_.empty()) {
      REDOUBLE_ASSIGN_OR_RETURN(const Json left, AskForJson(view.world, waiting_, server()));
      Count(left, counts);
    }
    for (const Json& element : elements_) {
      const int count = counts[element];
      if (count == 1 || (count == 0 && may_be_missing_)) continue;
      return absl::FailedPreconditionError(absl::StrCat(
          element.dump(), count == 0 ? " is missing" : absl::StrCat(" is there ", count, " times"),
          " among the values of ", selection_.name,
          waiting_.empty() ? "" : absl::StrCat(" and the reply of ", waiting_.front())));
    }
    return absl::OkStatus();
  }

 private:
  // The elements of an array are values of their own.
  static void Count(const Json& value, std::map<Json, int>& counts) {
    ++counts[value];
    if (!value.is_array()) return;
    for (const Json& element : value) Count(element, counts);
  }

  const Selection selection_;
  const bool may_be_missing_;
  std::vector<std::string>
      waiting_;  // The command that shows what no actor has got yet; may be empty.
  std::vector<Json> elements_;
};

class LinearizableInvariant final : public WorldInvariant {
 public:
  explicit LinearizableInvariant(ArgumentReader& fields)
      : keys_(fields.OptionalString("keys").value_or("*")) {
    const std::string name = fields.String("model");
    std::vector<std::string> known;
    for (const NamedModel& row : AllModels()) {
      if (row.name == name) model_ = &row.model();
      known.emplace_back(row.name);
    }
    if (model_ != nullptr) return;
    std::string list;
    for (const std::string& one : known) absl::StrAppend(&list, list.empty() ? "" : ", ", one);
    fields.Refuse("model", absl::StrCat("unknown model \"", name, "\"",
                                        base::DidYouMean(name, known), "; known: ", list));
  }

  bool needs_history() const override { return true; }

  absl::Status Check(const WorldView& view) const override {
    const auto violation = CheckLinearizable(view.observed.history, *model_, keys_);
    if (!violation) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("no order of the commands on ", EncodeBytes(violation->key),
                     " gives these replies\n", violation->history));
  }

 private:
  const std::string keys_;
  const SequentialModel* model_ = nullptr;
};

}  // namespace

std::shared_ptr<WorldInvariant> ReadBound(ArgumentReader& fields) {
  return std::make_shared<BoundInvariant>(fields);
}

std::shared_ptr<WorldInvariant> ReadMonotone(ArgumentReader& fields) {
  if (fields.Find("command") != nullptr) return std::make_shared<MonotoneReply>(fields);
  return std::make_shared<MonotoneValues>(fields);
}

std::shared_ptr<WorldInvariant> ReadExactlyOnce(ArgumentReader& fields) {
  return std::make_shared<ExactlyOnceInvariant>(fields);
}

std::shared_ptr<WorldInvariant> ReadLinearizable(ArgumentReader& fields) {
  return std::make_shared<LinearizableInvariant>(fields);
}

Expectation Expectation::Read(ArgumentReader& fields) {
  Expectation expectation;
  if (const Json* expected = fields.FindOrNull("expect")) {
    expectation.expected_.push_back(*expected);
  } else if (const Json* list = fields.Find("one_of")) {
    expectation.expected_.assign(list->begin(), list->end());
  }
  expectation.at_least_ = fields.OptionalDouble("at_least");
  expectation.at_most_ = fields.OptionalDouble("at_most");
  const bool has_bounds = expectation.at_least_ || expectation.at_most_;
  if (expectation.expected_.empty() != has_bounds) {
    fields.Refuse("", "expected one of expect, one_of, or at_least and at_most");
  }
  return expectation;
}

bool Expectation::Lists(const Json& value) const {
  return std::find(expected_.begin(), expected_.end(), value) != expected_.end();
}

absl::Status Expectation::Check(const Json& value, absl::string_view what) const {
  if (!expected_.empty()) {
    if (Lists(value)) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(what, " ", value.dump()));
  }
  const std::optional<double> number = NumberIn(value.is_null() ? Json(0) : value);
  if (!number) return absl::FailedPreconditionError(absl::StrCat("no number: ", value.dump()));
  if (at_least_ && *number < *at_least_) {
    return absl::FailedPreconditionError(
        absl::StrCat(what, " ", *number, ", at least ", *at_least_, " expected"));
  }
  if (at_most_ && *number > *at_most_) {
    return absl::FailedPreconditionError(
        absl::StrCat(what, " ", *number, ", at most ", *at_most_, " expected"));
  }
  return absl::OkStatus();
}

}  // namespace redouble::inline v0_1::sim
