// LZF: the compression that RDB, and therefore DUMP, uses for longer strings.
//
// No dependency of the project has this format. CompressLzf makes the same choices as Redis's
// compressor, so that equal values have equal payloads.
//
// A compressed text is a sequence of runs: up to 32 literal bytes (the first byte is their number
// minus one), or a repetition of 3 to 264 bytes from up to 8192 bytes back.
//
//   if (std::optional<std::string> small = CompressLzf(text)) Use(*DecompressLzf(*small, size));
//
// Thread-safety: free functions.
// Source: Redis 7.0 DUMP (rdbcompression); the LZF format of liblzf.
#ifndef REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_LZF_H_
#define REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_LZF_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace redouble::inline v0_1::memory {

// The compressed text; nullopt if it would save less than four bytes. Linear in the size.
std::optional<std::string> CompressLzf(std::string_view text);

// The original text of `size` bytes; nullopt if `compressed` is not valid LZF data of that size.
std::optional<std::string> DecompressLzf(std::string_view compressed, size_t size);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_PERSISTENCE_LZF_H_
