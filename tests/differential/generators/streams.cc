// Few keys, groups, consumers and ids, so that the same entries are read, claimed, trimmed and
// deleted; sometimes values that fill a node with a few entries.
#include <string>

#include "redouble/tests/differential/generators.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;

std::string StreamKey(Vocabulary& words) {
  return words.Chance(0.9) ? words.Choice({"a", "a", "b"}) : words.Key();
}

std::string Group(Vocabulary& words) {
  return words.Chance(0.97) ? words.Choice({"g", "g", "g", "h"}) : words.Value();
}

std::string Consumer(Vocabulary& words) { return words.Choice({"x", "y", "z", "X"}); }

std::string Part(Vocabulary& words) { return std::to_string(words.rng().Below(10)); }

// Excludes milliseconds of NewId in which the sequence could overflow: Redis's reply to "ms-*"
// would then depend on the errno of an earlier command.
std::string OddId(Vocabulary& words) {
  return words.Choice({"-",
                       "+",
                       "$",
                       ">",
                       "*",
                       "0",
                       "0-0",
                       "0-1",
                       "18446744073709551615",
                       "18446744073709551615-18446744073709551615",
                       "6-18446744073709551615",
                       "6-18446744073709551614",
                       "18446744073709551616-0",
                       "1-x",
                       "x",
                       "",
                       "1-",
                       "-1",
                       "01-1",
                       " 5-1",
                       "5--1",
                       "6--01",
                       "(5-1",
                       "9-*",
                       "*-1"});
}

// An id that may exist.
std::string Id(Vocabulary& words) {
  if (words.Chance(0.04)) return OddId(words);
  if (words.Chance(0.1)) {
    const std::string ms = words.UnixMillis();
    return ms + "-" + Part(words);
  }
  if (words.Chance(0.15)) return Part(words);
  const std::string any_ms = Part(words);
  const std::string ms = words.Choice({"7", "7", "7", "9", "9", "3", "5", any_ms});
  return ms + "-" + Part(words);
}

std::string NewId(Vocabulary& words) {
  if (words.Chance(0.05)) return OddId(words);
  if (words.Chance(0.12)) return "*";
  if (words.Chance(0.55)) return words.Choice({"3", "5", "7", "7", "7", "9", "9"}) + "-*";
  return Id(words);
}

// One end of a range.
std::string End(Vocabulary& words, std::string_view open) {
  if (words.Chance(0.4)) return std::string(open);
  const std::string id = Id(words);
  return words.Chance(0.2) ? "(" + id : id;
}

std::string Small(Vocabulary& words) {
  return words.Chance(0.05) ? words.Integer() : std::to_string(words.rng().Between(0, 6));
}

Words TrimOption(Vocabulary& words) {
  Words option;
  const bool by_length = words.Chance(0.5);
  option.push_back(by_length ? "MAXLEN" : "MINID");
  const double mode = words.rng().Unit();
  if (mode < 0.4) option.push_back("~");
  if (mode > 0.8) option.push_back("=");
  option.push_back(by_length ? Small(words) : Id(words));
  if (words.Chance(mode < 0.4 ? 0.4 : 0.02)) Append(option, {"LIMIT", Small(words)});
  return option;
}

std::string FieldValue(Vocabulary& words) {
  if (!words.Chance(0.2)) return words.Value();
  return std::string(static_cast<size_t>(words.rng().Between(500, 2200)), 'v');
}

Words XAddArguments(Vocabulary& words) {
  Words arguments = {StreamKey(words)};
  if (words.Chance(0.1)) arguments.push_back("NOMKSTREAM");
  if (words.Chance(0.25)) Append(arguments, TrimOption(words));
  arguments.push_back(NewId(words));
  if (words.Chance(0.7)) return Append(arguments, {"f", FieldValue(words)}), arguments;
  const uint64_t fields = 1 + words.rng().Below(3);
  for (uint64_t i = 0; i < fields; ++i) Append(arguments, {words.Member(), FieldValue(words)});
  return arguments;
}

Words XLenArguments(Vocabulary& words) { return {StreamKey(words)}; }

Words RangeArguments(Vocabulary& words, std::string_view first, std::string_view last) {
  Words arguments = {StreamKey(words), End(words, first), End(words, last)};
  if (words.Chance(0.3)) Append(arguments, {"COUNT", words.SmallInteger()});
  return arguments;
}

Words XRangeArguments(Vocabulary& words) { return RangeArguments(words, "-", "+"); }
Words XRevRangeArguments(Vocabulary& words) { return RangeArguments(words, "+", "-"); }

void AppendIds(Words& arguments, Vocabulary& words) {
  const uint64_t count = 1 + words.rng().Below(3);
  for (uint64_t i = 0; i < count; ++i) arguments.push_back(Id(words));
}

Words XDelArguments(Vocabulary& words) {
  Words arguments = {StreamKey(words)};
  AppendIds(arguments, words);
  return arguments;
}

Words XTrimArguments(Vocabulary& words) {
  Words arguments = {StreamKey(words)};
  Append(arguments, TrimOption(words));
  return arguments;
}

Words XSetIdArguments(Vocabulary& words) {
  Words arguments = {StreamKey(words), Id(words)};
  if (words.Chance(0.4)) Append(arguments, {"ENTRIESADDED", Small(words)});
  if (words.Chance(0.4)) Append(arguments, {"MAXDELETEDID", Id(words)});
  return arguments;
}

// Blocks without a limit, or is invalid. If two calls block on one connection, a server starts the
// second one only after the clock step that ended the first, so the two backends would count its
// timeout from different times. The conformance cases cover timeouts.
std::string Timeout(Vocabulary& words) {
  return words.Choice({"0", "0", "0", "0", "0", "0", "-1", "x", ""});
}

void AppendReadOptions(Words& arguments, Vocabulary& words) {
  if (words.Chance(0.3)) Append(arguments, {"COUNT", words.SmallInteger()});
  if (words.Chance(0.3)) Append(arguments, {"BLOCK", Timeout(words)});
}

void AppendStreams(Words& arguments, Vocabulary& words, std::string_view special) {
  arguments.push_back("STREAMS");
  const uint64_t count = words.Chance(0.75) ? 1 : 2;
  for (uint64_t i = 0; i < count; ++i) arguments.push_back(StreamKey(words));
  for (uint64_t i = 0; i < count; ++i) {
    const double kind = words.rng().Unit();
    arguments.push_back(kind < 0.6 ? std::string(special) : kind < 0.8 ? "0" : Id(words));
  }
}

Words XReadArguments(Vocabulary& words) {
  Words arguments;
  AppendReadOptions(arguments, words);
  AppendStreams(arguments, words, "$");
  return arguments;
}

Words XReadGroupArguments(Vocabulary& words) {
  Words arguments = {"GROUP", Group(words), Consumer(words)};
  AppendReadOptions(arguments, words);
  if (words.Chance(0.1)) arguments.push_back("NOACK");
  AppendStreams(arguments, words, ">");
  return arguments;
}

Words XAckArguments(Vocabulary& words) {
  Words arguments = {StreamKey(words), Group(words)};
  AppendIds(arguments, words);
  return arguments;
}

Words XPendingArguments(Vocabulary& words) {
  Words arguments = {StreamKey(words), Group(words)};
  if (words.Chance(0.3)) return arguments;
  if (words.Chance(0.3)) Append(arguments, {"IDLE", words.TtlMillis()});
  Append(arguments, {End(words, "-"), End(words, "+"), words.SmallInteger()});
  if (words.Chance(0.4)) arguments.push_back(Consumer(words));
  return arguments;
}

std::string MinIdle(Vocabulary& words) { return words.Chance(0.7) ? "0" : words.TtlMillis(); }

Words XClaimArguments(Vocabulary& words) {
  Words arguments = {StreamKey(words), Group(words), Consumer(words), MinIdle(words)};
  AppendIds(arguments, words);
  if (words.Chance(0.2)) Append(arguments, {"IDLE", words.TtlMillis()});
  if (words.Chance(0.2)) Append(arguments, {"TIME", words.UnixMillis()});
  if (words.Chance(0.2)) Append(arguments, {"RETRYCOUNT", Small(words)});
  if (words.Chance(0.3)) arguments.push_back("FORCE");
  if (words.Chance(0.3)) arguments.push_back("JUSTID");
  if (words.Chance(0.15)) Append(arguments, {"LASTID", Id(words)});
  return arguments;
}

// No large counts, because Redis allocates memory for them.
Words XAutoClaimArguments(Vocabulary& words) {
  Words arguments = {StreamKey(words), Group(words), Consumer(words), MinIdle(words),
                     End(words, "0")};
  if (words.Chance(0.5)) {
    Append(arguments, {"COUNT", std::to_string(words.rng().Between(0, 4))});
  }
  if (words.Chance(0.3)) arguments.push_back("JUSTID");
  return arguments;
}

Words XGroupCreateArguments(Vocabulary& words) {
  Words arguments = {StreamKey(words), Group(words), words.Choice({"0", "0", "$", "-", "5"})};
  if (words.Chance(0.2)) arguments[2] = Id(words);
  if (words.Chance(0.7)) arguments.push_back("MKSTREAM");
  if (words.Chance(0.2)) Append(arguments, {"ENTRIESREAD", words.SmallInteger()});
  return arguments;
}

Words XGroupSetIdArguments(Vocabulary& words) {
  Words arguments = {StreamKey(words), Group(words), words.Choice({"0", "$", "-", "+"})};
  if (words.Chance(0.5)) arguments[2] = Id(words);
  if (words.Chance(0.3)) Append(arguments, {"ENTRIESREAD", words.SmallInteger()});
  return arguments;
}

Words KeyAndGroup(Vocabulary& words) { return {StreamKey(words), Group(words)}; }

Words KeyGroupAndConsumer(Vocabulary& words) {
  return {StreamKey(words), Group(words), Consumer(words)};
}

Words XInfoStreamArguments(Vocabulary& words) {
  Words arguments = {StreamKey(words)};
  if (words.Chance(0.7)) arguments.push_back("FULL");
  if (words.Chance(0.3)) Append(arguments, {"COUNT", words.SmallInteger()});
  return arguments;
}

constexpr CommandGenerator kGenerators[] = {
    {CommandId::kXAdd, 24, XAddArguments},
    {CommandId::kXLen, 1, XLenArguments},
    {CommandId::kXRange, 3, XRangeArguments},
    {CommandId::kXRevRange, 3, XRevRangeArguments},
    {CommandId::kXDel, 5, XDelArguments},
    {CommandId::kXTrim, 4, XTrimArguments},
    {CommandId::kXSetId, 2, XSetIdArguments},
    {CommandId::kXRead, 5, XReadArguments},
    {CommandId::kXReadGroup, 14, XReadGroupArguments},
    {CommandId::kXAck, 4, XAckArguments},
    {CommandId::kXPending, 5, XPendingArguments},
    {CommandId::kXClaim, 6, XClaimArguments},
    {CommandId::kXAutoClaim, 5, XAutoClaimArguments},
    {CommandId::kXGroupCreate, 6, XGroupCreateArguments},
    {CommandId::kXGroupSetId, 2, XGroupSetIdArguments},
    {CommandId::kXGroupDestroy, 1, KeyAndGroup},
    {CommandId::kXGroupCreateConsumer, 1, KeyGroupAndConsumer},
    {CommandId::kXGroupDelConsumer, 1, KeyGroupAndConsumer},
    {CommandId::kXInfoStream, 4, XInfoStreamArguments},
    {CommandId::kXInfoGroups, 4, XLenArguments},
    {CommandId::kXInfoConsumers, 3, KeyAndGroup},
};

}  // namespace

std::span<const CommandGenerator> StreamGenerators() { return kGenerators; }

}  // namespace redouble::inline v0_1::tests
