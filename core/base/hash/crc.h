// The checksums of Redis: CRC-16, which assigns keys to cluster slots, and CRC-64, which ends RDB
// files and DUMP payloads.
//
// Use KeySlot to route keys in a cluster, and Crc64 to write or check a payload for RESTORE. The
// CRC-64 is Redis's own: the Jones polynomial, reflected, without initial or final inversion.
//
//   base::KeySlot("{user1000}.following");  // 3443, by the hash tag, as for "{user1000}.followers"
//   base::Crc64(payload);                   // the checksum that DUMP appends
//
// Thread-safety: pure functions; the tables are built at compile time.
// Source: Redis 7.0 CLUSTER KEYSLOT, DUMP; Redis Cluster specification, "Hash tags".
#ifndef REDOUBLE_CORE_BASE_HASH_CRC_H_
#define REDOUBLE_CORE_BASE_HASH_CRC_H_

#include <cstdint>
#include <string_view>

namespace redouble::inline v0_1::base {

// The number of slots of a Redis Cluster.
inline constexpr int kClusterSlots = 16384;

// Returns the CRC-16/XMODEM of `bytes` (polynomial 0x1021, initial value 0, not reflected). Linear
// in the size.
uint16_t Crc16(std::string_view bytes);

// Returns the part of `key` that decides its slot: the text between the first '{' and the first '}'
// after it if there is any, otherwise the whole key. The view points into `key`.
std::string_view HashTag(std::string_view key);

// Returns the cluster slot of `key`, 0 to 16383. Keys with equal hash tags have the same slot, so
// that one command, script or transaction may use them together.
int KeySlot(std::string_view key);

// Returns the smallest number, from 0 on, whose decimal text has the slot, which is from 0 to
// 16383: a key with that text as its hash tag is where the caller wants it. The numbers have up to
// six digits. The first call in a process computes them all, in some milliseconds.
int NumberInSlot(int slot);

// Returns the CRC-64/Jones of `bytes` appended to bytes whose CRC-64 is `previous`, so that a long
// payload can be processed in parts: Crc64(b, Crc64(a)) == Crc64(a + b). Linear in the size, eight
// bytes at a time.
uint64_t Crc64(std::string_view bytes, uint64_t previous = 0);

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_HASH_CRC_H_
