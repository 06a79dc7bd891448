#include "redouble/backends/memory/values/sorted_set.h"

#include <cassert>
#include <limits>
#include <utility>

#include "redouble/backends/memory/values/encodings/listpack_score.h"
#include "redouble/core/base/text/shortest_double.h"

namespace redouble::inline v0_1::memory {
namespace {

// The integer that a listpack stores instead of a score; nullopt if it stores the text. Redis
// stores half of the 64-bit integers as text, to be safe from rounding.
std::optional<int64_t> IntegerOf(double score) {
  constexpr double kLimit = 4611686018427387904.0;  // 2^62
  if (score < -kLimit || score > kLimit) return std::nullopt;
  const auto integer = static_cast<int64_t>(score);
  if (static_cast<double>(integer) != score) return std::nullopt;
  return integer;
}

// Compares bounds as Redis does; the infinite ends are below and above every member.
int Compare(const LexBound& a, const LexBound& b) {
  if (a.kind == b.kind && a.kind != LexBound::Kind::kMember) return 0;
  if (a.kind == LexBound::Kind::kLowest || b.kind == LexBound::Kind::kHighest) return -1;
  if (a.kind == LexBound::Kind::kHighest || b.kind == LexBound::Kind::kLowest) return 1;
  return a.member.compare(b.member);
}

LexBound BoundOf(std::string_view member) {
  return {.kind = LexBound::Kind::kMember, .member = member, .exclusive = false};
}

// Whether a listpack of members and scores has the order of a sorted set, which makes the members
// of one score distinct.
bool IsInOrder(const Listpack& listpack) {
  base::Int64Buffer buffers[2];
  std::string_view last_member;
  double last_score = -std::numeric_limits<double>::infinity();
  int turn = 0;
  for (Listpack::Position at = listpack.First(); at != Listpack::kNone; turn ^= 1) {
    const bool is_first = at == listpack.First();
    const std::string_view member = listpack.Get(at).View(buffers[turn]);
    at = listpack.Next(at);
    const std::optional<double> score = ScoreOf(listpack.Get(at));
    at = listpack.Next(at);
    if (!score || *score < last_score) return false;
    if (!is_first && *score == last_score && member <= last_member) return false;
    last_member = member;
    last_score = *score;
  }
  return true;
}

}  // namespace

bool LexRange::AtLeastMin(std::string_view member) const {
  const int order = Compare(BoundOf(member), min);
  return min.exclusive ? order > 0 : order >= 0;
}

bool LexRange::AtMostMax(std::string_view member) const {
  const int order = Compare(BoundOf(member), max);
  return max.exclusive ? order < 0 : order <= 0;
}

bool LexRange::empty() const {
  const int order = Compare(min, max);
  return order > 0 || (order == 0 && (min.exclusive || max.exclusive));
}

size_t SortedSet::Table::RankOf(const Member& member) const {
  return order.PartitionPoint(
      [&](uint32_t position) { return members.at(position).IsBefore(member.score, member.key()); });
}

void SortedSet::Table::InsertInOrder(size_t position) {
  order.Insert(RankOf(members.at(position)), static_cast<uint32_t>(position));
}

void SortedSet::Table::Add(std::string_view member, double score) {
  members.Append(Member{CompactString(member), score});
  InsertInOrder(members.size() - 1);
}

void SortedSet::Table::RemoveAt(size_t position) {
  order.Erase(RankOf(members.at(position)));
  const size_t last = members.size() - 1;
  if (position != last) {
    order.Replace(RankOf(members.at(last)), static_cast<uint32_t>(position));
  }
  members.RemoveAt(position);
}

std::optional<SortedSet> SortedSet::Adopt(Listpack& listpack, const EncodingLimits& limits) {
  const size_t count = listpack.count();
  if (count % 2 != 0 || count / 2 > limits.zset_max_listpack_entries) return std::nullopt;
  if (!IsInOrder(listpack) || !listpack.HasDistinctKeys()) return std::nullopt;
  return SortedSet(std::move(listpack));
}

SortedSet SortedSet::Clone() const {
  SortedSet copy;
  if (members_.is_table()) {
    copy.members_.Become(MakeTable());
  } else {
    copy.members_.packed() = members_.packed();
  }
  return copy;
}

// The members are added in order, so that each is appended to the end of the order.
std::unique_ptr<SortedSet::Table> SortedSet::MakeTable() const {
  auto made = std::make_unique<Table>();
  made->members.Reserve(size());
  ForEach(0, size(), false,
          [&](std::string_view member, double score) { made->Add(member, score); });
  return made;
}

double SortedSet::ScoreAt(Listpack::Position member) const {
  return ScoreOf(members_.packed().Get(members_.packed().Next(member))).value_or(0);
}

std::optional<double> SortedSet::Score(std::string_view member) const {
  if (members_.is_table()) {
    const Member* found = table().members.Find(member);
    return found == nullptr ? std::nullopt : std::optional<double>(found->score);
  }
  const Listpack::Position at = members_.packed().Find(member, members_.packed().First(), 1);
  return at == Listpack::kNone ? std::nullopt : std::optional<double>(ScoreAt(at));
}

std::optional<size_t> SortedSet::Rank(std::string_view member) const {
  if (members_.is_table()) {
    const Member* found = table().members.Find(member);
    return found == nullptr ? std::nullopt : std::optional<size_t>(table().RankOf(*found));
  }
  const Listpack::Position found = members_.packed().Find(member, members_.packed().First(), 1);
  if (found == Listpack::kNone) return std::nullopt;
  size_t rank = 0;
  for (Listpack::Position at = members_.packed().First(); at != found; ++rank) {
    at = members_.packed().Next(members_.packed().Next(at));
  }
  return rank;
}

void SortedSet::InsertInListpack(std::string_view member, double score,
                                 const EncodingLimits& limits) {
  base::Int64Buffer buffer;
  Listpack::Position at = members_.packed().First();
  for (; at != Listpack::kNone; at = members_.packed().Next(members_.packed().Next(at))) {
    const double other = ScoreAt(at);
    if (other > score || (other == score && members_.packed().Get(at).View(buffer) > member)) break;
  }
  Listpack::Position added = at == Listpack::kNone ? members_.packed().Append(member)
                                                   : members_.packed().InsertBefore(at, member);
  if (const std::optional<int64_t> integer = IntegerOf(score)) {
    members_.packed().InsertAfter(added, *integer);
  } else {
    members_.packed().InsertAfter(added, limits.shortest_scores ? base::FormatShortestDouble(score)
                                                                : base::FormatDouble(score));
  }
}

bool SortedSet::SetInTable(std::string_view member, double score) {
  const size_t position = table().members.PositionOf(member);
  if (position == DenseTable<Member>::kNotFound) {
    table().Add(member, score);
    return true;
  }
  Member& found = table().members.at(position);
  if (found.score == score) return false;
  table().order.Erase(table().RankOf(found));
  found.score = score;
  table().InsertInOrder(position);
  return false;
}

bool SortedSet::Set(std::string_view member, double score, const EncodingLimits& limits) {
  if (members_.is_table()) return SetInTable(member, score);
  const Listpack::Position at = members_.packed().Find(member, members_.packed().First(), 1);
  if (at != Listpack::kNone) {
    if (ScoreAt(at) == score) return false;
    members_.packed().Erase(at, 2);
    InsertInListpack(member, score, limits);
    return false;
  }
  if (size() + 1 > limits.zset_max_listpack_entries ||
      member.size() > limits.zset_max_listpack_value) {
    ConvertToTable();
    table().Add(member, score);
  } else {
    InsertInListpack(member, score, limits);
  }
  return true;
}

bool SortedSet::Remove(std::string_view member) {
  if (members_.is_table()) {
    const size_t position = table().members.PositionOf(member);
    if (position == DenseTable<Member>::kNotFound) return false;
    table().RemoveAt(position);
    return true;
  }
  const Listpack::Position at = members_.packed().Find(member, members_.packed().First(), 1);
  if (at == Listpack::kNone) return false;
  members_.packed().Erase(at, 2);
  return true;
}

void SortedSet::RemoveRange(const RankRange& range) {
  if (!members_.is_table()) {
    members_.packed().EraseRange(static_cast<int64_t>(range.first) * 2, range.size() * 2);
    return;
  }
  for (size_t i = 0; i < range.size(); ++i) table().RemoveAt(table().order.At(range.first));
}

void SortedSet::ConvertToTable() {
  if (!members_.is_table()) members_.Become(MakeTable());
}

RankRange SortedSet::Find(const ScoreRange& range) const {
  if (range.empty()) return {};
  RankRange found;
  if (members_.is_table()) {
    const auto score_of = [&](uint32_t position) { return table().members.at(position).score; };
    found.first = table().order.PartitionPoint(
        [&](uint32_t position) { return !range.AtLeastMin(score_of(position)); });
    found.end = table().order.PartitionPoint(
        [&](uint32_t position) { return range.AtMostMax(score_of(position)); });
  } else {
    ForEach(0, size(), false, [&](std::string_view, double score) {
      found.first += !range.AtLeastMin(score);
      found.end += range.AtMostMax(score);
    });
  }
  return found.first < found.end ? found : RankRange();
}

RankRange SortedSet::Find(const LexRange& range, bool downwards) const {
  if (range.empty()) return {};
  if (members_.is_table()) {
    const auto name_of = [&](uint32_t position) { return table().members.at(position).key(); };
    const size_t first = table().order.PartitionPoint(
        [&](uint32_t position) { return !range.AtLeastMin(name_of(position)); });
    const size_t end = table().order.PartitionPoint(
        [&](uint32_t position) { return range.AtMostMax(name_of(position)); });
    return first < end ? RankRange{first, end} : RankRange();
  }
  if (empty()) return {};
  // Redis checks the ends first: the result is empty if the last member is too low or the first one
  // is too high.
  if (!range.AtLeastMin(At(size() - 1).member) || !range.AtMostMax(At(0).member)) return {};
  size_t skipped = 0;
  size_t taken = 0;
  enum { kBefore, kInside, kBehind } state = kBefore;
  ForEach(downwards ? size() - 1 : 0, size(), downwards, [&](std::string_view member, double) {
    const bool enters = downwards ? range.AtMostMax(member) : range.AtLeastMin(member);
    const bool stays = downwards ? range.AtLeastMin(member) : range.AtMostMax(member);
    if (state == kBefore && !enters) {
      ++skipped;
      return;
    }
    if (state != kBehind) state = stays ? kInside : kBehind;
    taken += state == kInside;
  });
  if (taken == 0) return {};
  if (downwards) return {size() - skipped - taken, size() - skipped};
  return {skipped, skipped + taken};
}

SortedSet::Element SortedSet::At(size_t rank) const {
  assert(rank < size());
  Element element;
  ForEach(rank, 1, false, [&](std::string_view member, double score) {
    element = {std::string(member), score};
  });
  return element;
}

}  // namespace redouble::inline v0_1::memory
