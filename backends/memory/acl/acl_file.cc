#include "redouble/backends/memory/acl/acl_file.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/backends/memory/acl/merged_rules.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/text/trim.h"

namespace redouble::inline v0_1::memory {
namespace {

std::vector<std::string_view> ViewsOf(std::span<const std::string> words) {
  return {words.begin(), words.end()};
}

std::string RejectedDirective(std::string_view word, std::string_view why) {
  return absl::StrCat("Error in user declaration '", base::ToAbsl(word), "': ", base::ToAbsl(why));
}

// Reads the lines of an ACL file.
class FileReader {
 public:
  FileReader(std::string_view path, AclUser::NewChannels channels, store::Version version)
      : path_(path), channels_(channels), version_(version) {}

  AclFileUsers Read(std::string_view text) {
    for (const absl::string_view line : absl::StrSplit(base::ToAbsl(text), '\n')) {
      ++number_;
      ReadLine(base::Trim(base::ToStd(line), " \t\r\n"));
    }
    if (!result_.errors.empty()) {
      absl::StrAppend(&result_.errors,
                      "WARNING: ACL errors detected, no change to the previously active ACL rules "
                      "was performed");
    }
    return std::move(result_);
  }

 private:
  std::string Place() const { return absl::StrCat(base::ToAbsl(path_), ":", number_); }

  void ReadLine(std::string_view line) {
    if (line.empty()) return;
    std::vector<std::string_view> words;
    for (const absl::string_view word : absl::StrSplit(base::ToAbsl(line), ' ')) {
      words.push_back(base::ToStd(word));
    }
    if (words[0] != "user" || words.size() < 2) {
      absl::StrAppend(&result_.errors, Place(),
                      " should start with user keyword followed by the username. ");
      return;
    }
    const std::string name(words[1]);
    if (HasBlanks(name)) {
      absl::StrAppend(&result_.errors, "'", Place(), ": username '", name,
                      "' contains invalid characters. ");
      return;
    }
    const auto [place, is_new] =
        result_.users.try_emplace(name, std::make_unique<AclUser>(name, channels_, version_));
    if (!is_new) {
      absl::StrAppend(&result_.errors, "WARNING: Duplicate user '", name, "' found on line ",
                      number_, ". ");
      return;
    }
    ApplyRules(std::span(words).subspan(2), *place->second);
  }

  // All unknown commands are listed, of other errors the first: it may be the cause of the others.
  void ApplyRules(std::span<const std::string_view> words, AclUser& user) {
    const MergedRules merged = MergeSelectors(words, version_);
    if (merged.unmatched) {
      absl::StrAppend(&result_.errors, Place(), ": Unmatched parenthesis in selector definition.");
      return;
    }
    bool has_syntax_error = false;
    for (const std::string& word : merged.rules) {
      const std::string_view rule = base::Trim(word, "\t\r\n");
      const std::optional<RuleError> error = user.Apply(rule);
      if (!error) continue;
      if (*error == rule_error::kUnknownName) {
        absl::StrAppend(&result_.errors, Place(), ": Error in applying operation '",
                        base::ToAbsl(rule), "': ", base::ToAbsl(*error), ". ");
      } else if (!std::exchange(has_syntax_error, true)) {
        absl::StrAppend(&result_.errors, Place(), ": ", base::ToAbsl(*error), ". ");
      }
    }
  }

  const std::string_view path_;
  const AclUser::NewChannels channels_;
  const store::Version version_;
  int number_ = 0;
  AclFileUsers result_;
};

}  // namespace

// The word in the error is the one that Redis shows, two before the wrong one.
std::optional<std::string> CheckUserDirective(const UserDirective& directive,
                                              std::span<const UserDirective> others) {
  const std::string& name = directive[0];
  const auto is_same = [&](const UserDirective& other) { return other[0] == name; };
  if (std::any_of(others.begin(), others.end(), is_same)) {
    return RejectedDirective(name,
                             "Duplicate user found. A user can only be defined once in config "
                             "files");
  }
  const auto shown = [&](size_t rule) {
    return rule == 0 ? std::string_view("user") : std::string_view(directive[rule - 1]);
  };
  const MergedRules merged =
      MergeSelectors(ViewsOf(std::span(directive).subspan(1)), store::Version::kRedis70);
  if (merged.unmatched) {
    return RejectedDirective(shown(*merged.unmatched), rule_error::kUnknownName);
  }
  AclUser user("", AclUser::NewChannels::kNone);
  for (size_t i = 0; i < merged.rules.size(); ++i) {
    const std::optional<RuleError> error = user.Apply(merged.rules[i]);
    if (error && *error != rule_error::kUnknownName) return RejectedDirective(shown(i), *error);
  }
  return std::nullopt;
}

std::optional<std::string> LoadUserDirectives(std::span<const UserDirective> directives,
                                              AclUser::NewChannels channels, Acl& acl) {
  for (const UserDirective& directive : directives) {
    const std::string& name = directive[0];
    if (HasBlanks(name)) return "Spaces not allowed in ACL usernames";
    std::vector<std::string> rules = {"reset"};
    if (acl.Find(name) == nullptr) rules.clear();
    const MergedRules merged =
        MergeSelectors(ViewsOf(std::span(directive).subspan(1)), acl.version());
    rules.insert(rules.end(), merged.rules.begin(), merged.rules.end());
    if (const std::optional<RejectedRule> rejected = acl.ChangeUser(name, rules, channels)) {
      return absl::StrCat("Error loading ACL rule '", rejected->rule, "' for the user named '",
                          name, "': ", base::ToAbsl(rejected->error));
    }
  }
  return std::nullopt;
}

AclFileUsers ReadAclFile(std::string_view text, std::string_view path,
                         AclUser::NewChannels channels, store::Version version) {
  return FileReader(path, channels, version).Read(text);
}

std::string WriteAclFile(const Acl& acl) {
  std::string text;
  for (const auto& [name, user] : acl.users()) absl::StrAppend(&text, user->Describe(), "\n");
  return text;
}

}  // namespace redouble::inline v0_1::memory
