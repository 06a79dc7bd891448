// Scripts that call the functions of Lua's and Redis's libraries with arguments of every type, and
// return the results or the error as text.
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "redouble/tests/differential/generators.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;

// Returns values as text. Keys of tables are sorted, because their order is not specified;
// addresses are left out.
constexpr std::string_view kShow =
    "local function text(v, depth)\n"
    "  local t = type(v)\n"
    "  if t == 'number' then return string.format('%.17g', v) end\n"
    "  if t == 'string' then return '\"' .. v .. '\"' end\n"
    "  if t ~= 'table' then return t == 'boolean' and tostring(v) or t end\n"
    "  if depth > 8 then return '...' end\n"
    "  local parts = {}\n"
    "  for k, e in pairs(v) do parts[#parts + 1] = text(k, depth + 1) .. '=' .. text(e, depth + 1) "
    "end\n"
    "  table.sort(parts)\n"
    "  return '{' .. table.concat(parts, ',') .. '}'\n"
    "end\n"
    "local function show(...)\n"
    "  local out = {}\n"
    "  for i = 1, select('#', ...) do out[i] = text((select(i, ...)), 0) end\n"
    "  return out\n"
    "end\n";

// Functions whose results follow from their arguments.
constexpr std::string_view kFunctions[] = {
    "cjson.encode",
    "cjson.decode",
    "cmsgpack.pack",
    "cmsgpack.unpack",
    "cmsgpack.unpack",
    "cmsgpack.unpack_one",
    "cmsgpack.unpack_limit",
    "struct.pack",
    "struct.unpack",
    "struct.size",
    "bit.tobit",
    "bit.tohex",
    "bit.bnot",
    "bit.band",
    "bit.bor",
    "bit.bxor",
    "bit.lshift",
    "bit.rshift",
    "bit.arshift",
    "bit.rol",
    "bit.ror",
    "bit.bswap",
    "string.byte",
    "string.char",
    "string.find",
    "string.format",
    "string.gsub",
    "string.len",
    "string.lower",
    "string.match",

    "string.reverse",
    "string.sub",
    "string.upper",
    "table.concat",
    "table.maxn",
    "math.abs",
    "math.ceil",
    "math.floor",
    "math.fmod",
    "math.frexp",
    "math.ldexp",
    "math.max",
    "math.min",
    "math.modf",
    "math.sqrt",
    "tonumber",
    "unpack",
    "select",
    "type",
    "rawequal",
    "rawget",
    "redis.sha1hex",
    "redis.error_reply",
    "redis.status_reply",
    "loadstring",
};

// Arguments: literals of Lua.
constexpr std::string_view kNumbers[] = {
    "0",           "1",
    "-1",          "2",
    "3",           "8",
    "31",          "32",
    "255",         "1.5",
    "-0.5",        "2147483647",
    "2147483648",  "4294967295",
    "-2147483648", "4294967296",
    "1e15",        "1e300",
    "0/0",         "1/0",
    "-1/0",        "9007199254740993",
    "65536",
};
constexpr std::string_view kTables[] = {
    "{}",           "{1,2,3}",
    "{1,nil,3}",    "{a=1}",
    "{[2]='x'}",    "{{},{1}}",
    "{1,a=2}",      "{ok='fine'}",
    "{err='bad'}",  "{'a','b','c'}",
    "{[1.5]=true}", "{a={b={c={}}}}",
    "{[10000]=1}",  "{1,{2,{3,{4,{5}}}}}",
};
constexpr std::string_view kTexts[] = {
    "",
    "a",
    "hello world",
    "12",
    "-7",
    "0x1F",
    "1e3",
    "[]",
    "{}",
    "null",
    "[1,2.5,\"a\",null,true]",
    "{\"a\":{\"b\":[1]}}",
    "\"\\u00e9\"",
    "\"\\ud83d\\ude00\"",
    "\"\\ud83d\"",
    "1e400",
    "[",
    "{\"a\":}",
    "01",
    "nan",
    "[1,]",
    "[1,[2,[]]]",
    "{\"1\":2}",
    "%d",
    "%5.2f",
    "%s",
    "%q",
    "%x",
    "%c",
    "%10.3s",
    "%%",
    "%99d",
    "%100d",
    "%",
    "%w+",
    "^a",
    "(a)(b)",
    "%b()",
    "%f[%w]",
    "[a-",
    "(",
    ".-",
    "()",
    "%1",
    "l+",
    ">I2",
    "<i4",
    "!8b",
    "s",
    "c0",
    "c3",
    "BHLh",
    "dfl",
    "I17",
    "z",
    ">I2c2",
    "return 1, 'a'",
    "return",
    "\x1bLua",
    "\xc3\xa9",
    "\x81\xa1\x61\x01",
    "\x93\x01\x02\x03",
    "\xca\x3f\xc0",
};

std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    const std::string digits = std::to_string(code);
    quoted += "\\" + std::string(3 - digits.size(), '0') + digits;
  }
  return quoted + "'";
}

template <size_t kSize>
std::string_view Pick(const std::string_view (&choices)[kSize], Vocabulary& words) {
  return choices[words.rng().Below(kSize)];
}

std::string RandomBytes(Vocabulary& words) {
  std::string bytes(words.rng().Below(12), ' ');
  for (char& byte : bytes) byte = static_cast<char>(words.rng().Below(256));
  return bytes;
}

std::string Argument(Vocabulary& words) {
  switch (words.rng().Below(8)) {
    case 0:
    case 1:
      return std::string(Pick(kNumbers, words));
    case 2:
      return std::string(Pick(kTables, words));
    case 3:
      return words.Choice({"nil", "true", "false"});
    case 4:
      return Quoted(RandomBytes(words));
    default:
      return Quoted(Pick(kTexts, words));
  }
}

std::string Place(Vocabulary& words) {
  return words.Choice(
      {"0", "1", "2", "3", "-1", "255", "1.5", "65536", "1e6", "'2'", "'x'", "{}", "nil"});
}

// A call of a function; its first argument may be what another function returns.
std::string Call(Vocabulary& words) {
  const std::string_view function = Pick(kFunctions, words);
  std::string call(function);
  const uint64_t count = words.rng().Below(5);
  for (uint64_t i = 0; i < count; ++i) {
    call += ", ";
    // Valkey 8.0.1 crashes if unpack has more than 2^31 places; conformance cases have these.
    const bool is_place = i > 0 && function == "unpack";
    const bool nests = i == 0 && words.Chance(0.2);
    call += is_place ? Place(words)
            : nests  ? "(select(2, pcall(" + Call(words) + ")))"
                     : Argument(words);
  }
  return call;
}

Words EvalArguments(Vocabulary& words) {
  std::string script(kShow);
  script += "return show(pcall(" + Call(words) + "))";
  return {std::move(script), "0"};
}

constexpr CommandGenerator kGenerators[] = {
    {CommandId::kEval, 1, EvalArguments},
};

}  // namespace

std::span<const CommandGenerator> LibraryGenerators() { return kGenerators; }

}  // namespace redouble::inline v0_1::tests
