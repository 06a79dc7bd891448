#include "redouble/sim/cli/record/scenario_writer.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <span>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/sim/json/bytes.h"
#include "redouble/sim/json/reply_json.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr char kRedacted[] = "(redacted)";
constexpr size_t kShortestHexId = 16;
constexpr size_t kUlidSize = 26;
constexpr size_t kUuidSize = 36;

bool IsWord(const std::string& word, std::string_view other) {
  return absl::EqualsIgnoreCase(word, base::ToAbsl(other));
}

// Commands of connections, which say nothing about keys, and commands that a scenario cannot hold.
bool IsLeftOut(const std::vector<std::string>& words) {
  static constexpr std::string_view kNames[] = {"auth",  "client",   "command", "debug", "failover",
                                                "hello", "monitor",  "psync",   "quit",  "replconf",
                                                "reset", "shutdown", "sync"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view name) { return IsWord(words[0], name); });
}

// Parameters of CONFIG whose values are secrets. Source: Redis 7.0 config.c, SENSITIVE_CONFIG.
bool IsSecretParameter(const std::string& name) {
  static constexpr std::string_view kNames[] = {"requirepass", "masterauth", "masteruser",
                                                "tls-key-file-pass", "tls-client-key-file-pass"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view secret) { return IsWord(name, secret); });
}

void MaskFrom(std::vector<std::string>& words, size_t begin, size_t count) {
  for (size_t i = begin; i < std::min(words.size(), begin + count); ++i) words[i] = kRedacted;
}

// The values after a word, wherever it stands.
void MaskAfter(std::vector<std::string>& words, std::string_view word, size_t count) {
  for (size_t i = 1; i < words.size(); ++i) {
    if (!IsWord(words[i], word)) continue;
    MaskFrom(words, i + 1, count);
    return;
  }
}

void MaskUser(std::vector<std::string>& words) {
  constexpr std::string_view kPasswordMarks = "><#!";
  for (size_t i = 3; i < words.size(); ++i) {
    if (words[i].empty() || kPasswordMarks.find(words[i][0]) == std::string_view::npos) continue;
    // A hash has a fixed form, so that it is replaced by a password.
    const bool adds = words[i][0] == '>' || words[i][0] == '#';
    words[i] = absl::StrCat(adds ? ">" : "<", kRedacted);
  }
}

bool IsHex(char c) { return absl::ascii_isxdigit(static_cast<unsigned char>(c)); }

bool IsIdCharacter(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }

bool IsUuid(std::string_view text) {
  if (text.size() < kUuidSize) return false;
  for (size_t i = 0; i < kUuidSize; ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !IsHex(text[i])) return false;
  }
  return true;
}

bool IsUlid(std::string_view text) {
  constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  return text.size() == kUlidSize && text[0] <= '7' &&
         text.find_first_not_of(kAlphabet) == std::string_view::npos;
}

// A hexadecimal number with letters: a decimal number is an amount or a time.
bool IsHexId(std::string_view text) {
  return text.size() >= kShortestHexId && std::all_of(text.begin(), text.end(), IsHex) &&
         text.find_first_of("abcdefABCDEF") != std::string_view::npos &&
         text.find_first_of("0123456789") != std::string_view::npos;
}

// The size of the generated id at the beginning of `text`; 0 if there is none.
size_t IdSize(std::string_view text) {
  if (IsUuid(text) && (text.size() == kUuidSize || !IsIdCharacter(text[kUuidSize]))) {
    return kUuidSize;
  }
  size_t size = 0;
  while (size < text.size() && IsIdCharacter(text[size])) ++size;
  const std::string_view word = text.substr(0, size);
  return IsUlid(word) || IsHexId(word) ? size : 0;
}

// The word that is a script, its digest or a serialized value, which a new id would spoil.
bool IsOpaque(const std::vector<std::string>& words, size_t index) {
  if (absl::StartsWithIgnoreCase(words[0], "eval")) return index == 1;
  if (IsWord(words[0], "script") || IsWord(words[0], "function")) return true;
  return IsWord(words[0], "restore") && index == 3;
}

base::Task<absl::StatusOr<store::Reply>> Execute(store::Store& store,
                                                 const store::Command& command) {
  co_return co_await store.Execute(command);
}

}  // namespace

std::vector<std::string> WithoutSecrets(std::vector<std::string> words) {
  if (words.empty()) return words;
  if (IsWord(words[0], "auth")) MaskFrom(words, 1, words.size());
  if (IsWord(words[0], "hello")) MaskAfter(words, "auth", 2);
  if (IsWord(words[0], "migrate")) {
    MaskAfter(words, "auth", 1);
    MaskAfter(words, "auth2", 2);
  }
  if (words.size() < 3) return words;
  if (IsWord(words[0], "acl") && IsWord(words[1], "setuser")) MaskUser(words);
  if (IsWord(words[0], "config") && IsWord(words[1], "set")) {
    for (size_t i = 2; i + 1 < words.size(); i += 2) {
      if (IsSecretParameter(words[i])) words[i + 1] = kRedacted;
    }
  }
  return words;
}

void ScenarioWriter::Add(MonitorLine line) {
  if (line.is_from_script() || line.words.empty() || IsLeftOut(line.words)) return;
  AdvanceTo(line.us);
  const std::string client = ClientOf(line);
  // It may have selected its database before the recording began. MONITOR shows SELECT with the
  // database before it.
  const bool selects = IsWord(line.words[0], "select");
  if (line.db != databases_[client] && !selects) Run(client, {"SELECT", std::to_string(line.db)});
  databases_[client] = line.db;
  int selected = 0;
  if (selects && line.words.size() == 2 && absl::SimpleAtoi(line.words[1], &selected)) {
    databases_[client] = selected;
  }
  std::vector<std::string> words = WithoutSecrets(std::move(line.words));
  for (size_t i = 1; i < words.size(); ++i) {
    if (!options_.keep_ids && !IsOpaque(words, i)) words[i] = WithNames(words[i]);
  }
  Run(client, words);
}

void ScenarioWriter::AdvanceTo(int64_t us) {
  const absl::Time time = absl::FromUnixMicros(us);
  if (!start_us_) {
    start_us_ = us;
    const absl::Status begun = backend_.Begin({.start = time});
    assert(begun.ok());
    (void)begun;
  }
  const absl::Duration by = time - backend_.clock().Now();
  // The server's clock may have been set back.
  if (by <= absl::ZeroDuration()) return;
  steps_.push_back(Json{{"kind", "advance"}, {"by", absl::FormatDuration(by)}});
  const absl::Status advanced = backend_.AdvanceTo(time);
  assert(advanced.ok());
  (void)advanced;
}

void ScenarioWriter::Run(const std::string& client, const std::vector<std::string>& words) {
  Json encoded = Json::array();
  for (const std::string& word : words) encoded.push_back(EncodeBytes(word));
  store::Command command = store::Command::Named(words[0]);
  command.AddAll(std::span(words).subspan(1));
  Blocked& run = blocked_.emplace_back(Blocked{client, std::move(command), std::move(encoded), {}});
  run.task.emplace(Execute(StoreOf(client), run.command));
  run.task->Start();
  // The command itself comes before those that it released.
  if (run.task->done()) {
    AddStep(client, std::move(run.words), run.task->TakeResult());
    blocked_.pop_back();
  }
  TakeReleased();
}

void ScenarioWriter::TakeReleased() {
  for (auto run = blocked_.begin(); run != blocked_.end();) {
    if (!run->task->done()) {
      ++run;
      continue;
    }
    const absl::StatusOr<store::Reply> reply = run->task->TakeResult();
    // A wait that ended by its timeout would wait again.
    const bool in_vain = reply.ok() && reply->is_nil();
    if (!in_vain) AddStep(run->client, std::move(run->words), reply);
    run = blocked_.erase(run);
  }
}

void ScenarioWriter::AddStep(const std::string& client, Json words,
                             const absl::StatusOr<store::Reply>& reply) {
  ++commands_;
  if (!reply.ok() || reply->is_error()) ++errors_;
  steps_.push_back(Json{{"kind", "command"},
                        {"client", client},
                        {"command", std::move(words)},
                        {"expect", ResultToJson(reply)}});
}

std::string ScenarioWriter::ClientOf(const MonitorLine& line) {
  std::string& name = clients_[line.client];
  if (name.empty()) name = absl::StrCat("client-", clients_.size());
  return name;
}

store::Store& ScenarioWriter::StoreOf(const std::string& client) {
  std::unique_ptr<store::Store>& store = stores_[client];
  if (store == nullptr) {
    absl::StatusOr<std::unique_ptr<store::Store>> connected = backend_.Connect();
    assert(connected.ok());
    store = *std::move(connected);
  }
  return *store;
}

std::string ScenarioWriter::WithNames(std::string_view word) {
  std::string named;
  for (size_t at = 0; at < word.size();) {
    const bool begins = at == 0 || !IsIdCharacter(word[at - 1]);
    const size_t size = begins ? IdSize(word.substr(at)) : 0;
    if (size == 0) {
      named.push_back(word[at++]);
      continue;
    }
    std::string& name = ids_[std::string(word.substr(at, size))];
    if (name.empty()) name = absl::StrCat("id-", ids_.size());
    named += name;
    at += size;
  }
  return named;
}

std::string ScenarioWriter::Text() const {
  assert(start_us_.has_value());
  const Json scenario{{"name", options_.name},
                      {"description", "Recorded; the replies are those of the memory engine."},
                      {"system", "redis"},
                      {"start", base::FormatRfc3339(absl::FromUnixMicros(*start_us_))},
                      {"steps", steps_}};
  constexpr int kIndent = 1;
  return scenario.dump(kIndent) + "\n";
}

std::vector<std::string> ScenarioWriter::Notes() const {
  std::vector<std::string> notes;
  if (!blocked_.empty()) {
    notes.push_back(absl::StrCat(blocked_.size(), " commands still waited at the end: left out"));
  }
  if (errors_ > 0) {
    notes.push_back(absl::StrCat(errors_,
                                 " commands fail when they are replayed, for example "
                                 "because the recorded server was not empty"));
  }
  if (!ids_.empty()) notes.push_back(absl::StrCat(ids_.size(), " generated ids have names now"));
  return notes;
}

}  // namespace redouble::inline v0_1::sim
