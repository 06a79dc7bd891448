#include "redouble/core/store/command.h"

#include <charconv>
#include <functional>
#include <utility>

#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::store {

Command Command::Named(std::string_view name) {
  const CommandId id = FindCommand(name);
  const bool stands_alone = id != CommandId::kUnknown && !SpecOf(id).is_subcommand();
  return Command(stands_alone ? id : CommandId::kUnknown, name);
}

Command Command::Named(std::string_view name, std::span<const std::string_view> arguments) {
  Command command = Named(name);
  command.AddAll(arguments);
  return command;
}

Command::Command(Command&& other) noexcept
    : id_(other.id_),
      scratch_used_(other.scratch_used_),
      name_(other.name_),
      arguments_(std::move(other.arguments_)),
      owned_(std::move(other.owned_)) {
  TakeScratch(other);
}

Command& Command::operator=(Command&& other) noexcept {
  if (this == &other) return *this;
  id_ = other.id_;
  scratch_used_ = other.scratch_used_;
  name_ = other.name_;
  arguments_ = std::move(other.arguments_);
  owned_ = std::move(other.owned_);
  TakeScratch(other);
  return *this;
}

// The texts of numbers are in `scratch_`: copies it, and redirects the views that point into it.
void Command::TakeScratch(Command& other) {
  if (scratch_used_ == 0) return;
  scratch_ = other.scratch_;
  const char* const begin = other.scratch_.data();
  const char* const end = begin + scratch_used_;
  for (std::string_view& argument : arguments_) {
    const bool inside =
        !std::less<>()(argument.data(), begin) && std::less<>()(argument.data(), end);
    if (inside) argument = {scratch_.data() + (argument.data() - begin), argument.size()};
  }
}

Command& Command::AddAll(std::span<const std::string_view> arguments) {
  const size_t size = arguments_.size() + arguments.size();
  if (size > kInlineArguments) arguments_.reserve(size);
  for (const std::string_view argument : arguments) arguments_.push_back(argument);
  return *this;
}

Command& Command::AddAll(std::span<const std::string> arguments) {
  arguments_.insert(arguments_.end(), arguments.begin(), arguments.end());
  return *this;
}

Command& Command::AddInteger(int64_t value) {
  char* const begin = scratch_.data() + scratch_used_;
  const std::to_chars_result written =
      std::to_chars(begin, scratch_.data() + scratch_.size(), value);
  if (written.ec != std::errc()) return AddOwned(std::to_string(value));
  scratch_used_ = static_cast<uint8_t>(written.ptr - scratch_.data());
  return Add(std::string_view(begin, written.ptr - begin));
}

Command& Command::AddOwned(std::string argument) {
  owned_.push_front(std::move(argument));
  return Add(owned_.front());
}

std::string Command::DebugString() const {
  std::string out(name_);
  for (const std::string_view argument : arguments_) {
    out.push_back(' ');
    out += QuoteBytes(argument);
  }
  return out;
}

}  // namespace redouble::inline v0_1::store
