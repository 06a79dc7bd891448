// Ziplists and zipmaps: how servers before Redis 7.0 kept small lists, hashes and sorted sets, and
// so what their DUMP payloads hold. They are only read here.
//
// A ziplist is 4 bytes of size, 4 of the last entry's offset, 2 of count, the entries and 0xFF; an
// entry is the size of the one before (1 byte, or 0xFE and 4), an encoding and the payload. A
// zipmap is 1 byte of count, then length, field, length, count of free bytes, value and those bytes
// for each pair, and 0xFF.
//
// Thread-safety: free functions.
// Source: Redis 6.2 DUMP; Redis 2.4 for zipmaps.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_ZIPLIST_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_ZIPLIST_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redouble::memory {

// The texts of a ziplist's entries; none when the bytes are no ziplist. Linear in the size.
std::optional<std::vector<std::string>> ReadZiplist(std::string_view bytes);

// Fields and values, alternating; none when the bytes are no zipmap. Linear in the size.
std::optional<std::vector<std::string>> ReadZipmap(std::string_view bytes);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_ZIPLIST_H_
