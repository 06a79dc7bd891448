#include "redouble/core/base/hash/digest.h"

#include <array>
#include <cassert>
#include <cstddef>
#include <span>

#include "openssl/evp.h"

namespace redouble::inline v0_1::base {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

std::string LowerHex(std::span<const unsigned char> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

// OpenSSL only fails here if it is out of memory or was built without the digest; a caller could
// not handle either.
void Require(int result) {
  assert(result == 1);
  static_cast<void>(result);
}

std::string Finish(EVP_MD_CTX* context) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  Require(EVP_DigestFinal_ex(context, digest.data(), &size));
  return LowerHex(std::span(digest).first(size));
}

std::string HexDigestOf(std::string_view bytes, const EVP_MD* algorithm) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  Require(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, algorithm, nullptr));
  return LowerHex(std::span(digest).first(size));
}

}  // namespace

Sha1Bytes Sha1(std::string_view bytes) {
  Sha1Bytes digest;
  unsigned size = 0;
  Require(EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()),
                     &size, EVP_sha1(), nullptr));
  assert(size == digest.size());
  return digest;
}

std::string Sha1Hex(std::string_view bytes) { return HexDigestOf(bytes, EVP_sha1()); }

std::string Sha256Hex(std::string_view bytes) { return HexDigestOf(bytes, EVP_sha256()); }

struct Sha256::State {
  Context context{EVP_MD_CTX_new()};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  Require(EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr));
}

Sha256::~Sha256() = default;

Sha256::Sha256(const Sha256& other) : state_(std::make_unique<State>()) {
  Require(EVP_MD_CTX_copy_ex(state_->context.get(), other.state_->context.get()));
}

Sha256& Sha256::operator=(const Sha256& other) {
  if (this != &other) *this = Sha256(other);
  return *this;
}

Sha256::Sha256(Sha256&& other) noexcept = default;

Sha256& Sha256::operator=(Sha256&& other) noexcept = default;

void Sha256::Update(std::string_view bytes) {
  Require(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()));
}

std::string Sha256::HexDigest() const {
  // Finishing a context ends it; finish a copy, so that more bytes can follow.
  Context copy(EVP_MD_CTX_new());
  Require(EVP_MD_CTX_copy_ex(copy.get(), state_->context.get()));
  return Finish(copy.get());
}

}  // namespace redouble::inline v0_1::base
