#include "redouble/backends/memory/commands/server/command_documents.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>

#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::Reply;
using store::Since;
using store::Version;

struct Document {
  std::string_view command;
  std::string_view text;
};

constexpr Document kDocuments[] = {
#define REDOUBLE_DOCUMENT(command, text) {command, text},
#include "redouble/backends/memory/commands/server/command_documents.inc"
#undef REDOUBLE_DOCUMENT
};

struct LaterDocument {
  std::string_view command;
  store::VersionSet versions;
  std::string_view text;
};

constexpr LaterDocument kLaterDocuments[] = {
#define REDOUBLE_LATER_DOCUMENT(command, versions, text) {command, versions, text},
#include "redouble/backends/memory/commands/server/later_documents.inc"
#undef REDOUBLE_LATER_DOCUMENT
};

// The names of the map, in the order in which servers list them.
constexpr std::string_view kOrder[] = {"summary",     "since",     "group",
                                       "complexity",  "doc_flags", "deprecated_since",
                                       "replaced_by", "history",   "arguments"};

struct Note {
  std::string_view command;
  size_t key;
  std::string_view text;
  store::VersionSet versions = Since("1.0.0");
};

constexpr std::string_view kWorstWrite =
    "We cannot tell how the keys will be used so we assume the worst, RW and UPDATE";
constexpr std::string_view kWorstRead =
    "We cannot tell how the keys will be used so we assume the worst, RO and ACCESS";
constexpr std::string_view kFoundInValues =
    "For the optional BY/GET keyword. It is marked 'unknown' because the key names derive from the "
    "content of the key we sort";

constexpr std::string_view kLastStore =
    "Incomplete because duplicate STORE options use last-wins; fall back to georadiusGetKeys";
constexpr std::string_view kLastStoreDist =
    "Incomplete because duplicate STOREDIST options use last-wins; fall back to georadiusGetKeys";

constexpr Note kNotes[] = {
    {"bitfield", 0, "This command allows both access and modification of the key"},
    {"eval", 0, kWorstWrite},
    {"eval_ro", 0, kWorstRead},
    {"fcall", 0, kWorstWrite},
    {"fcall_ro", 0, kWorstRead},
    {"georadius", 1, kLastStore, Since("8.0.0")},
    {"georadius", 2, kLastStoreDist, Since("8.0.0")},
    {"georadiusbymember", 1, kLastStore, Since("8.0.0")},
    {"georadiusbymember", 2, kLastStoreDist, Since("8.0.0")},
    {"hgetex", 0, "RW and UPDATE because it changes the TTL"},
    {"xread", 0,
     "Incomplete because a stream key named STREAMS (or options before it) can shift the STREAMS "
     "keyword; fall back to xreadGetKeys",
     Since("8.0.0")},
    {"xreadgroup", 0,
     "Incomplete because a consumer/group named STREAMS (or options before GROUP) can shift the "
     "STREAMS keyword; fall back to xreadGetKeys",
     Since("8.0.0")},
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
  if (word == "nil") return Reply::Nil();
  return Reply::Integer(base::ParseInt64(word).value_or(0));
}

size_t PlaceOf(std::string_view name) {
  return static_cast<size_t>(std::find(std::begin(kOrder), std::end(kOrder), name) - kOrder);
}

// Replaces the value of a name or adds it at its place. Nil removes the name.
void SetField(Reply name, Reply value, std::vector<Reply>& out) {
  size_t at = 0;
  while (at < out.size() && PlaceOf(out[at].text()) < PlaceOf(name.text())) at += 2;
  const auto place = out.begin() + static_cast<std::ptrdiff_t>(at);
  const bool is_there = at < out.size() && out[at].text() == name.text();
  if (value.is_nil()) {
    if (is_there) out.erase(place, place + 2);
  } else if (is_there) {
    out[at + 1] = std::move(value);
  } else {
    out.insert(out.insert(place, std::move(value)), std::move(name));
  }
}

// The rows of the command in a table that is sorted by commands.
template <typename Row, size_t kCount>
std::span<const Row> RowsOf(const Row (&table)[kCount], std::string_view command) {
  const auto rows = std::ranges::equal_range(table, command, {}, &Row::command);
  return {rows.begin(), rows.end()};
}

}  // namespace

void AppendDocument(std::string_view command, Version version, std::vector<Reply>& out) {
  const auto apply = [&](std::string_view text) {
    std::vector<Reply> pairs = ReadValues(text, /*closer=*/'\0');
    for (size_t i = 0; i < pairs.size(); i += 2) {
      SetField(std::move(pairs[i]), std::move(pairs[i + 1]), out);
    }
  };
  for (const Document& row : RowsOf(kDocuments, command)) apply(row.text);
  for (const LaterDocument& row : RowsOf(kLaterDocuments, command)) {
    if (row.versions.Has(version)) apply(row.text);
  }
}

std::string_view KeyNote(std::string_view command, size_t key, Version version) {
  const auto* found = std::find_if(std::begin(kNotes), std::end(kNotes), [&](const Note& note) {
    return note.command == command && note.key == key && note.versions.Has(version);
  });
  return found == std::end(kNotes) ? std::string_view() : found->text;
}

}  // namespace redouble::inline v0_1::memory
