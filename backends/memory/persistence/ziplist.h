// Ziplists and zipmaps: the encodings of small lists, hashes and sorted sets before Redis 7.0,
// which appear in the DUMP payloads of those servers. They are only read, never written.
//
// A ziplist is 4 bytes of size, 4 bytes of the last entry's offset, 2 bytes of count, the entries
// and 0xFF. An entry is the size of the previous entry (1 byte, or 0xFE and 4 bytes), an encoding
// and the payload. A zipmap is 1 byte of count, then for each pair a length, the field, a length,
// the number of free bytes, the value and the free bytes, and at the end 0xFF.
//
// Thread-safety: free functions.
// Source: Redis 6.2 DUMP; Redis 2.4 for zipmaps.
#ifndef REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_ZIPLIST_H_
#define REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_ZIPLIST_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redouble::inline v0_1::memory {

// The texts of a ziplist's entries; nullopt if the bytes are not a valid ziplist. Linear in the
// size.
std::optional<std::vector<std::string>> ReadZiplist(std::string_view bytes);

// Fields and values, alternating; nullopt if the bytes are not a valid zipmap. Linear in the size.
std::optional<std::vector<std::string>> ReadZipmap(std::string_view bytes);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_ZIPLIST_H_
