// Command: a command id (or any name) and its binary-safe arguments.
//
// Arguments are views: what the caller passes is not copied and must stay alive until the command
// has completed; a coroutine that awaits it keeps it alive by itself. Numbers that the command
// formats are kept inside the command.
//
//   Command set(CommandId::kSet, {key, value});
//   set.Add("PX").AddInteger(absl::ToInt64Milliseconds(ttl));
//   Command any = Command::Named("CLIENT", {"GETNAME"});
//
// Thread-safety: a plain value.
#ifndef REDOUBLE_CORE_STORE_COMMAND_H_
#define REDOUBLE_CORE_STORE_COMMAND_H_

#include <array>
#include <cstdint>
#include <forward_list>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "core/store/command_table.h"

namespace redouble::store {

class Command {
 public:
  // A command of the table. That of a subcommand row ("xgroup|create") gets its subcommand as the
  // first argument by itself.
  explicit Command(CommandId id) : Command(id, {}) {}
  Command(CommandId id, std::initializer_list<std::string_view> arguments) : id_(id) {
    const CommandSpec& spec = SpecOf(id);
    name_ = spec.name;
    if (spec.is_subcommand()) {
      name_ = spec.container();
      arguments_.push_back(spec.subcommand());
    }
    for (const std::string_view argument : arguments) arguments_.push_back(argument);
  }

  // Any command, by the name that goes over the wire. A name of the table, in any case, gives the
  // row's id; a subcommand is no name but an argument. `name` is kept as a view.
  static Command Named(std::string_view name);
  static Command Named(std::string_view name, std::span<const std::string_view> arguments);

  Command(Command&& other) noexcept;
  Command& operator=(Command&& other) noexcept;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // Appends an argument, which must outlive the command.
  Command& Add(std::string_view argument) {
    arguments_.push_back(argument);
    return *this;
  }
  Command& AddAll(std::span<const std::string_view> arguments);
  Command& AddAll(std::span<const std::string> arguments);
  // Appends a number's decimal text, kept by the command.
  Command& AddInteger(int64_t value);
  // Appends a text that the command keeps.
  Command& AddOwned(std::string argument);

  // The row of the table; a container's for a command that was named with its subcommand as an
  // argument. kUnknown for a name without a row.
  CommandId id() const { return id_; }
  // As it goes over the wire: the row's name (of a subcommand: its container's), or the name given
  // to Named().
  std::string_view name() const { return name_; }
  // All that follows the name, subcommand included.
  std::span<const std::string_view> arguments() const { return arguments_; }

  // One line: SET "key" "value".
  std::string DebugString() const;

 private:
  Command(CommandId id, std::string_view name) : id_(id), name_(name) {}

  void TakeScratch(Command& other);

  static constexpr size_t kInlineArguments = 6;
  static constexpr size_t kScratchBytes = 42;  // Two 64-bit numbers.

  CommandId id_;
  uint8_t scratch_used_ = 0;
  std::array<char, kScratchBytes> scratch_;
  std::string_view name_;
  absl::InlinedVector<std::string_view, kInlineArguments> arguments_;
  std::forward_list<std::string> owned_;
};

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_COMMAND_H_
