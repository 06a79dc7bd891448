// Scripts and functions that run a command of another group, well-formed or corrupted, and return
// its reply, changed or unchanged. Commands whose reply is unspecified (SMEMBERS, ZRANDMEMBER, ...)
// are only in their own groups.
#include <string>
#include <string_view>

#include "redouble/core/base/hash/digest.h"
#include "redouble/tests/differential/generators.h"
#include "redouble/tests/support/target/canonical_reply.h"

namespace redouble::inline v0_1::tests {
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

// Two versions of the library "one", and some that fail to load. None has two functions, because
// FUNCTION LIST gives these in unspecified order.
constexpr std::string_view kLibraries[] = {
    "#!lua name=one\nredis.register_function('call', function(keys, args)\n"
    "  return redis.call(unpack(args))\nend)",
    "#!lua name=one\nredis.register_function('call', function(keys, args)\n"
    "  return {#keys, #args, redis.pcall(unpack(args))}\nend)",
    "#!lua name=two\nlocal function run(keys, args) return redis.call(unpack(args)) end\n"
    "redis.register_function{function_name='read', callback=run, flags={'no-writes'}}",
    "#!lua name=put\nredis.register_function('put', function(keys, args)\n"
    "  redis.call('SET', keys[1], args[1]) return redis.status_reply(keys[1])\nend)",
    "#!lua name=three\nredis.register_function('call', function() return 3 end)",
    "#!lua name=four\nreturn redis.call('PING')",
    "#!lua name=five\nlocal nothing = 5",
    "#!lua name=six\nredis.register_function('f', function() return",
    "#!python name=seven\npass",
    "redis.register_function('f', function() return 1 end)",
};

std::string Script(Vocabulary& words) {
  return std::string(kScripts[words.rng().Below(std::size(kScripts))]);
}

std::string Digest(Vocabulary& words) { return base::Sha1Hex(Script(words)); }

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

// A command whose reply is well defined.
Words InnerCommand(Vocabulary& words) {
  for (;;) {
    const std::span<const CommandGenerator> generators = SomeGenerators(words.rng());
    Words command = MakeCommand(generators[words.rng().Below(generators.size())], words);
    if (OrderOf(command) != ReplyOrder::kExact) continue;
    return words.Chance(0.05) ? Corrupt(command, words) : command;
  }
}

// The function or script to call, one key, and a command.
Words CallArguments(std::string called, Vocabulary& words) {
  Words arguments = {std::move(called), "1", words.Key()};
  Append(arguments, InnerCommand(words));
  return arguments;
}

Words EvalArguments(Vocabulary& words) { return CallArguments(Script(words), words); }

Words EvalShaArguments(Vocabulary& words) { return CallArguments(Digest(words), words); }

Words FCallArguments(Vocabulary& words) {
  return CallArguments(words.Choice({"call", "call", "read", "read", "put", "CALL", "none"}),
                       words);
}

Words ScriptLoadArguments(Vocabulary& words) { return {Script(words)}; }

Words ScriptExistsArguments(Vocabulary& words) { return {Digest(words), Digest(words)}; }

Words FunctionLoadArguments(Vocabulary& words) {
  Words arguments;
  if (words.Chance(0.5)) arguments.push_back(words.Choice({"REPLACE", "replace"}));
  arguments.emplace_back(kLibraries[words.rng().Below(std::size(kLibraries))]);
  return arguments;
}

Words FunctionDeleteArguments(Vocabulary& words) {
  return {words.Choice({"one", "two", "ONE", "none"})};
}

Words FunctionListArguments(Vocabulary& words) {
  Words arguments = {"LIBRARYNAME", words.Choice({"one", "o*", "three"})};
  if (words.Chance(0.5)) arguments.push_back("WITHCODE");
  return arguments;
}

constexpr CommandGenerator kGenerators[] = {
    {CommandId::kEval, 20, EvalArguments},
    {CommandId::kEvalRo, 4, EvalArguments},
    {CommandId::kEvalSha, 6, EvalShaArguments},
    {CommandId::kEvalShaRo, 2, EvalShaArguments},
    {CommandId::kScriptLoad, 4, ScriptLoadArguments},
    {CommandId::kScriptExists, 2, ScriptExistsArguments},
    {CommandId::kFCall, 10, FCallArguments},
    {CommandId::kFCallRo, 4, FCallArguments},
    {CommandId::kFunctionLoad, 8, FunctionLoadArguments},
    {CommandId::kFunctionDelete, 2, FunctionDeleteArguments},
    {CommandId::kFunctionList, 3, FunctionListArguments},
};

}  // namespace

std::span<const CommandGenerator> ScriptGenerators() { return kGenerators; }

}  // namespace redouble::inline v0_1::tests
