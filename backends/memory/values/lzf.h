// LZF: the compression that RDB, and so DUMP, uses for longer strings.
//
// Why it exists: what a redis-server dumps is compressed, and what it reads may be; no kept library
// has the format. CompressLzf makes the choices of Redis's compressor, so that equal values give
// equal payloads.
//
// A compressed text is a row of runs: up to 32 literal bytes (first byte: how many, less one), or a
// repetition of 3 to 264 bytes from up to 8192 bytes back.
//
//   if (std::optional<std::string> small = CompressLzf(text)) Use(*DecompressLzf(*small, size));
//
// Thread-safety: free functions.
// Source: Redis 7.0 DUMP (rdbcompression); the LZF format of liblzf.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_LZF_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_LZF_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace redouble::memory {

// The compressed text; none when it would save less than four bytes. Linear in the size.
std::optional<std::string> CompressLzf(std::string_view text);

// What LZF made `compressed` of, which was `size` bytes long; none when it is nothing of the kind.
std::optional<std::string> DecompressLzf(std::string_view compressed, size_t size);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_LZF_H_
