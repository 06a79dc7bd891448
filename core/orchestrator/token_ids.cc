#include "redouble/core/orchestrator/token_ids.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/hash/digest.h"
#include "redouble/core/base/text/hex.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::ToAbsl;

// 128 bits, which makes collisions negligible.
constexpr size_t kRootDigits = 32;
constexpr std::string_view kApprovalPrefix = "approval_";

std::string HashOf(std::string_view text) { return base::Sha256Hex(text).substr(0, kRootDigits); }

std::string_view RootOf(std::string_view token_id) {
  return token_id.substr(0, std::min(token_id.find('.'), token_id.size()));
}

std::string WithRoot(TokenIdForm form, std::string_view path, std::string_view identity,
                     const TokenMark& mark) {
  return absl::StrCat(form == TokenIdForm::kPath ? std::string(path) : HashOf(identity),
                      FormatTokenMark(mark));
}

// Adds one part, "k2" or "iR:2"; false if it is neither.
bool ReadPart(std::string_view part, TokenMark& mark) {
  int64_t number = 0;
  if (part.starts_with("k")) {
    if (!absl::SimpleAtoi(ToAbsl(part.substr(1)), &number) || number < 1) return false;
    mark.join_count = number;
    return true;
  }
  const size_t colon = part.find(':');
  if (!part.starts_with("i") || colon == std::string_view::npos || colon == 1) return false;
  if (!absl::SimpleAtoi(ToAbsl(part.substr(colon + 1)), &number) || number < 1) return false;
  mark.loops[std::string(part.substr(1, colon - 1))] = number;
  return true;
}

// The mark that follows the root of an approval id as hexadecimal digits; may be empty.
std::string MarkOfApproval(std::string_view token_id) {
  if (!token_id.starts_with(kApprovalPrefix)) return "";
  std::string_view digits = token_id.substr(kApprovalPrefix.size());
  if (digits.size() < kRootDigits + 2 || digits[kRootDigits] != '_') return "";
  digits.remove_prefix(kRootDigits + 1);
  if (digits.find_first_of("ABCDEF") != digits.npos) return "";
  return base::HexToBytes(digits).value_or("");
}

}  // namespace

std::string FormatTokenMark(const TokenMark& mark) {
  std::string text;
  if (mark.join_count != 1) absl::StrAppend(&text, ".k", mark.join_count);
  for (const auto& [loop, count] : mark.loops) absl::StrAppend(&text, ".i", loop, ":", count);
  return text;
}

TokenMark ParseTokenMark(std::string_view token_id) {
  const std::string of_approval = MarkOfApproval(token_id);
  if (!of_approval.empty()) token_id = of_approval;
  const size_t dot = token_id.find('.');
  if (dot == std::string_view::npos) return {};
  TokenMark mark;
  for (const absl::string_view part : absl::StrSplit(ToAbsl(token_id.substr(dot + 1)), '.')) {
    if (!ReadPart({part.data(), part.size()}, mark)) return {};
  }
  return mark;
}

std::string ChildTokenId(TokenIdForm form, ChildToken child, const TokenMark& mark) {
  const std::string ordinal = child.ordinal == 0 ? "" : absl::StrCat("#", child.ordinal);
  const auto path = [&](std::string_view parent) {
    return absl::StrCat(ToAbsl(parent), "/", ToAbsl(child.target), ordinal);
  };
  // A path omits the mark of its parent. Tokens of different iterations still differ, because the
  // iterations are in the mark that follows.
  return WithRoot(form, path(RootOf(child.parent_id)), path(child.parent_id), mark);
}

std::string JoinTokenId(TokenIdForm form, JoinFiring firing, const TokenMark& mark) {
  const auto path = [&](std::string_view arrival) {
    return absl::StrCat("join:", ToAbsl(firing.join), ":", ToAbsl(arrival));
  };
  return WithRoot(form, path(RootOf(firing.arrival_id)), path(firing.arrival_id), mark);
}

std::string ApprovalIdOf(std::string_view token_id) {
  TokenMark mark = ParseTokenMark(token_id);
  // The pause consumes all tokens of a join; the decision returns one.
  mark.join_count = 1;
  const std::string text = FormatTokenMark(mark);
  const std::string suffix = text.empty() ? "" : absl::StrCat("_", absl::BytesToHexString(text));
  return HashOf(token_id) + suffix;
}

}  // namespace redouble::inline v0_1::orchestrator
