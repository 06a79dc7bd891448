// Scripts that run a command of another group, well formed or spoilt, and hand its reply on,
// changed or not. What has no one reply (SMEMBERS, ZRANDMEMBER, ...) is left to its own group.
#include <string>
#include <string_view>

#include "tests/differential/generators.h"
#include "tests/support/canonical_reply.h"

namespace redouble::tests {
namespace {

using store::CommandId;

// Each takes one key, and the command as its arguments.
constexpr std::string_view kScripts[] = {
    "return redis.call(unpack(ARGV))",
    "return redis.call(unpack(ARGV))",
    "return redis.pcall(unpack(ARGV))",
    "local reply = redis.pcall(unpack(ARGV)) return {type(reply), reply}",
    "redis.call('SET', KEYS[1], #ARGV) return redis.pcall(unpack(ARGV))",
    "redis.call('RPUSH', KEYS[1], unpack(ARGV)) return redis.call('LRANGE', KEYS[1], 0, -1)",
    "redis.call('ZADD', KEYS[1], 1.5, ARGV[1]) return redis.call('ZSCORE', KEYS[1], ARGV[1])",
    "local reply = redis.call(unpack(ARGV))\n"
    "if type(reply) == 'table' and reply.ok then return redis.status_reply(reply.ok .. '!') end\n"
    "return reply",
    "local first = redis.pcall(unpack(ARGV)) local second = redis.pcall(unpack(ARGV))\n"
    "return {first, second, first == second}",
    "if redis.call('EXISTS', KEYS[1]) == 1 then return redis.error_reply('HAVE ' .. KEYS[1]) end\n"
    "return redis.call(unpack(ARGV))",
    "#!lua flags=no-writes\nreturn redis.pcall(unpack(ARGV))",
    "#!lua\nreturn redis.call(unpack(ARGV))",
    "return {#KEYS, #ARGV, tonumber(ARGV[2]) or 'none', {1, 2.9, nil, 4}, false, true}",
};

std::span<const CommandGenerator> SomeGenerators(base::Rng& rng) {
  switch (rng.Below(6)) {
    case 0:
      return StringGenerators();
    case 1:
      return ListGenerators();
    case 2:
      return SortedSetGenerators();
    case 3:
      return StreamGenerators();
    case 4:
      return HashGenerators();
    default:
      return ExpiryGenerators();
  }
}

// A command that answers alike everywhere.
Words InnerCommand(Vocabulary& words) {
  for (;;) {
    const std::span<const CommandGenerator> generators = SomeGenerators(words.rng());
    Words command = MakeCommand(generators[words.rng().Below(generators.size())], words);
    if (OrderOf(command) != ReplyOrder::kExact) continue;
    return words.Chance(0.05) ? Spoil(command, words) : command;
  }
}

Words EvalArguments(Vocabulary& words) {
  const std::string_view script = kScripts[words.rng().Below(std::size(kScripts))];
  Words arguments = {std::string(script), "1", words.Key()};
  Append(arguments, InnerCommand(words));
  return arguments;
}

constexpr CommandGenerator kGenerators[] = {
    {CommandId::kEval, 20, EvalArguments},
    {CommandId::kEvalRo, 4, EvalArguments},
};

}  // namespace

std::span<const CommandGenerator> ScriptGenerators() { return kGenerators; }

}  // namespace redouble::tests
