#include "redouble/tests/golden/replay/reply_check.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/json/bytes.h"

namespace redouble::inline v0_1::golden {
namespace {

using store::Reply;

constexpr std::string_view kScriptSuffix = " script:";
constexpr int64_t kSecond = 1000;

// Returns whether Redis may return the elements of the reply in any order.
bool IsUnordered(const RecordedCommand& command, const Reply& reply) {
  if (!reply.is_array()) return false;
  return reply.shape() == Reply::Shape::kSet || command.words[0] == "KEYS";
}

// Sets `got` to the recorded value if it is a number that only the clock determines.
void Excuse(const Json& recorded, Json& got) {
  const bool is_time = got.is_number_integer() && got >= 0;
  if (is_time && (recorded.is_number_integer() || recorded == "<idle-ms>")) got = recorded;
}

void ExcuseNear(const Json& recorded, Json& got, int64_t tolerance) {
  if (!recorded.is_number_integer() || !got.is_number_integer()) return;
  const int64_t expected = recorded.get<int64_t>();
  const int64_t value = got.get<int64_t>();
  if (expected > 0 && value > 0 && std::abs(expected - value) <= tolerance) got = recorded;
}

// Does so for the value after `name`, in arrays of alternating names and values.
void ExcuseMember(std::string_view name, const Json& recorded, Json& got) {
  if (!recorded.is_array() || !got.is_array() || recorded.size() != got.size()) return;
  for (size_t i = 0; i + 1 < got.size(); i += 2) {
    if (got[i] == name && recorded[i] == name) Excuse(recorded[i + 1], got[i + 1]);
  }
}

void ExcuseIdleColumn(const Json& recorded, Json& got) {
  constexpr size_t kColumns = 4;
  constexpr size_t kIdle = 2;
  if (!recorded.is_array() || !got.is_array()) return;
  for (size_t i = 0; i < std::min(recorded.size(), got.size()); ++i) {
    if (!recorded[i].is_array() || recorded[i].size() != kColumns) continue;
    if (!got[i].is_array() || got[i].size() != kColumns) continue;
    Excuse(recorded[i][kIdle], got[i][kIdle]);
  }
}

void ExcuseClock(const RecordedCommand& command, const Json& recorded, Json& got) {
  const std::string& name = command.words[0];
  const std::string subcommand =
      command.words.size() > 1 ? absl::AsciiStrToUpper(command.words[1]) : "";
  if (name == "TTL") ExcuseNear(recorded, got, 1);
  if (name == "PTTL") ExcuseNear(recorded, got, kSecond);
  if (name == "XPENDING") ExcuseIdleColumn(recorded, got);
  if (name == "XINFO" && subcommand == "STREAM") {
    ExcuseMember("radix-tree-keys", recorded, got);
    ExcuseMember("radix-tree-nodes", recorded, got);
  }
  if (name == "XINFO" && subcommand == "CONSUMERS" && recorded.is_array() && got.is_array()) {
    for (size_t i = 0; i < std::min(recorded.size(), got.size()); ++i) {
      ExcuseMember("idle", recorded[i], got[i]);
    }
  }
}

void CutScriptSuffix(Json& reply) {
  if (!reply.is_object() || !reply.contains("error") || !reply["error"].is_string()) return;
  const std::string text = reply["error"];
  reply["error"] = text.substr(0, text.find(kScriptSuffix));
}

}  // namespace

Json ReplyToRecorded(const Reply& reply) {
  switch (reply.kind()) {
    case Reply::Kind::kNil:
      return nullptr;
    case Reply::Kind::kInteger:
      return reply.integer();
    case Reply::Kind::kError:
      return Json{{"error", sim::EncodeBytes(reply.text())}};
    case Reply::Kind::kStatus:
    case Reply::Kind::kBulk:
      return sim::EncodeBytes(reply.text());
    case Reply::Kind::kArray:
      break;
  }
  Json array = Json::array();
  for (const Reply& element : reply.elements()) array.push_back(ReplyToRecorded(element));
  return array;
}

Json EncodeRecorded(const Json& recorded) {
  if (recorded.is_string()) return sim::EncodeBytes(recorded.get_ref<const std::string&>());
  if (!recorded.is_structured()) return recorded;
  Json encoded = recorded.is_array() ? Json::array() : Json::object();
  for (const auto& [name, value] : recorded.items()) {
    if (recorded.is_array()) {
      encoded.push_back(EncodeRecorded(value));
    } else {
      encoded[sim::EncodeBytes(name)] = EncodeRecorded(value);
    }
  }
  return encoded;
}

std::optional<Difference> CompareReply(const RecordedCommand& command, const Reply& reply,
                                       System system) {
  Json expected = EncodeRecorded(*command.reply);
  Json got = ReplyToRecorded(reply);
  if (IsUnordered(command, reply)) {
    std::sort(got.begin(), got.end());
    if (expected.is_array()) std::sort(expected.begin(), expected.end());
  }
  ExcuseClock(command, expected, got);
  if (system == System::kOrchestrator) {
    CutScriptSuffix(expected);
    CutScriptSuffix(got);
  }
  std::optional<Difference> difference = CompareJson(expected, got, command.reply_path);
  if (difference) {
    absl::StrAppend(&difference->message, " (", Json(command.words).dump(), ")");
  }
  return difference;
}

}  // namespace redouble::inline v0_1::golden
