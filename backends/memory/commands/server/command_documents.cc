#include "redouble/backends/memory/commands/server/command_documents.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::Reply;

struct Document {
  std::string_view command;
  std::string_view text;
};

constexpr Document kDocuments[] = {
#define REDOUBLE_DOCUMENT(command, text) {command, text},
#include "redouble/backends/memory/commands/server/command_documents.inc"
#undef REDOUBLE_DOCUMENT
};

struct Note {
  std::string_view command;
  size_t key;
  std::string_view text;
};

constexpr std::string_view kWorstWrite =
    "We cannot tell how the keys will be used so we assume the worst, RW and UPDATE";
constexpr std::string_view kWorstRead =
    "We cannot tell how the keys will be used so we assume the worst, RO and ACCESS";
constexpr std::string_view kFoundInValues =
    "For the optional BY/GET keyword. It is marked 'unknown' because the key names derive from the "
    "content of the key we sort";

constexpr Note kNotes[] = {
    {"bitfield", 0, "This command allows both access and modification of the key"},
    {"eval", 0, kWorstWrite},
    {"eval_ro", 0, kWorstRead},
    {"fcall", 0, kWorstWrite},
    {"fcall_ro", 0, kWorstRead},
    {"getex", 0, "RW and UPDATE because it changes the TTL"},
    {"pfcount", 0,
     "RW because it may change the internal representation of the key, and propagate to replicas"},
    {"set", 0, "RW and ACCESS due to the optional `GET` argument"},
    {"sort", 1, kFoundInValues},
    {"sort", 2,
     "For the optional STORE keyword. It is marked 'unknown' because the keyword can appear "
     "anywhere in the argument array"},
    {"sort_ro", 1, kFoundInValues},
    {"xadd", 0, "UPDATE instead of INSERT because of the optional trimming feature"},
};

constexpr std::string_view kBlank = " ";

void SkipBlanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
}

std::string_view Take(std::string_view& text, size_t size) {
  const std::string_view taken = text.substr(0, size);
  text.remove_prefix(taken.size());
  return taken;
}

Reply ReadValue(std::string_view& text);

// Parses until the end of the text or the closing character, and consumes it.
std::vector<Reply> ReadValues(std::string_view& text, char closer) {
  std::vector<Reply> values;
  for (SkipBlanks(text); !text.empty(); SkipBlanks(text)) {
    if (text.front() == closer) {
      text.remove_prefix(1);
      break;
    }
    values.push_back(ReadValue(text));
  }
  return values;
}

Reply ReadValue(std::string_view& text) {
  const char first = text.front();
  if (first == '"') {
    const std::string_view quoted = Take(text, text.find('"', 1) + 1);
    return Reply::Bulk(quoted.substr(1, quoted.size() - 2));
  }
  if (first == '{' || first == '[' || first == '<') {
    text.remove_prefix(1);
    if (first == '{') return Reply::Map(ReadValues(text, '}'));
    if (first == '[') return Reply::Array(ReadValues(text, ']'));
    return Reply::Set(ReadValues(text, '>'));
  }
  const std::string_view word = Take(text, text.find_first_of("}]> "));
  if (first == '+') return Reply::Status(word.substr(1));
  return Reply::Integer(base::ParseInt64(word).value_or(0));
}

}  // namespace

void AppendDocument(std::string_view command, std::vector<Reply>& out) {
  const auto* found = std::lower_bound(
      std::begin(kDocuments), std::end(kDocuments), command,
      [](const Document& document, std::string_view name) { return document.command < name; });
  if (found == std::end(kDocuments) || found->command != command) return;
  std::string_view text = found->text;
  std::vector<Reply> pairs = ReadValues(text, /*closer=*/'\0');
  std::move(pairs.begin(), pairs.end(), std::back_inserter(out));
}

std::string_view KeyNote(std::string_view command, size_t key) {
  const auto* found = std::find_if(std::begin(kNotes), std::end(kNotes), [&](const Note& note) {
    return note.command == command && note.key == key;
  });
  return found == std::end(kNotes) ? std::string_view() : found->text;
}

}  // namespace redouble::inline v0_1::memory
