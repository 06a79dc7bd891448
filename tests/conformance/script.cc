#include "redouble/tests/conformance/script.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/tests/support/target/canonical_reply.h"
#include "redouble/tests/support/target/reply_text.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;

bool ExpectsReply(const Step& step) {
  return step.kind == Step::Kind::kCommand || step.kind == Step::Kind::kReceive;
}

absl::Status At(int line, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", what));
}

absl::Status ReadDirective(std::string_view text, Step& step) {
  const size_t end = text.find(' ');
  const std::string_view name = text.substr(0, end);
  step.argument = end == std::string_view::npos
                      ? std::string()
                      : std::string(absl::StripAsciiWhitespace(base::ToAbsl(text.substr(end))));
  if (name == "@case") {
    step.kind = Step::Kind::kCase;
  } else if (name == "@client") {
    step.kind = Step::Kind::kClient;
  } else if (name == "@receive") {
    step.kind = Step::Kind::kReceive;
  } else if (name == "@advance") {
    step.kind = Step::Kind::kAdvance;
    if (!absl::ParseDuration(step.argument, &step.step) || step.step < absl::ZeroDuration()) {
      return At(step.line, absl::StrCat("no duration: ", step.argument));
    }
  } else {
    return At(step.line, absl::StrCat("unknown directive ", base::ToAbsl(name)));
  }
  const bool needs_argument = step.kind != Step::Kind::kReceive;
  if (needs_argument == step.argument.empty()) {
    return At(step.line, absl::StrCat(base::ToAbsl(name), " takes ",
                                      needs_argument ? "an argument" : "no argument"));
  }
  return absl::OkStatus();
}

absl::Status ReadCommand(std::string_view text, Step& step) {
  step.kind = Step::Kind::kCommand;
  absl::StatusOr<Words> words = SplitWords(text.substr(1));
  if (!words.ok()) return At(step.line, words.status().message());
  if (words->empty()) return At(step.line, "no command");
  step.words = *std::move(words);
  return absl::OkStatus();
}

// Appends the step that begins on this line, or adds the line to the reply of the last step.
absl::Status ReadLine(std::string_view text, int line, bool& in_reply, Script& script) {
  const bool note = text.empty() || text[0] == '#';
  const bool begins_step = note || text[0] == '@' || text[0] == '>';
  if (!begins_step) {
    if (!in_reply) return At(line, "a reply without a command before it");
    std::string& expected = script.steps.back().expected;
    absl::StrAppend(&expected, expected.empty() ? "" : "\n", base::ToAbsl(text));
    return absl::OkStatus();
  }
  Step& step = script.steps.emplace_back();
  step.line = line;
  step.source = text;
  absl::Status status;
  if (!note) status = text[0] == '@' ? ReadDirective(text, step) : ReadCommand(text, step);
  in_reply = ExpectsReply(step);
  return status;
}

// Runs the steps of a script in order.
class ScriptRunner {
 public:
  ScriptRunner(Target& target, ReplyWriter writer) : target_(target), writer_(writer) {}

  void Play(Step& step) {
    switch (step.kind) {
      case Step::Kind::kNote:
        break;
      case Step::Kind::kCase:
        clients_.clear();
        client_ = &ClientNamed("a");
        target_.Reset(kStart);
        break;
      case Step::Kind::kClient:
        client_ = &ClientNamed(step.argument);
        break;
      case Step::Kind::kAdvance:
        target_.SetTime(target_.now() + step.step);
        target_.Settle();
        break;
      case Step::Kind::kCommand:
        client_->last = step.words;
        step.expected = TextOf(target_.Run(client_->number, step.words));
        break;
      case Step::Kind::kReceive:
        step.expected = TextOf(target_.Poll(client_->number));
        break;
    }
  }

 private:
  struct Client {
    int number = 0;
    Words last;
    CanonicalReplies replies{/*keep_chance=*/true};
  };

  Client& ClientNamed(const std::string& name) {
    const auto [client, added] = clients_.try_emplace(name);
    if (added) client->second.number = static_cast<int>(clients_.size()) - 1;
    return client->second;
  }

  std::string TextOf(std::optional<Reply> reply) {
    if (!reply) return std::string(kBlockedText);
    const Reply canonical = client_->replies.Of(client_->last, *std::move(reply));
    return writer_ == nullptr ? ReplyText(canonical) : writer_(canonical);
  }

  Target& target_;
  const ReplyWriter writer_;
  std::map<std::string, Client> clients_;
  Client* client_ = nullptr;
};

}  // namespace

absl::StatusOr<Script> ParseScript(std::string_view text) {
  Script script;
  bool in_reply = false;
  bool in_case = false;
  int line = 0;
  if (text.ends_with('\n')) text.remove_suffix(1);
  for (const absl::string_view part : absl::StrSplit(base::ToAbsl(text), '\n')) {
    REDOUBLE_RETURN_IF_ERROR(ReadLine(base::ToStd(part), ++line, in_reply, script));
    const Step& step = script.steps.back();
    in_case = in_case || step.kind == Step::Kind::kCase;
    if (!in_case && step.kind != Step::Kind::kNote) return At(line, "outside of a @case");
  }
  return script;
}

Script RunScript(const Script& script, Target& target, ReplyWriter writer) {
  Script answered = script;
  ScriptRunner runner(target, writer);
  for (Step& step : answered.steps) runner.Play(step);
  return answered;
}

std::string ScriptText(const Script& script) {
  std::string text;
  for (const Step& step : script.steps) {
    absl::StrAppend(&text, step.source, "\n");
    if (ExpectsReply(step) && !step.expected.empty()) absl::StrAppend(&text, step.expected, "\n");
  }
  return text;
}

}  // namespace redouble::inline v0_1::tests
