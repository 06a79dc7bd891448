// Commands and options of later versions. Redis 7.0 gets no command of this table, so that its
// programs stay as they are.
#include "redouble/tests/differential/generators.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;
using store::Since;

// FIELDS count field...
void AppendFields(Vocabulary& words, Words& arguments) {
  const size_t count = 1 + words.rng().Below(3);
  Append(arguments, {"FIELDS", std::to_string(count)});
  for (size_t i = 0; i < count; ++i) arguments.push_back(words.Member());
}

Words ExpiryOfFields(Vocabulary& words, const std::string& time) {
  Words arguments = {words.Key(), time};
  if (words.Chance(0.3)) arguments.push_back(words.Choice({"NX", "XX", "GT", "LT"}));
  AppendFields(words, arguments);
  return arguments;
}

Words HExpireArguments(Vocabulary& words) { return ExpiryOfFields(words, words.TtlSeconds()); }
Words HPExpireArguments(Vocabulary& words) { return ExpiryOfFields(words, words.TtlMillis()); }
Words HExpireAtArguments(Vocabulary& words) { return ExpiryOfFields(words, words.UnixSeconds()); }
Words HPExpireAtArguments(Vocabulary& words) { return ExpiryOfFields(words, words.UnixMillis()); }

Words KeyAndCountedFields(Vocabulary& words) {
  Words arguments = {words.Key()};
  AppendFields(words, arguments);
  return arguments;
}

void AppendDeadline(Vocabulary& words, Words& arguments) {
  const std::string unit = words.Choice({"EX", "PX", "EXAT", "PXAT"});
  arguments.push_back(unit);
  arguments.push_back(unit == "EX"     ? words.TtlSeconds()
                      : unit == "PX"   ? words.TtlMillis()
                      : unit == "EXAT" ? words.UnixSeconds()
                                       : words.UnixMillis());
}

Words HGetExArguments(Vocabulary& words) {
  Words arguments = {words.Key()};
  if (words.Chance(0.5)) AppendDeadline(words, arguments);
  if (arguments.size() == 1 && words.Chance(0.4)) arguments.push_back("PERSIST");
  AppendFields(words, arguments);
  return arguments;
}

Words HSetExArguments(Vocabulary& words) {
  Words arguments = {words.Key()};
  if (words.Chance(0.3)) arguments.push_back(words.Choice({"FNX", "FXX"}));
  if (words.Chance(0.6)) AppendDeadline(words, arguments);
  if (words.Chance(0.2)) arguments.push_back("KEEPTTL");
  const size_t count = 1 + words.rng().Below(3);
  Append(arguments, {"FIELDS", std::to_string(count)});
  for (size_t i = 0; i < count; ++i) Append(arguments, {words.Member(), words.Value()});
  return arguments;
}

Words HScanWithoutValues(Vocabulary& words) {
  return {words.Key(), "0", "COUNT", "1000", "NOVALUES"};
}

Words RankWithScore(Vocabulary& words) { return {words.Key(), words.Member(), "WITHSCORE"}; }

Words ReadLastEntry(Vocabulary& words) { return {"STREAMS", words.Key(), "+"}; }

Words SetIfEqual(Vocabulary& words) {
  Words arguments = {words.Key(), words.Value(), "IFEQ", words.Value()};
  if (words.Chance(0.3)) arguments.push_back("GET");
  if (words.Chance(0.4)) AppendDeadline(words, arguments);
  if (words.Chance(0.2)) arguments.push_back("KEEPTTL");
  return arguments;
}

Words LibraryOfClient(Vocabulary& words) {
  return {words.Choice({"LIB-NAME", "LIB-VER", "lib-name"}), words.Member()};
}

Words Switch(Vocabulary& words) { return {words.Choice({"ON", "OFF"})}; }

Words Capability(Vocabulary& words) { return {words.Choice({"redirect", "other"})}; }

constexpr LaterGenerator kGenerators[] = {
    {Since("7.4.0"), {CommandId::kHExpire, 6, HExpireArguments}},
    {Since("7.4.0"), {CommandId::kHPExpire, 6, HPExpireArguments}},
    {Since("7.4.0"), {CommandId::kHExpireAt, 3, HExpireAtArguments}},
    {Since("7.4.0"), {CommandId::kHPExpireAt, 3, HPExpireAtArguments}},
    {Since("7.4.0"), {CommandId::kHTtl, 2, KeyAndCountedFields}},
    {Since("7.4.0"), {CommandId::kHPTtl, 3, KeyAndCountedFields}},
    {Since("7.4.0"), {CommandId::kHExpireTime, 2, KeyAndCountedFields}},
    {Since("7.4.0"), {CommandId::kHPExpireTime, 2, KeyAndCountedFields}},
    {Since("7.4.0"), {CommandId::kHPersist, 3, KeyAndCountedFields}},
    {Since("8.0.0"), {CommandId::kHGetEx, 4, HGetExArguments}},
    {Since("8.0.0"), {CommandId::kHSetEx, 6, HSetExArguments}},
    {Since("8.0.0"), {CommandId::kHGetDel, 3, KeyAndCountedFields}},
    {Since("7.4.0") | Since("valkey 8.0.0"), {CommandId::kHScan, 2, HScanWithoutValues}},
    {Since("7.2.0"), {CommandId::kZRank, 2, RankWithScore}},
    {Since("7.2.0"), {CommandId::kZRevRank, 2, RankWithScore}},
    {Since("7.4.0"), {CommandId::kXRead, 3, ReadLastEntry}},
    {Since("valkey 8.1.0"), {CommandId::kSet, 8, SetIfEqual}},
    {Since("7.2.0"), {CommandId::kClientSetInfo, 2, LibraryOfClient}},
    {Since("7.2.0"), {CommandId::kClientNoTouch, 2, Switch}},
    {Since("valkey 8.0.0"), {CommandId::kClientCapa, 2, Capability}},
};

}  // namespace

std::span<const LaterGenerator> LaterGenerators() { return kGenerators; }

}  // namespace redouble::inline v0_1::tests
