#include "redouble/tests/differential/generators.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandId;

std::string Degrees(Vocabulary& words, double max) {
  // Mostly close together, so that a search includes some members and excludes others.
  const double range = words.Chance(0.6) ? 2 : max;
  const auto micro = static_cast<int64_t>(range * 1e6);
  return std::to_string(static_cast<double>(words.rng().Between(-micro, micro)) / 1e6);
}

// Some positions are shared, so that members have equal distances.
Words Position(Vocabulary& words) {
  if (words.Chance(0.3)) return {words.Choice({"0.5", "1", "-1"}), words.Choice({"0.5", "1"})};
  if (words.Chance(0.03)) return {words.Float(), words.Float()};
  if (words.Chance(0.05))
    return {words.Choice({"-180", "180"}), words.Choice({"85.05112878", "0"})};
  return {Degrees(words, 180), Degrees(words, 85)};
}

std::string Unit(Vocabulary& words) {
  return words.Chance(0.02) ? words.Junk() : words.Choice({"m", "km", "ft", "mi", "KM"});
}

std::string Length(Vocabulary& words) {
  if (words.Chance(0.05)) return words.Float();
  if (words.Chance(0.5)) return std::to_string(words.rng().Between(0, 400));
  return std::to_string(words.rng().Between(0, 20'000'000));
}

Words GeoAddArguments(Vocabulary& words) {
  Words arguments = {words.Key()};
  if (words.Chance(0.2)) arguments.push_back(words.Choice({"NX", "XX", "CH"}));
  if (words.Chance(0.1)) arguments.push_back(words.Choice({"NX", "XX", "CH"}));
  const bool many = words.Chance(0.1);
  for (int64_t left = words.rng().Between(1, many ? 60 : 5); left > 0; --left) {
    Append(arguments, Position(words));
    arguments.push_back(many ? std::to_string(left) : words.Member());
  }
  return arguments;
}

Words MembersArguments(Vocabulary& words) {
  Words arguments = {words.Key()};
  for (size_t left = words.rng().Below(4); left > 0; --left) arguments.push_back(words.Member());
  return arguments;
}

Words GeoDistArguments(Vocabulary& words) {
  Words arguments = {words.Key(), words.Member(), words.Member()};
  if (words.Chance(0.5)) arguments.push_back(Unit(words));
  return arguments;
}

void AppendFlags(Words& arguments, Vocabulary& words) {
  if (words.Chance(0.4)) arguments.push_back("WITHDIST");
  if (words.Chance(0.3)) arguments.push_back("WITHCOORD");
  if (words.Chance(0.3)) arguments.push_back("WITHHASH");
}

void AppendOrder(Words& arguments, Vocabulary& words) {
  if (words.Chance(0.5)) arguments.push_back(words.Choice({"ASC", "DESC"}));
  if (words.Chance(0.3)) {
    Append(arguments, {"COUNT", words.Count(words.Chance(0.2) ? 30 : 5)});
    if (words.Chance(0.4)) arguments.push_back("ANY");
  }
  if (words.Chance(0.02)) arguments.push_back("ANY");
}

void AppendStore(Words& arguments, Vocabulary& words) {
  Append(arguments, {words.Choice({"STORE", "STOREDIST"}), words.Key()});
}

void AppendOptions(Words& arguments, Vocabulary& words, bool may_store) {
  const bool store = may_store && words.Chance(0.3);
  if (!store || words.Chance(0.1)) AppendFlags(arguments, words);
  AppendOrder(arguments, words);
  if (store || words.Chance(0.03)) AppendStore(arguments, words);
}

Words RadiusArguments(Vocabulary& words, bool may_store) {
  Words arguments = {words.Key()};
  Append(arguments, Position(words));
  Append(arguments, {Length(words), Unit(words)});
  AppendOptions(arguments, words, may_store);
  return arguments;
}

Words ByMemberArguments(Vocabulary& words, bool may_store) {
  Words arguments = {words.Key(), words.Member(), Length(words), Unit(words)};
  AppendOptions(arguments, words, may_store);
  return arguments;
}

Words GeoRadiusArguments(Vocabulary& words) { return RadiusArguments(words, true); }

Words GeoRadiusRoArguments(Vocabulary& words) { return RadiusArguments(words, false); }

Words GeoRadiusByMemberArguments(Vocabulary& words) { return ByMemberArguments(words, true); }

Words GeoRadiusByMemberRoArguments(Vocabulary& words) { return ByMemberArguments(words, false); }

// Always complete, because the error for a missing shape repeats the client's spelling of the
// command.
void AppendShape(Words& arguments, Vocabulary& words) {
  if (words.Chance(0.5)) {
    Append(arguments, {"FROMMEMBER", words.Member()});
  } else {
    arguments.push_back("FROMLONLAT");
    Append(arguments, Position(words));
  }
  if (words.Chance(0.5)) {
    Append(arguments, {"BYRADIUS", Length(words), Unit(words)});
  } else {
    Append(arguments, {"BYBOX", Length(words), Length(words), Unit(words)});
  }
}

Words GeoSearchArguments(Vocabulary& words) {
  Words arguments = {words.Key()};
  AppendShape(arguments, words);
  AppendFlags(arguments, words);
  AppendOrder(arguments, words);
  return arguments;
}

Words GeoSearchStoreArguments(Vocabulary& words) {
  Words arguments = words.Keys(2);
  AppendShape(arguments, words);
  AppendOrder(arguments, words);
  if (words.Chance(0.3)) arguments.push_back("STOREDIST");
  if (words.Chance(0.05)) AppendFlags(arguments, words);
  return arguments;
}

constexpr CommandGenerator kGenerators[] = {
    {CommandId::kGeoAdd, 14, GeoAddArguments},
    {CommandId::kGeoPos, 3, MembersArguments},
    {CommandId::kGeoHash, 3, MembersArguments},
    {CommandId::kGeoDist, 4, GeoDistArguments},
    {CommandId::kGeoRadius, 5, GeoRadiusArguments},
    {CommandId::kGeoRadiusRo, 2, GeoRadiusRoArguments},
    {CommandId::kGeoRadiusByMember, 4, GeoRadiusByMemberArguments},
    {CommandId::kGeoRadiusByMemberRo, 2, GeoRadiusByMemberRoArguments},
    {CommandId::kGeoSearch, 8, GeoSearchArguments},
    {CommandId::kGeoSearchStore, 5, GeoSearchStoreArguments},
};

}  // namespace

std::span<const CommandGenerator> GeoGenerators() { return kGenerators; }

}  // namespace redouble::inline v0_1::tests
