#include "redouble/sim/trace/trace.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/json/reply_json.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Request;

// A server counts MULTI and EXEC as commands.
constexpr int kTransactionFrame = 2;

void AddCommand(JsonText& json, const store::Command& command) {
  // Redis accepts a command name in any case; the trace has one form, so that equal commands are
  // equal.
  const std::string_view name = command.name();
  const auto is_lower = [](unsigned char c) { return absl::ascii_islower(c); };
  json.Add("[");
  if (std::any_of(name.begin(), name.end(), is_lower)) {
    json.AddBytes(absl::AsciiStrToUpper(base::ToAbsl(name)));
  } else {
    json.AddBytes(name);
  }
  for (const std::string_view argument : command.arguments()) {
    json.Add(",");
    json.AddBytes(argument);
  }
  json.Add("]");
}

void AddCommands(JsonText& json, const Request& request) {
  json.Add("[");
  bool is_first = true;
  for (const store::Command& command : request.commands()) {
    if (!is_first) json.Add(",");
    is_first = false;
    AddCommand(json, command);
  }
  json.Add("]");
}

}  // namespace

Json CommandToJson(const store::Command& command) {
  JsonText json;
  AddCommand(json, command);
  return Json::parse(json.text());
}

Trace::Trace(const base::Clock& clock, std::function<void(std::string_view)> listener,
             StopAfter stop_after)
    : clock_(clock), listener_(std::move(listener)), stop_after_(std::move(stop_after)) {}

void Trace::AddRequest(std::string_view client, const Request& request,
                       const absl::StatusOr<store::Reply>& result, std::string_view server) {
  if (stopped_) return;
  Begin();
  AddText("client", client);
  if (!server.empty()) AddText("server", server);
  switch (request.kind()) {
    case Request::Kind::kCommand:
      line_.Add(R"(,"command":)");
      AddCommand(line_, request.commands().front());
      break;
    case Request::Kind::kPipeline:
      line_.Add(R"(,"pipeline":)");
      AddCommands(line_, request);
      break;
    case Request::Kind::kTransaction:
      line_.Add(R"(,"transaction":)");
      AddCommands(line_, request);
      commands_ += kTransactionFrame;
      break;
  }
  commands_ += static_cast<int64_t>(request.commands().size());
  line_.Add(R"(,"reply":)");
  AddResult(line_, result);
  End();
}

void Trace::AddAdvance(absl::Duration by) {
  if (stopped_) return;
  Begin();
  line_.Add(R"(,"advance":)");
  line_.AddInteger(absl::ToInt64Microseconds(by));
  End();
}

void Trace::AddFault(std::string_view name, std::string_view client) {
  if (stopped_) return;
  Begin();
  AddText("fault", name);
  if (!client.empty()) AddText("client", client);
  End();
}

void Trace::AddDelivery(std::string_view client) { AddEvent(client, "receives"); }

void Trace::AddApplication(std::string_view server) { AddEvent(server, "applies"); }

void Trace::AddNews(std::string_view receiver) { AddEvent(receiver, "hears"); }

void Trace::AddEvent(std::string_view client, std::string_view event) {
  if (stopped_) return;
  Begin();
  AddText("client", client);
  AddText("event", event);
  End();
}

void Trace::Begin() {
  line_.Clear();
  line_.Add(R"({"index":)");
  line_.AddInteger(events_++);
  const int64_t us = clock_.NowMicros();
  if (us != us_) {
    us_ = us;
    us_text_ = absl::StrCat(R"(,"us":)", us);
  }
  line_.Add(us_text_);
}

void Trace::AddText(std::string_view name, std::string_view text) {
  line_.Add(R"(,")");
  line_.Add(name);
  line_.Add(R"(":)");
  line_.AddBytes(text);
}

void Trace::End() {
  line_.Add("}");
  if (listener_) listener_(line_.text());
  if (stop_after_ && stop_after_(line_.text())) stopped_ = true;
  line_.Add("\n");
  if (!digest_) digest_.emplace();
  digest_->Update(line_.text());
}

std::string Trace::Hash() const {
  static const std::string& of_nothing = *new std::string(base::Sha256().HexDigest());
  return digest_ ? digest_->HexDigest() : of_nothing;
}

}  // namespace redouble::inline v0_1::sim
