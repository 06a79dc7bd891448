// Selector: one set of an ACL user's permissions: commands, keys and channels.
//
// A user has a root selector and may have more ("(+get ~cache:*)"). A command is allowed if one of
// them allows all of it. Describe returns the rules as ACL LIST writes them:
//
//   Selector selector;
//   selector.Apply("+@read");                        // nullopt: no error
//   selector.Apply("~cache:*");
//   selector.Describe();                             // "~cache:* resetchannels -@all +@read"
//   selector.MayRun(CommandId::kGet, arguments);     // true
//
// For Redis 7.0, Describe derives the command rules from the set of allowed commands: first
// categories, then single commands. Redis lists single commands in the order of a hash table; here
// they have the order of the command table.
//
// Thread-safety: a plain value.
// Source: Redis 7.0 ACL SETUSER, ACL LIST.
#ifndef REDOUBLE_BACKENDS_MEMORY_ACL_SELECTOR_H_
#define REDOUBLE_BACKENDS_MEMORY_ACL_SELECTOR_H_

#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::memory {

// The reason for a refused rule, as ACL SETUSER writes it at the end of its error: "Syntax error".
using RuleError = std::string_view;

namespace rule_error {
inline constexpr RuleError kSyntax = "Syntax error";
inline constexpr RuleError kUnknownName = "Unknown command or category name in ACL";
inline constexpr RuleError kFirstArgument = "Allowing first-arg of a subcommand is not supported";
inline constexpr RuleError kPatternAfterAllKeys =
    "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have "
    "any effect. Try 'resetkeys' to start with an empty list of patterns";
inline constexpr RuleError kPatternAfterAllChannels =
    "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not "
    "have any effect. Try 'resetchannels' to start with an empty list of channels";
inline constexpr RuleError kNoSuchPassword =
    "The password you are trying to remove from the user does not exist";
inline constexpr RuleError kBadHash =
    "The password hash must be exactly 64 characters and contain only lowercase hexadecimal "
    "characters";
}  // namespace rule_error

class Selector {
 public:
  // The commands that rules may name are those of the version. Versions after 7.0 keep the rules
  // of commands as they were given.
  explicit Selector(store::Version version = store::Version::kRedis70) : version_(version) {}

  // How a key may be accessed; a pattern allows one or both.
  enum Access : uint8_t { kNoAccess = 0, kRead = 1, kWrite = 2, kReadWrite = 3 };
  enum class ChannelKind : uint8_t { kName, kPattern };

  // Applies one rule of commands ("+get", "-@all", "+config|get", "+select|0"), keys ("~a:*",
  // "%R~b:*", "allkeys", "resetkeys") or channels ("&c.*", "allchannels", "resetchannels"). Returns
  // the error and changes nothing if the rule is invalid.
  std::optional<RuleError> Apply(std::string_view rule);

  // `arguments` are the words after the command's name, the subcommand included.
  bool MayRun(store::CommandId id, std::span<const std::string_view> arguments) const;
  bool MayTouch(std::string_view key, Access access) const;
  // True if every key may be read, also keys that a command finds in values.
  bool MayReadAllKeys() const;
  // A pattern may be subscribed to only if exactly that pattern was allowed.
  bool MayUse(std::string_view channel, ChannelKind kind) const;
  // True if the simulator's commands (SIM) may be used. They read and change all keys, so they
  // require permission for all keys as well. (Redis has no such commands.)
  bool MaySimulate() const { return commands_.test(kSimulator) && allows_all_keys_; }
  bool allows_all_commands() const { return allows_all_commands_; }
  bool allows_all_keys() const { return allows_all_keys_; }
  bool allows_all_channels() const { return allows_all_channels_; }

  // The rules that make this selector: "-@all +@read -get", "~a:* %R~b:*", "&c.*".
  std::string DescribeCommands() const;
  std::string DescribeKeys() const;
  std::string DescribeChannels() const;
  // All of them, as in ACL LIST.
  std::string Describe() const;

 private:
  // One bit for each command and container, one for future commands, which "+@all" allows, and one
  // for the category of the simulator's commands.
  static constexpr size_t kFutureCommands = store::kCommandCount;
  static constexpr size_t kSimulator = kFutureCommands + 1;
  using Commands = std::bitset<kSimulator + 1>;

  struct KeyPattern {
    std::string pattern;
    uint8_t access;
  };

  // The command of that name in the version.
  store::CommandId FindCommand(std::string_view name) const;
  // Replaces earlier rules of the same command or category by this one: "+get".
  void KeepRule(std::string_view rule);
  std::optional<RuleError> ApplyToCommand(std::string_view name, bool allow);
  std::optional<RuleError> AllowFirstArgument(std::string_view command, std::string_view argument);
  std::optional<RuleError> AddKeyPattern(std::string_view rule);
  std::optional<RuleError> AddChannel(std::string_view pattern);
  void SetAll(bool allow);
  void SetCategory(std::string_view category, bool allow);
  // Also sets the subcommands of a container.
  void SetCommand(store::CommandId id, bool allow);
  void SetOne(store::CommandId id, bool allow);
  bool Has(store::CommandId id) const { return commands_.test(static_cast<size_t>(id)); }
  // Returns the category with the fewest exceptions among those of which this selector allows
  // (`adds`) or denies most commands; empty if only categories in `applied` are left.
  std::string_view BestCategory(bool adds, std::span<const std::string_view> applied) const;
  // If `described` and this selector differ in the command, appends the rules that remove the
  // difference and applies them to `described`.
  void DescribeSingle(store::CommandId id, Selector& described, std::string& rules) const;

  store::Version version_;
  Commands commands_;
  // As they were given, without those that later ones replaced.
  std::vector<std::string> rules_ = {"-@all"};
  bool allows_all_commands_ = false;
  bool allows_all_keys_ = false;
  bool allows_all_channels_ = false;
  // Commands that are allowed with certain first arguments only.
  std::map<store::CommandId, std::vector<std::string>> first_arguments_;
  std::vector<KeyPattern> keys_;
  std::vector<std::string> channels_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ACL_SELECTOR_H_
