#include "redouble/sim/trace/trace.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/json/bytes.h"
#include "redouble/sim/json/reply_json.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Request;

// A server counts MULTI and EXEC as commands.
constexpr int kTransactionFrame = 2;

void AppendCommand(std::string& line, const store::Command& command) {
  // Redis accepts a command name in any case; the trace has one form, so that equal commands are
  // equal.
  line += '[';
  AppendBytesJson(line, absl::AsciiStrToUpper(base::ToAbsl(command.name())));
  for (const std::string_view argument : command.arguments()) {
    line += ',';
    AppendBytesJson(line, argument);
  }
  line += ']';
}

void AppendCommands(std::string& line, const Request& request) {
  line += '[';
  bool is_first = true;
  for (const store::Command& command : request.commands()) {
    if (!is_first) line += ',';
    is_first = false;
    AppendCommand(line, command);
  }
  line += ']';
}

}  // namespace

Json CommandToJson(const store::Command& command) {
  std::string json;
  AppendCommand(json, command);
  return Json::parse(json);
}

Trace::Trace(const base::Clock& clock, std::function<void(std::string_view)> listener,
             StopAfter stop_after)
    : clock_(clock), listener_(std::move(listener)), stop_after_(std::move(stop_after)) {}

void Trace::AddRequest(std::string_view client, const Request& request,
                       const absl::StatusOr<store::Reply>& result) {
  if (stopped_) return;
  Begin();
  AddText("client", client);
  switch (request.kind()) {
    case Request::Kind::kCommand:
      line_ += R"(,"command":)";
      AppendCommand(line_, request.commands().front());
      break;
    case Request::Kind::kPipeline:
      line_ += R"(,"pipeline":)";
      AppendCommands(line_, request);
      break;
    case Request::Kind::kTransaction:
      line_ += R"(,"transaction":)";
      AppendCommands(line_, request);
      commands_ += kTransactionFrame;
      break;
  }
  commands_ += static_cast<int64_t>(request.commands().size());
  line_ += R"(,"reply":)";
  AppendResultJson(line_, result);
  End();
}

void Trace::AddAdvance(absl::Duration by) {
  if (stopped_) return;
  Begin();
  absl::StrAppend(&line_, R"(,"advance":)", absl::ToInt64Microseconds(by));
  End();
}

void Trace::AddFault(std::string_view name, std::string_view client) {
  if (stopped_) return;
  Begin();
  AddText("fault", name);
  if (!client.empty()) AddText("client", client);
  End();
}

void Trace::AddDelivery(std::string_view client) {
  if (stopped_) return;
  Begin();
  AddText("client", client);
  AddText("event", "receives");
  End();
}

void Trace::Begin() {
  line_.clear();
  absl::StrAppend(&line_, R"({"index":)", events_++, R"(,"us":)", clock_.NowMicros());
}

void Trace::AddText(std::string_view name, std::string_view text) {
  line_ += R"(,")";
  line_ += name;
  line_ += R"(":)";
  AppendBytesJson(line_, text);
}

void Trace::End() {
  line_ += '}';
  if (listener_) listener_(line_);
  if (stop_after_ && stop_after_(line_)) stopped_ = true;
  line_ += '\n';
  digest_.Update(line_);
}

}  // namespace redouble::inline v0_1::sim
