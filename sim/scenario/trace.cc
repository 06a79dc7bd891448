#include "sim/scenario/trace.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "sim/scenario/bytes.h"
#include "sim/scenario/reply_json.h"

namespace redouble::sim {
namespace {

using store::Request;

// MULTI and EXEC, which a server counts as commands.
constexpr int kTransactionFrame = 2;

Json CommandsToJson(const Request& request) {
  Json commands = Json::array();
  for (const store::Command& command : request.commands()) {
    commands.push_back(CommandToJson(command));
  }
  return commands;
}

}  // namespace

Json CommandToJson(const store::Command& command) {
  // Redis takes a name in any case; one form keeps equal commands equal.
  Json words = Json::array({absl::AsciiStrToUpper(EncodeBytes(command.name()))});
  for (const std::string_view argument : command.arguments())
    words.push_back(EncodeBytes(argument));
  return words;
}

Trace::Trace(const base::Clock& clock, std::function<void(std::string_view)> listener)
    : clock_(clock), listener_(std::move(listener)) {}

void Trace::AddRequest(std::string_view client, const Request& request,
                       const absl::StatusOr<store::Reply>& result) {
  Json event{{"client", client}};
  switch (request.kind()) {
    case Request::Kind::kCommand:
      event["command"] = CommandToJson(request.commands().front());
      break;
    case Request::Kind::kPipeline:
      event["pipeline"] = CommandsToJson(request);
      break;
    case Request::Kind::kTransaction:
      event["transaction"] = CommandsToJson(request);
      commands_ += kTransactionFrame;
      break;
  }
  commands_ += static_cast<int64_t>(request.commands().size());
  event["reply"] = ResultToJson(result);
  Add(std::move(event));
}

void Trace::AddAdvance(absl::Duration by) { Add(Json{{"advance", absl::ToInt64Microseconds(by)}}); }

void Trace::AddFault(std::string_view name, std::string_view client) {
  Json event{{"fault", name}};
  if (!client.empty()) event["client"] = client;
  Add(std::move(event));
}

void Trace::Add(Json event) {
  Json line{{"index", events_++}, {"us", clock_.NowMicros()}};
  line.update(event);
  const std::string text = line.dump();
  digest_.Update(text);
  digest_.Update("\n");
  if (listener_) listener_(text);
}

}  // namespace redouble::sim
