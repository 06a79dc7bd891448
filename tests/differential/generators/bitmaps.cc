#include "redouble/tests/differential/generators.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;

// Mostly small; large enough to grow a string, but not to half a gigabyte.
std::string BitOffset(Vocabulary& words) {
  if (words.Chance(0.05)) return words.Choice({"4294967296", "9223372036854775807", "-1", "#1"});
  return std::to_string(words.rng().Between(0, words.Chance(0.2) ? 600 : 40));
}

std::string Bit(Vocabulary& words) {
  return words.Chance(0.95) ? words.Choice({"0", "1"}) : words.SmallInteger();
}

Words SetBitArguments(Vocabulary& words) { return {words.Key(), BitOffset(words), Bit(words)}; }

Words GetBitArguments(Vocabulary& words) { return {words.Key(), BitOffset(words)}; }

std::string Position(Vocabulary& words) {
  return words.Chance(0.5) ? words.SmallInteger() : std::to_string(words.rng().Between(-80, 80));
}

void AppendUnit(Words& arguments, Vocabulary& words) {
  if (words.Chance(0.6)) arguments.push_back(words.Choice({"BIT", "BIT", "BYTE"}));
}

Words BitCountArguments(Vocabulary& words) {
  Words arguments = {words.Key()};
  if (words.Chance(0.2)) return arguments;
  Append(arguments, {Position(words), Position(words)});
  AppendUnit(arguments, words);
  return arguments;
}

Words BitPosArguments(Vocabulary& words) {
  Words arguments = {words.Key(), Bit(words)};
  if (words.Chance(0.2)) return arguments;
  arguments.push_back(Position(words));
  if (words.Chance(0.2)) return arguments;
  arguments.push_back(Position(words));
  AppendUnit(arguments, words);
  return arguments;
}

Words BitOpArguments(Vocabulary& words) {
  Words arguments = {words.Choice({"AND", "OR", "XOR", "NOT"}), words.Key()};
  const bool one = arguments[0] == "NOT" && words.Chance(0.9);
  Append(arguments, words.Keys(one ? 1 : 1 + words.rng().Below(4)));
  return arguments;
}

std::string FieldType(Vocabulary& words) {
  if (words.Chance(0.03)) return words.Choice({"u64", "i65", "u0", "U8", "u", ""});
  if (words.Chance(0.2)) return words.Choice({"i64", "u63", "i63", "u1", "i1"});
  // In separate statements, because the operands of a sum may be evaluated in any order.
  const std::string sign = words.Choice({"u", "i"});
  return sign + std::to_string(words.rng().Between(1, 32));
}

std::string FieldOffset(Vocabulary& words) {
  if (words.Chance(0.3)) return "#" + std::to_string(words.rng().Between(-1, 9));
  return BitOffset(words);
}

void AppendRead(Words& arguments, Vocabulary& words) {
  Append(arguments, {"GET", FieldType(words), FieldOffset(words)});
}

void AppendWrite(Words& arguments, Vocabulary& words) {
  if (words.Chance(0.4)) Append(arguments, {"OVERFLOW", words.Choice({"WRAP", "SAT", "FAIL"})});
  const std::string name = words.Choice({"SET", "INCRBY"});
  Append(arguments, {name, FieldType(words), FieldOffset(words), words.Integer()});
}

Words BitFieldArguments(Vocabulary& words) {
  Words arguments = {words.Key()};
  for (size_t left = words.rng().Below(5); left > 0; --left) {
    words.Chance(0.35) ? AppendRead(arguments, words) : AppendWrite(arguments, words);
  }
  return arguments;
}

Words BitFieldRoArguments(Vocabulary& words) {
  Words arguments = {words.Key()};
  for (size_t left = words.rng().Below(4); left > 0; --left) AppendRead(arguments, words);
  if (words.Chance(0.05)) AppendWrite(arguments, words);
  return arguments;
}

constexpr CommandGenerator kGenerators[] = {
    {CommandId::kSetBit, 8, SetBitArguments},         {CommandId::kGetBit, 4, GetBitArguments},
    {CommandId::kBitCount, 6, BitCountArguments},     {CommandId::kBitPos, 8, BitPosArguments},
    {CommandId::kBitOp, 5, BitOpArguments},           {CommandId::kBitField, 10, BitFieldArguments},
    {CommandId::kBitFieldRo, 3, BitFieldRoArguments},
};

}  // namespace

std::span<const CommandGenerator> BitmapGenerators() { return kGenerators; }

}  // namespace redouble::inline v0_1::tests
