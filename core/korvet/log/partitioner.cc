#include "redouble/core/korvet/log/partitioner.h"

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/errors.h"

namespace redouble::inline v0_1::korvet {
namespace {

constexpr uint32_t kSeed = 0x9747b28c;
constexpr uint32_t kMultiplier = 0x5bd1e995;
constexpr uint32_t kSignBit = 0x80000000;
constexpr size_t kWordBytes = 4;

// Returns up to four bytes as a little-endian word.
uint32_t WordOf(std::string_view bytes) {
  uint32_t word = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    word |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return word;
}

uint32_t Mixed(uint32_t word) {
  word *= kMultiplier;
  word ^= word >> 24;
  return word * kMultiplier;
}

int32_t WithoutSign(uint32_t number, int32_t partitions) {
  return static_cast<int32_t>((number & ~kSignBit) % static_cast<uint32_t>(partitions));
}

}  // namespace

int32_t Murmur2(std::string_view key) {
  uint32_t hash = kSeed ^ static_cast<uint32_t>(key.size());
  std::string_view rest = key;
  for (; rest.size() >= kWordBytes; rest.remove_prefix(kWordBytes)) {
    hash = (hash * kMultiplier) ^ Mixed(WordOf(rest.substr(0, kWordBytes)));
  }
  if (!rest.empty()) hash = (hash ^ WordOf(rest)) * kMultiplier;
  hash ^= hash >> 13;
  hash *= kMultiplier;
  hash ^= hash >> 15;
  return static_cast<int32_t>(hash);
}

int32_t PartitionOfKey(std::string_view key, int32_t partitions) {
  return WithoutSign(static_cast<uint32_t>(Murmur2(key)), partitions);
}

absl::StatusOr<int32_t> Partitioner::Choose(std::string_view topic, int32_t partitions,
                                            const Route& route) {
  const int32_t named = route.partition.value_or(0);
  if (named < 0 || named >= partitions) {
    return MakeError(ErrorCode::kUnknownTopicOrPartition,
                     absl::StrCat("the topic ", base::ToAbsl(topic), " has ", partitions,
                                  " partitions, so no partition ", named));
  }
  if (route.partition) return named;
  if (route.key) return PartitionOfKey(*route.key, partitions);
  // The counter wraps after 2^32 records, as in Java.
  return WithoutSign(rounds_[base::ToAbsl(topic)]++, partitions);
}

}  // namespace redouble::inline v0_1::korvet
