#include "redouble/backends/memory/append_only/save_commands.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/keyspace/database.h"
#include "redouble/backends/memory/keyspace/field_deadlines.h"
#include "redouble/backends/memory/scripting/function_libraries.h"
#include "redouble/backends/memory/snapshot/keys_saver.h"
#include "redouble/backends/memory/values/hash.h"
#include "redouble/backends/memory/values/list.h"
#include "redouble/backends/memory/values/set.h"
#include "redouble/backends/memory/values/sorted_set.h"
#include "redouble/backends/memory/values/stream.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr size_t kElementsOfCommand = 64;
constexpr int64_t kUnknownCount = -1;

// Appends commands to a text. Elements of a collection come in commands of at most 64.
class CommandText {
 public:
  explicit CommandText(std::string& out) : out_(out) {}

  void Append(std::initializer_list<std::string_view> words) {
    AppendCount(words.size());
    for (const std::string_view word : words) AppendWord(word);
  }

  void AppendKey(const Database& db, const Database::Entry& entry) {
    const std::string_view key = entry.key();
    const Value& value = entry.value;
    if (const List* list = value.As<List>()) {
      AppendList(key, *list);
    } else if (const Set* set = value.As<Set>()) {
      size_t index = 0;
      set->ForEach([&](std::string_view member) {
        BeginElement("SADD", key, index++, set->size(), 1);
        AppendWord(member);
      });
    } else if (const SortedSet* sorted = value.As<SortedSet>()) {
      AppendSortedSet(key, *sorted);
    } else if (const Hash* hash = value.As<Hash>()) {
      AppendHash(key, *hash);
      if (const auto deadlines = db.FieldDeadlinesOf(key)) AppendFieldDeadlines(key, *deadlines);
    } else if (const Stream* stream = value.As<Stream>()) {
      AppendStream(key, *stream);
    } else {
      Value::TextBuffer text;
      Append({"SET", key, value.Text(text)});
    }
    const std::optional<int64_t> deadline_ms = db.DeadlineOf(entry);
    if (deadline_ms) Append({"PEXPIREAT", key, base::FormatInt64(*deadline_ms)});
  }

 private:
  void AppendCount(size_t words) { absl::StrAppend(&out_, "*", words, "\r\n"); }
  void AppendWord(std::string_view word) {
    absl::StrAppend(&out_, "$", word.size(), "\r\n", base::ToAbsl(word), "\r\n");
  }

  // To be called before each of `count` elements of `width` words: begins a command if the last one
  // is complete.
  void BeginElement(std::string_view name, std::string_view key, size_t index, size_t count,
                    size_t width) {
    if (index % kElementsOfCommand != 0) return;
    AppendCount(2 + width * std::min(kElementsOfCommand, count - index));
    AppendWord(name);
    AppendWord(key);
  }

  void AppendList(std::string_view key, const List& list) {
    size_t index = 0;
    for (List::Cursor at = list.First(); at.valid(); at.Next()) {
      BeginElement("RPUSH", key, index++, list.size(), 1);
      AppendWord(at.value().ToString());
    }
  }

  void AppendHash(std::string_view key, const Hash& hash) {
    size_t index = 0;
    hash.ForEach([&](std::string_view field, std::string_view text) {
      BeginElement("HMSET", key, index++, hash.size(), 2);
      AppendWord(field);
      AppendWord(text);
    });
  }

  void AppendFieldDeadlines(std::string_view key, const FieldDeadlines::List& deadlines) {
    for (const auto& [field, deadline_ms] : deadlines) {
      Append({"HPEXPIREAT", key, base::FormatInt64(deadline_ms), "FIELDS", "1", field});
    }
  }

  void AppendSortedSet(std::string_view key, const SortedSet& set) {
    size_t index = 0;
    set.ForEach(0, set.size(), false, [&](std::string_view member, double score) {
      BeginElement("ZADD", key, index++, set.size(), 2);
      AppendWord(absl::StrFormat("%.17g", score));
      AppendWord(member);
    });
  }

  void AppendStream(std::string_view key, const Stream& stream) {
    for (Stream::Cursor at = stream.From(StreamId::Min()); at.valid(); at.Next()) {
      AppendCount(3 + 2 * at.field_count());
      AppendWord("XADD");
      AppendWord(key);
      AppendWord(at.id().ToString());
      at.VisitFields([&](const ListpackValue& field, const ListpackValue& value) {
        AppendWord(field.ToString());
        AppendWord(value.ToString());
      });
    }
    if (stream.size() == 0) {
      // Adds an entry that is trimmed at once, because no command makes an empty stream.
      const StreamId last = stream.last_id();
      const StreamId id = last == StreamId::Min() ? StreamId{.ms = 0, .seq = 1} : last;
      Append({"XADD", key, "MAXLEN", "0", id.ToString(), "x", "y"});
    }
    Append({"XSETID", key, stream.last_id().ToString(), "ENTRIESADDED",
            std::to_string(stream.entries_added()), "MAXDELETEDID",
            stream.max_deleted_id().ToString()});
    for (const auto& [name, group] : stream.groups()) AppendGroup(key, name, group);
  }

  void AppendGroup(std::string_view key, std::string_view name, const StreamGroup& group) {
    Append({"XGROUP", "CREATE", key, name, group.position.last_delivered_id.ToString(),
            "ENTRIESREAD", base::FormatInt64(group.position.entries_read.value_or(kUnknownCount))});
    for (const auto& [consumer, state] : group.consumers()) {
      for (const StreamId id : state->pending) {
        const StreamPending& pending = group.pending().find(id)->second;
        Append({"XCLAIM", key, name, consumer, "0", id.ToString(), "TIME",
                base::FormatInt64(pending.delivered_ms), "RETRYCOUNT",
                std::to_string(pending.deliveries), "JUSTID", "FORCE"});
      }
      if (state->pending.empty()) Append({"XGROUP", "CREATECONSUMER", key, name, consumer});
    }
  }

  std::string& out_;
};

class CommandSaver final : public KeysSaver {
 public:
  CommandSaver(EngineCore& core, CommandSaveOptions options)
      : KeysSaver(core, /*keeps=*/{}, /*keeps_use=*/false) {
    if (options.writes_time) {
      absl::StrAppend(&buffer(), "#TS:", core.clock().NowMillis() / 1000, "\r\n");
    }
    CommandText text(buffer());
    for (const FunctionLibraries::Library* library : core.functions().List()) {
      text.Append({"FUNCTION", "LOAD", library->code});
    }
  }

 private:
  void AppendDatabase(size_t index, const Sizes&, std::string& out) const override {
    CommandText(out).Append({"SELECT", base::FormatInt64(static_cast<int64_t>(index))});
  }

  void AppendKey(const Database& db, const Database::Entry& entry, EvictionRecord,
                 std::string& out) const override {
    CommandText(out).AppendKey(db, entry);
  }

  void EndPart(std::string&, bool) override {}
};

}  // namespace

absl::Status SaveCommands(Engine& engine, ByteSink& sink) {
  return FinishSaving(*BeginSavingCommands(engine), sink);
}

std::unique_ptr<KeysSave> BeginSavingCommands(Engine& engine, CommandSaveOptions options) {
  return std::make_unique<CommandSaver>(engine.core(), options);
}

}  // namespace redouble::inline v0_1::memory
