#include "redouble/backends/memory/server/redaction.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "absl/strings/match.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;
using Words = std::vector<std::string_view>;

constexpr std::string_view kRedacted = "(redacted)";

// Parameters whose values Redis hides. It shows tls-key-file-pass and tls-client-key-file-pass.
constexpr std::string_view kSecretParameters[] = {
    "masterauth",
    "masteruser",
    "requirepass",
};

bool Is(std::string_view word, std::string_view other) {
  return absl::EqualsIgnoreCase(base::ToAbsl(word), base::ToAbsl(other));
}

void Hide(Words& words, size_t first, size_t count) {
  for (size_t i = first; i < std::min(first + count, words.size()); ++i) words[i] = kRedacted;
}

// HELLO version [AUTH user password] [SETNAME name]. Redis reads as far as the words make sense.
void HideInHello(Words& words) {
  for (size_t i = 1; i < words.size();) {
    if (Is(words[i], "AUTH") && i + 2 < words.size()) {
      Hide(words, i + 1, 2);
      i += 3;
    } else if (Is(words[i], "SETNAME") && i + 1 < words.size()) {
      i += 2;
    } else {
      return;
    }
  }
}

// MIGRATE host port key db timeout [COPY] [REPLACE] [AUTH password] [AUTH2 user password]
// [KEYS...].
void HideInMigrate(Words& words) {
  constexpr size_t kFirstOption = 5;
  for (size_t i = kFirstOption; i < words.size(); ++i) {
    const size_t secrets = Is(words[i], "AUTH") ? 1 : Is(words[i], "AUTH2") ? 2 : 0;
    if (secrets == 0 && !Is(words[i], "COPY") && !Is(words[i], "REPLACE")) return;
    if (i + secrets >= words.size()) return;
    Hide(words, i + 1, secrets);
    i += secrets;
  }
}

// CONFIG SET name value [name value...]; the first word is the subcommand. Redis refuses a name
// without a value before it hides anything.
void HideInConfigSet(Words& words) {
  if (words.size() % 2 == 0) return;
  for (size_t i = 1; i + 1 < words.size(); i += 2) {
    const bool is_secret = std::any_of(std::begin(kSecretParameters), std::end(kSecretParameters),
                                       [&](std::string_view name) { return Is(words[i], name); });
    if (is_secret) Hide(words, i + 1, 1);
  }
}

}  // namespace

Words Redact(CommandId id, std::span<const std::string_view> arguments) {
  Words words(arguments.begin(), arguments.end());
  switch (id) {
    case CommandId::kAuth:
      if (words.size() <= 2) Hide(words, 0, words.size());
      break;
    case CommandId::kHello:
      HideInHello(words);
      break;
    case CommandId::kMigrate:
      HideInMigrate(words);
      break;
    case CommandId::kAclSetUser:
      Hide(words, 1, words.size());
      break;
    case CommandId::kConfigSet:
      HideInConfigSet(words);
      break;
    default:
      break;
  }
  return words;
}

}  // namespace redouble::inline v0_1::memory
