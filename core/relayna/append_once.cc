#include "core/relayna/append_once.h"

#include <string_view>
#include <vector>

#include "core/base/redis_number.h"
#include "core/store/batch.h"
#include "core/store/command.h"
#include "core/store/decode.h"
#include "core/store/errors.h"
#include "core/store/script.h"

namespace redouble::relayna {
namespace {

using store::Batch;
using store::Command;
using store::CommandId;

Command MarkerCommand(const Append& append) {
  Command command(CommandId::kSet, {append.marker, "1", "NX"});
  if (HasTtl(append.ttl_seconds)) command.Add("EX").AddInteger(*append.ttl_seconds);
  return command;
}

void AddExpire(Batch& batch, const Append& append, std::string_view key) {
  if (HasTtl(append.ttl_seconds)) {
    batch.Add(CommandId::kExpire, {key}).AddInteger(*append.ttl_seconds);
  }
}

Batch WriteBatch(const Append& append) {
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kLPush, {append.list, append.payload});
  batch.Add(CommandId::kLTrim, {append.list, "0"}).AddInteger(append.maxlen - 1);
  AddExpire(batch, append, append.list);
  if (append.membership) {
    batch.Add(CommandId::kSAdd, {append.membership->set, append.membership->member});
    AddExpire(batch, append, append.membership->set);
  }
  if (append.channel) batch.Add(CommandId::kPublish, {*append.channel, append.payload});
  return batch;
}

// KEYS: marker, list and set of each append, the list again where there is no set.
// ARGV, for each append: payload, last index to keep, ttl or "", has a set or not (1 or 0), member,
// publishes or not, channel, digest of the list or "", place.
// Lengths are asked first, because a wrong type has to fail before anything is written.
constexpr char kAppendText[] = R"(
local fields = 9
local appends = #KEYS / 3
for i = 0, appends - 1 do
  redis.call('LLEN', KEYS[3 * i + 2])
  if ARGV[fields * i + 4] == '1' then redis.call('SCARD', KEYS[3 * i + 3]) end
end
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
for i = 0, appends - 1 do
  local seen = ARGV[fields * i + 8]
  if seen ~= '' then
    local text = {}
    for _, element in ipairs(redis.call('LRANGE', KEYS[3 * i + 2], 0, -1)) do
      text[#text + 1] = element .. '\n'
    end
    if redis.sha1hex(table.concat(text)) ~= seen then return -1 end
  end
end
for i = 0, appends - 1 do
  local marker, list, set = KEYS[3 * i + 1], KEYS[3 * i + 2], KEYS[3 * i + 3]
  local payload, last, ttl, has_set, member, publishes, channel, _, place =
      unpack(ARGV, fields * i + 1, fields * i + fields)
  if redis.call('EXISTS', marker) == 0 then
    if ttl == '' then
      redis.call('SET', marker, '1')
    else
      redis.call('SET', marker, '1', 'EX', ttl)
    end
    local next_element = place ~= '0' and redis.call('LINDEX', list, place)
    if place == '0' then
      redis.call('LPUSH', list, payload)
    elseif next_element then
      redis.call('LINSERT', list, 'BEFORE', next_element, payload)
    else
      redis.call('RPUSH', list, payload)
    end
    redis.call('LTRIM', list, '0', last)
    if ttl ~= '' then redis.call('EXPIRE', list, ttl) end
    if has_set == '1' then
      redis.call('SADD', set, member)
      if ttl ~= '' then redis.call('EXPIRE', set, ttl) end
    end
    if publishes == '1' then redis.call('PUBLISH', channel, payload) end
  end
end
return 1
)";

const store::Script& AppendScript() {
  static const store::Script& script = *new store::Script(kAppendText);
  return script;
}

void AddKeys(std::vector<std::string_view>& keys, const Append& append) {
  keys.push_back(append.marker);
  keys.push_back(append.list);
  keys.push_back(append.membership ? append.membership->set : append.list);
}

void AddArguments(std::vector<std::string>& arguments, const Append& append) {
  arguments.push_back(append.payload);
  arguments.push_back(base::FormatInt64(append.maxlen - 1));
  arguments.push_back(HasTtl(append.ttl_seconds) ? base::FormatInt64(*append.ttl_seconds) : "");
  arguments.push_back(append.membership ? "1" : "0");
  arguments.push_back(append.membership ? append.membership->member : "");
  arguments.push_back(append.channel ? "1" : "0");
  arguments.push_back(append.channel.value_or(""));
  arguments.push_back(append.place ? append.place->seen_sha1 : "");
  arguments.push_back(base::FormatInt64(append.place ? append.place->index : 0));
}

}  // namespace

bool HasTtl(std::optional<int64_t> ttl_seconds) { return ttl_seconds.value_or(0) != 0; }

base::Task<absl::StatusOr<bool>> AppendOnce(store::Store& store, const Append& append) {
  const Command mark = MarkerCommand(append);
  const absl::StatusOr<bool> is_new = store::DecodeStatusOrNil(co_await store.Execute(mark));
  if (!is_new.ok() || !*is_new) co_return is_new;
  const Batch write = WriteBatch(append);
  const absl::StatusOr<std::vector<store::Reply>> replies = co_await store::Execute(store, write);
  if (!replies.ok()) co_return replies.status();
  if (absl::Status error = store::FirstError(*replies); !error.ok()) co_return error;
  co_return true;
}

base::Task<absl::StatusOr<bool>> AppendOnceAtomically(store::Store& store,
                                                      std::span<const Append> appends) {
  std::vector<std::string_view> keys;
  std::vector<std::string> arguments;
  for (const Append& append : appends) {
    AddKeys(keys, append);
    AddArguments(arguments, append);
  }
  const std::vector<std::string_view> views(arguments.begin(), arguments.end());
  const absl::StatusOr<int64_t> outcome =
      store::DecodeInteger(co_await AppendScript().Run(store, keys, views));
  if (!outcome.ok()) co_return outcome.status();
  if (*outcome < 0) co_return absl::AbortedError("the list has changed");
  co_return *outcome == 1;
}

}  // namespace redouble::relayna
