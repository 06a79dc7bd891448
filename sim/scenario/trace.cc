#include "sim/scenario/trace.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/string_bridge.h"
#include "sim/scenario/bytes.h"
#include "sim/scenario/reply_json.h"

namespace redouble::sim {
namespace {

using store::Request;

// MULTI and EXEC, which a server counts as commands.
constexpr int kTransactionFrame = 2;

void AppendCommand(std::string& line, const store::Command& command) {
  // Redis takes a name in any case; one form keeps equal commands equal.
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
             StopBehind stop_behind)
    : clock_(clock), listener_(std::move(listener)), stop_behind_(std::move(stop_behind)) {}

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
  if (stop_behind_ && stop_behind_(line_)) stopped_ = true;
  line_ += '\n';
  digest_.Update(line_);
}

}  // namespace redouble::sim
