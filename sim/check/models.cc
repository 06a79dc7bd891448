// The sequential models of the Redis types. Each state is the key's value, with elements joined by
// a byte that no element of a simulation contains.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/check/linearizability.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Reply;
using Step = SequentialModel::Step;
using Words = std::span<const std::string>;
using Elements = std::vector<std::string>;

constexpr char kSeparator = '\x1f';

// The state of a register starts with a mark, to distinguish an empty value from a missing key.
constexpr char kValueMark = '=';

Elements Split(std::string_view state) {
  if (state.empty()) return {};
  return absl::StrSplit(base::ToAbsl(state), kSeparator);
}

std::string Join(const Elements& elements) {
  return absl::StrJoin(elements, std::string(1, kSeparator));
}

Reply ArrayOf(const Elements& elements) {
  std::vector<Reply> replies;
  for (const std::string& element : elements) replies.push_back(Reply::Bulk(element));
  return Reply::Array(std::move(replies));
}

Reply BulkOrNil(std::string_view state) {
  return state.empty() ? Reply::Nil() : Reply::Bulk(std::string(state.substr(1)));
}

class Register final : public SequentialModel {
 public:
  std::optional<Step> Apply(std::string_view state, Words words) const override {
    const std::string& name = words[0];
    const std::string same(state);
    const bool exists = !state.empty();
    if (name == "GET") return Step{same, BulkOrNil(state)};
    if (name == "EXISTS") return Step{same, Reply::Integer(exists ? 1 : 0)};
    if (name == "STRLEN") {
      return Step{same, Reply::Integer(exists ? static_cast<int64_t>(state.size()) - 1 : 0)};
    }
    if (name == "SET" && words.size() == 2) return Step{kValueMark + words[1], Reply::Status("OK")};
    if (name == "SETNX") {
      if (exists) return Step{same, Reply::Integer(0)};
      return Step{kValueMark + words[1], Reply::Integer(1)};
    }
    if (name == "APPEND") {
      const std::string value = (exists ? same : std::string(1, kValueMark)) + words[1];
      return Step{value, Reply::Integer(static_cast<int64_t>(value.size()) - 1)};
    }
    if (name == "GETDEL") return Step{"", BulkOrNil(state)};
    if (name == "DEL") return Step{"", Reply::Integer(exists ? 1 : 0)};
    return std::nullopt;
  }
};

class Counter final : public SequentialModel {
 public:
  std::optional<Step> Apply(std::string_view state, Words words) const override {
    const std::string& name = words[0];
    if (name == "GET") {
      const std::string value(state);
      return Step{value, state.empty() ? Reply::Nil() : Reply::Bulk(value)};
    }
    if (name == "DEL") return Step{"", Reply::Integer(state.empty() ? 0 : 1)};
    int64_t by = 1;
    if ((name == "INCRBY" || name == "DECRBY") &&
        (words.size() != 2 || !absl::SimpleAtoi(words[1], &by))) {
      return std::nullopt;
    }
    if (name == "DECR" || name == "DECRBY")
      by = -by;
    else if (name != "INCR" && name != "INCRBY")
      return std::nullopt;
    int64_t count = 0;
    if (!state.empty() && !absl::SimpleAtoi(base::ToAbsl(state), &count)) return std::nullopt;
    return Step{absl::StrCat(count + by), Reply::Integer(count + by)};
  }
};

class Set final : public SequentialModel {
 public:
  std::optional<Step> Apply(std::string_view state, Words words) const override {
    Elements members = Split(state);
    const std::string& name = words[0];
    const std::string same(state);
    if (name == "SCARD") {
      return Step{same, Reply::Integer(static_cast<int64_t>(members.size()))};
    }
    if (name == "SMEMBERS") return Step{same, ArrayOf(members)};
    if (name == "SISMEMBER") {
      const bool is_member = std::binary_search(members.begin(), members.end(), words[1]);
      return Step{same, Reply::Integer(is_member ? 1 : 0)};
    }
    if (name != "SADD" && name != "SREM") return std::nullopt;
    int64_t changed = 0;
    for (const std::string& member : words.subspan(1)) {
      const auto place = std::lower_bound(members.begin(), members.end(), member);
      const bool is_member = place != members.end() && *place == member;
      if (is_member == (name == "SADD")) continue;
      if (is_member)
        members.erase(place);
      else
        members.insert(place, member);
      ++changed;
    }
    return Step{Join(members), Reply::Integer(changed)};
  }
};

class List final : public SequentialModel {
 public:
  std::optional<Step> Apply(std::string_view state, Words words) const override {
    Elements elements = Split(state);
    const std::string& name = words[0];
    if (name == "LLEN") {
      return Step{std::string(state), Reply::Integer(static_cast<int64_t>(elements.size()))};
    }
    if (name == "LRANGE" && words.size() == 3 && words[1] == "0" && words[2] == "-1") {
      return Step{std::string(state), ArrayOf(elements)};
    }
    if (name == "LPOP" || name == "RPOP") return Pop(std::move(elements), name == "LPOP");
    if (name != "LPUSH" && name != "RPUSH") return std::nullopt;
    for (const std::string& element : words.subspan(1)) {
      elements.insert(name == "LPUSH" ? elements.begin() : elements.end(), element);
    }
    return Step{Join(elements), Reply::Integer(static_cast<int64_t>(elements.size()))};
  }

 private:
  static Step Pop(Elements elements, bool from_left) {
    if (elements.empty()) return Step{"", Reply::Nil()};
    const auto end = from_left ? elements.begin() : elements.end() - 1;
    Reply popped = Reply::Bulk(*end);
    elements.erase(end);
    return Step{Join(elements), std::move(popped)};
  }
};

class Lock final : public SequentialModel {
 public:
  std::optional<Step> Apply(std::string_view state, Words words) const override {
    const std::string& name = words[0];
    const std::string same(state);
    const bool is_held = !state.empty();
    if (name == "GET") return Step{same, BulkOrNil(state)};
    if (name == "DEL") return Step{"", Reply::Integer(is_held ? 1 : 0)};
    if (name == "UNLOCK") {
      const bool is_ours = is_held && state.substr(1) == words[1];
      return Step{is_ours ? "" : same, Reply::Integer(is_ours ? 1 : 0)};
    }
    if (name == "SETNX") {
      return Step{is_held ? same : kValueMark + words[1], Reply::Integer(is_held ? 0 : 1)};
    }
    const bool is_conditional =
        std::any_of(words.begin(), words.end(),
                    [](const std::string& word) { return absl::EqualsIgnoreCase(word, "NX"); });
    if (name != "SET" || !is_conditional) return std::nullopt;
    if (is_held) return Step{same, Reply::Nil()};
    return Step{kValueMark + words[1], Reply::Ok()};
  }
};

// A state is the list of entries: each is the id and the fields, joined by another byte.
class Stream final : public SequentialModel {
 public:
  std::optional<Step> Apply(std::string_view state, Words words) const override {
    Elements entries = Split(state);
    const std::string& name = words[0];
    if (name == "XLEN") {
      return Step{std::string(state), Reply::Integer(static_cast<int64_t>(entries.size()))};
    }
    if (name == "XRANGE" && words.size() == 3 && words[1] == "-" && words[2] == "+") {
      return Step{std::string(state), EntriesOf(entries)};
    }
    if (name != "XADD" || words.size() < 4 || words[1] == "*") return std::nullopt;
    entries.push_back(absl::StrJoin(words.subspan(1), std::string(1, kFieldSeparator)));
    return Step{Join(entries), Reply::Bulk(words[1])};
  }

 private:
  static constexpr char kFieldSeparator = '\x1e';

  static Reply EntriesOf(const Elements& entries) {
    std::vector<Reply> replies;
    for (const std::string& entry : entries) {
      Elements parts = absl::StrSplit(entry, kFieldSeparator);
      std::vector<Reply> reply;
      reply.push_back(Reply::Bulk(parts[0]));
      parts.erase(parts.begin());
      reply.push_back(ArrayOf(parts));
      replies.push_back(Reply::Array(std::move(reply)));
    }
    return Reply::Array(std::move(replies));
  }
};

}  // namespace

const SequentialModel& RegisterModel() {
  static const Register model;
  return model;
}

const SequentialModel& CounterModel() {
  static const Counter model;
  return model;
}

const SequentialModel& SetModel() {
  static const Set model;
  return model;
}

const SequentialModel& ListModel() {
  static const List model;
  return model;
}

const SequentialModel& LockModel() {
  static const Lock model;
  return model;
}

const SequentialModel& StreamModel() {
  static const Stream model;
  return model;
}

std::span<const NamedModel> AllModels() {
  static constexpr std::array kModels = {
      NamedModel{"register", RegisterModel}, NamedModel{"counter", CounterModel},
      NamedModel{"lock", LockModel},         NamedModel{"set", SetModel},
      NamedModel{"list", ListModel},         NamedModel{"queue", ListModel},
      NamedModel{"stream", StreamModel},
  };
  return kModels;
}

}  // namespace redouble::inline v0_1::sim
