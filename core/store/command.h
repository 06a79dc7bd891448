// Command: the id or name of a Redis command and its binary-safe arguments.
//
// Use it for commands without a typed function in core/store/typed, and to fill a Batch.
//
//   Command set(CommandId::kSet, {key, value});
//   set.Add("PX").AddInteger(absl::ToInt64Milliseconds(ttl));
//   absl::StatusOr<Reply> reply = co_await store.Execute(set);
//
//   const std::string_view arguments[] = {"GETNAME"};
//   Command any = Command::Named("CLIENT", arguments);
//
// Arguments are views. The caller's bytes are not copied and must stay alive until the command has
// completed, as they do in a coroutine that awaits it. AddInteger and AddOwned keep their argument
// inside the command.
//
// Thread-safety: a plain value that can be moved, not copied.
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
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::store {

class Command {
 public:
  // A command of the command table. For a subcommand ("xgroup|create") the constructor adds the
  // subcommand ("create") as the first argument. `id` must not be kUnknown.
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

  // Any command, by the name that is sent, in any case. id() is the row with that name, or
  // kUnknown. A subcommand is an argument: Named("CONFIG") with the argument "GET". `name` is kept
  // as a view.
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
  // Appends all arguments, whose bytes must outlive the command.
  Command& AddAll(std::span<const std::string_view> arguments);
  Command& AddAll(std::span<const std::string> arguments);
  // Appends a number as decimal text, which the command keeps.
  Command& AddInteger(int64_t value);
  // Appends a text that the command keeps.
  Command& AddOwned(std::string argument);

  // The id of the row. For a command made by Named() it is the container's row even if the first
  // argument is a subcommand; kUnknown if the name has no row.
  CommandId id() const { return id_; }
  // The name that is sent: the name given to Named(), otherwise the row's name in lower case (for a
  // subcommand its container's).
  std::string_view name() const { return name_; }
  // The words after the name, including the subcommand.
  std::span<const std::string_view> arguments() const { return arguments_; }

  // Returns one line for logs and test output: set "key" "value".
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

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_COMMAND_H_
