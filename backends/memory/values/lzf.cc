#include "backends/memory/values/lzf.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace redouble::memory {
namespace {

constexpr size_t kMaxLiterals = 32;
constexpr size_t kMaxDistance = size_t{1} << 13;
constexpr size_t kMaxRepeat = (size_t{1} << 8) + (size_t{1} << 3);
constexpr size_t kMinRepeat = 3;
constexpr size_t kMinSaved = 4;
constexpr size_t kHashBits = 16;

class Compressor {
 public:
  explicit Compressor(std::string_view text)
      : text_(text), room_(text.size() - kMinSaved), places_(size_t{1} << kHashBits) {}

  std::optional<std::string> Run() {
    // The last two bytes begin no three.
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

  // Notes that the three bytes at `at` stand there; gives where such were before, 0 for nowhere.
  // The hash is liblzf's: which repetitions are found hangs on its collisions.
  size_t Remember(size_t at) {
    const uint32_t three = Byte(at) << 16 | Byte(at + 1) << 8 | Byte(at + 2);
    const uint32_t slot = ((three >> (24 - kHashBits)) - three * 5) & ((1u << kHashBits) - 1);
    return std::exchange(places_[slot], static_cast<uint32_t>(at));
  }

  bool IsRepeat(size_t earlier) const {
    return earlier > 0 && at_ - earlier - 1 < kMaxDistance &&
           text_.substr(earlier, kMinRepeat) == text_.substr(at_, kMinRepeat);
  }

  // How many bytes are repeated. At the end of the text liblzf leaves two of them out, unless its
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

  // False when the text does not get small enough.
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
    // Of what was repeated, only the last two places are remembered.
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

  // The output with the run under way, which always has its first byte reserved.
  size_t SizeWithRun() const { return out_.size() + 1 + literals_; }

  const std::string_view text_;
  const size_t room_;
  std::vector<uint32_t> places_;
  std::string out_;
  size_t at_ = 0;
  size_t literals_ = 0;
};

}  // namespace

std::optional<std::string> CompressLzf(std::string_view text) {
  if (text.size() <= kMinSaved || text.size() > UINT32_MAX) return std::nullopt;
  return Compressor(text).Run();
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
      // What is copied may reach into what this copy appends.
      for (size_t i = 0; i < length + 2; ++i) out.push_back(out[out.size() - distance]);
    }
    if (out.size() > size) return std::nullopt;
  }
  if (out.size() != size) return std::nullopt;
  return out;
}

}  // namespace redouble::memory
