#include "redouble/core/store/resp/command_writer.h"

#include <charconv>
#include <limits>
#include <string_view>

namespace redouble::inline v0_1::store {
namespace {

constexpr std::string_view kMulti = "*1\r\n$5\r\nMULTI\r\n";
constexpr std::string_view kExec = "*1\r\n$4\r\nEXEC\r\n";

// Appends `*3` or `$5` and the line end at once.
void AppendHeader(char type, size_t count, std::string& out) {
  char text[std::numeric_limits<size_t>::digits10 + 4];
  text[0] = type;
  char* end = std::to_chars(text + 1, text + sizeof(text) - 2, count).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out.append(text, end - text);
}

void AppendArgument(std::string_view argument, std::string& out) {
  AppendHeader('$', argument.size(), out);
  out.append(argument);
  out.append("\r\n", 2);
}

bool IsTransaction(const Request& request) { return request.kind() == Request::Kind::kTransaction; }

}  // namespace

void AppendCommand(const Command& command, std::string& out) {
  AppendHeader('*', 1 + command.arguments().size(), out);
  AppendArgument(command.name(), out);
  for (const std::string_view argument : command.arguments()) AppendArgument(argument, out);
}

void AppendRequest(const Request& request, std::string& out) {
  if (IsTransaction(request)) out.append(kMulti);
  for (const Command& command : request.commands()) AppendCommand(command, out);
  if (IsTransaction(request)) out.append(kExec);
}

size_t ReplyCount(const Request& request) {
  return request.commands().size() + (IsTransaction(request) ? 2 : 0);
}

}  // namespace redouble::inline v0_1::store
