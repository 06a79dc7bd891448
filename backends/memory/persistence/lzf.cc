#include "redouble/backends/memory/persistence/lzf.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace redouble::inline v0_1::memory {
namespace {

constexpr size_t kMaxLiterals = 32;
constexpr size_t kMaxDistance = size_t{1} << 13;
constexpr size_t kMaxRepeat = (size_t{1} << 8) + (size_t{1} << 3);
constexpr size_t kMinRepeat = 3;
constexpr size_t kMinSaved = 4;
constexpr size_t kHashBits = 16;

// Where three bytes with a hash were last seen in the text. The table is kept for the next text,
// because clearing it would take longer than compressing a short text.
class Places {
 public:
  // Forgets all positions; those of the next text are below `size`, at most UINT32_MAX.
  void Begin(size_t size) {
    const uint64_t next = uint64_t{base_} + size_;
    size_ = static_cast<uint32_t>(size);
    if (next <= kMaxBase && size_ <= std::numeric_limits<uint32_t>::max() - next) {
      base_ = static_cast<uint32_t>(next);
      return;
    }
    std::fill(slots_.begin(), slots_.end(), 0);
    base_ = 0;
  }

  // Replaces a slot's position. Returns the previous one, 0 if there is none.
  size_t Exchange(uint32_t slot, size_t at) {
    const uint32_t earlier = std::exchange(slots_[slot], base_ + static_cast<uint32_t>(at));
    return earlier > base_ ? earlier - base_ : 0;
  }

 private:
  // The table is cleared after some 16 MB of texts.
  static constexpr uint32_t kMaxBase = uint32_t{1} << 24;

  std::vector<uint32_t> slots_ = std::vector<uint32_t>(size_t{1} << kHashBits);
  // Positions are stored from here on; what is stored below is of earlier texts.
  uint32_t base_ = 0;
  uint32_t size_ = 0;
};

class Compressor {
 public:
  Compressor(std::string_view text, Places& places)
      : text_(text), room_(text.size() - kMinSaved), places_(places) {
    places_.Begin(text.size());
  }

  std::optional<std::string> Run() {
    // No 3-byte match can start in the last two bytes.
    while (at_ + 2 < text_.size()) {
      const size_t earlier = Remember(at_);
      if (IsRepeat(earlier)) {
        if (!Repeat(earlier)) return std::nullopt;
      } else {
        if (SizeWithRun() >= room_) return std::nullopt;
        Literal();
      }
    }
    if (SizeWithRun() + 3 > room_) return std::nullopt;
    while (at_ < text_.size()) Literal();
    EndRun();
    return std::move(out_);
  }

 private:
  uint32_t Byte(size_t at) const { return static_cast<uint8_t>(text_[at]); }

  // Records the position of the three bytes at `at`. Returns their previous position, 0 if there is
  // none. The hash is liblzf's, because its collisions determine which repetitions are found.
  size_t Remember(size_t at) {
    const uint32_t three = Byte(at) << 16 | Byte(at + 1) << 8 | Byte(at + 2);
    const uint32_t slot = ((three >> (24 - kHashBits)) - three * 5) & ((1u << kHashBits) - 1);
    return places_.Exchange(slot, at);
  }

  bool IsRepeat(size_t earlier) const {
    return earlier > 0 && at_ - earlier - 1 < kMaxDistance &&
           text_.substr(earlier, kMinRepeat) == text_.substr(at_, kMinRepeat);
  }

  // The number of repeated bytes. At the end of the text liblzf omits two of them, unless its
  // unrolled loop passes over the limit.
  size_t RepeatLength(size_t earlier) const {
    const size_t left = text_.size() - at_;
    const size_t limit = std::min(left - 2, kMaxRepeat);
    constexpr size_t kUnrolled = 16;
    size_t length = kMinRepeat;
    const auto same = [&] { return text_[earlier + length] == text_[at_ + length]; };
    if (limit > kUnrolled) {
      for (size_t i = 0; i < kUnrolled; ++i, ++length) {
        if (!same()) return length;
      }
    }
    while (length < limit && same()) ++length;
    return length;
  }

  // Returns false if the text does not become small enough.
  bool Repeat(size_t earlier) {
    if (SizeWithRun() - (literals_ == 0 ? 1 : 0) + 4 >= room_) return false;
    EndRun();
    const size_t length = RepeatLength(earlier);
    const size_t distance = at_ - earlier - 1;
    const size_t more = length - 2;
    const auto high = static_cast<uint8_t>(distance >> 8);
    if (more < 7) {
      out_.push_back(static_cast<char>(high + (more << 5)));
    } else {
      out_.push_back(static_cast<char>(high + (7 << 5)));
      out_.push_back(static_cast<char>(more - 7));
    }
    out_.push_back(static_cast<char>(distance));
    at_ += length;
    if (at_ + 2 >= text_.size()) return true;
    // Of a repetition, only the last two positions are recorded.
    Remember(at_ - 2);
    Remember(at_ - 1);
    return true;
  }

  void Literal() {
    ++at_;
    if (++literals_ == kMaxLiterals) EndRun();
  }

  void EndRun() {
    if (literals_ == 0) return;
    out_.push_back(static_cast<char>(literals_ - 1));
    out_.append(text_.substr(at_ - literals_, literals_));
    literals_ = 0;
  }

  // The size of the output including the current run, whose first byte is always reserved.
  size_t SizeWithRun() const { return out_.size() + 1 + literals_; }

  const std::string_view text_;
  const size_t room_;
  Places& places_;
  std::string out_;
  size_t at_ = 0;
  size_t literals_ = 0;
};

}  // namespace

std::optional<std::string> CompressLzf(std::string_view text) {
  if (text.size() <= kMinSaved || text.size() > UINT32_MAX) return std::nullopt;
  thread_local Places places;
  return Compressor(text, places).Run();
}

std::optional<std::string> DecompressLzf(std::string_view compressed, size_t size) {
  std::string out;
  out.reserve(size);
  size_t at = 0;
  const auto next = [&] { return static_cast<uint8_t>(compressed[at++]); };
  while (at < compressed.size()) {
    const size_t control = next();
    if (control < 32) {
      const size_t literals = control + 1;
      if (literals > compressed.size() - at) return std::nullopt;
      out.append(compressed.substr(at, literals));
      at += literals;
    } else {
      size_t length = control >> 5;
      const size_t bytes_left = compressed.size() - at;
      if (bytes_left < (length == 7 ? 2u : 1u)) return std::nullopt;
      if (length == 7) length += next();
      const size_t distance = ((control & 0x1F) << 8) + next() + 1;
      if (distance > out.size()) return std::nullopt;
      // The source may overlap the bytes that this loop appends.
      for (size_t i = 0; i < length + 2; ++i) out.push_back(out[out.size() - distance]);
    }
    if (out.size() > size) return std::nullopt;
  }
  if (out.size() != size) return std::nullopt;
  return out;
}

}  // namespace redouble::inline v0_1::memory
