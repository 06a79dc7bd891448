// The keys of a topic in the cluster layout, judged as a whole.
//
//   EXPECT_EQ(FindMistake(store, "orders"), "");
//
// Thread-safety: as Store.
// Source: docs/systems/korvet.md 1.2.
#ifndef REDOUBLE_TESTS_PROPERTY_KORVET_TOPIC_KEYS_H_
#define REDOUBLE_TESTS_PROPERTY_KORVET_TOPIC_KEYS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"
#include "redouble/tests/property/korvet/ask.h"

namespace redouble::inline v0_1::korvet {

inline Keys ClusterKeys() {
  return Keys::Create(kDefaultKeyspace, store::KeyLayout::kCluster).value();
}

inline std::map<std::string, std::string> HashAt(store::Store& store, std::string_view key) {
  const store::Reply reply = Ask(store, {"HGETALL", key});
  std::map<std::string, std::string> fields;
  for (size_t i = 0; i + 1 < reply.elements().size(); i += 2) {
    fields[std::string(reply.elements()[i].text())] = std::string(reply.elements()[i + 1].text());
  }
  return fields;
}

// Returns what is wrong with the keys of a topic when no operation is running: a topic is complete,
// with equal copies, or nothing of it is there but epochs that expire. Empty if nothing is wrong.
inline std::string FindMistake(store::Store& store, std::string_view name) {
  constexpr int32_t kMostPartitions = 16;
  const Keys keys = ClusterKeys();
  std::map<std::string, std::string> hash = HashAt(store, keys.Topic(name).value());
  const bool is_topic = hash.contains("partitions");
  if (!hash.empty() && !is_topic) return "the hash is half made";
  for (const char* field : {"making", "adding", "removing"}) {
    if (hash.contains(field)) return absl::StrCat("the hash has ", field);
  }
  const int32_t partitions = is_topic ? std::stoi(hash["partitions"]) : 0;
  for (int32_t partition = 0; partition < kMostPartitions; ++partition) {
    const TopicPartition named = {name, partition};
    const std::string key = keys.Metadata(named).value();
    std::map<std::string, std::string> copy = HashAt(store, key);
    if (partition < partitions) {
      hash.erase("valueType");
      copy.erase("valueType");
      if (copy != hash) return absl::StrCat("copy ", partition, " is not equal to the hash");
      continue;
    }
    if (copy.contains("id")) return absl::StrCat("copy ", partition, " has no topic");
    if (!copy.empty() && Ask(store, {"PTTL", key}).integer() <= 0) {
      return absl::StrCat("the epoch of copy ", partition, " does not expire");
    }
    if (Ask(store, {"EXISTS", keys.Stream(named).value()}).integer() != 0) {
      return absl::StrCat("stream ", partition, " has no topic");
    }
  }
  const bool is_listed = Ask(store, {"SISMEMBER", keys.Topics(), name}).integer() != 0;
  if (is_listed != is_topic) return absl::StrCat("the set of names is wrong: ", is_listed);
  for (const auto& [id, of_name] : HashAt(store, keys.TopicIds())) {
    if (of_name == name && id != hash["id"]) return "the index has another id";
  }
  if (is_topic && Ask(store, {"HEXISTS", keys.TopicIds(), hash["id"]}).integer() == 0) {
    return "the index has no such id";
  }
  return "";
}

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_TESTS_PROPERTY_KORVET_TOPIC_KEYS_H_
