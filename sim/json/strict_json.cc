#include "redouble/sim/json/strict_json.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/json/json_reading.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::sim {
namespace {

// Detects, from the parser's events, errors that the parser accepts.
class Watcher {
 public:
  // Always true: keep the value.
  bool See(Json::parse_event_t event, Json& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start:
      case Json::parse_event_t::array_start:
        names_.emplace_back();
        if (names_.size() > static_cast<size_t>(kMaxJsonDepth)) {
          Refuse(absl::StrCat("nested deeper than ", kMaxJsonDepth));
        }
        break;
      case Json::parse_event_t::object_end:
      case Json::parse_event_t::array_end:
        names_.pop_back();
        break;
      case Json::parse_event_t::key:
        if (!names_.back().insert(parsed.get<std::string>()).second) {
          Refuse(absl::StrCat("the name ", base::Abbreviated(parsed),
                              " is given twice in one object"));
        }
        break;
      case Json::parse_event_t::value:
        break;
    }
    return true;
  }

  const absl::Status& status() const { return status_; }

 private:
  void Refuse(std::string message) {
    if (status_.ok()) status_ = absl::InvalidArgumentError(message);
  }

  std::vector<std::set<std::string>> names_;
  absl::Status status_;
};

// The part of nlohmann's message that is for people: without "[json.exception.parse_error.101] ".
std::string Message(const Json::exception& error) {
  const std::string text = error.what();
  const size_t end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

}  // namespace

absl::StatusOr<Json> ParseStrictJson(std::string_view text) {
  Watcher watcher;
  try {
    Json json = Json::parse(text, [&](int, Json::parse_event_t event, Json& parsed) {
      return watcher.See(event, parsed);
    });
    REDOUBLE_RETURN_IF_ERROR(watcher.status());
    return json;
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("not JSON: ", Message(error)));
  }
}

}  // namespace redouble::inline v0_1::sim
