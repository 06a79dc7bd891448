#include "redouble/tests/support/target/reply_text.h"

#include <algorithm>

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;

// Appends the reply; lines after the first begin with `indent` spaces.
void Append(const Reply& reply, size_t indent, std::string& text) {
  switch (reply.kind()) {
    case Reply::Kind::kNil:
      text += reply.shape() == Reply::Shape::kNilArray ? "(nil array)" : "(nil)";
      return;
    case Reply::Kind::kStatus:
      text += reply.text();
      return;
    case Reply::Kind::kError:
      text += "(error) " + reply.text();
      return;
    case Reply::Kind::kInteger:
      text += "(integer) " + std::to_string(reply.integer());
      return;
    case Reply::Kind::kBulk:
      text += store::QuoteBytes(reply.text());
      return;
    case Reply::Kind::kArray:
      break;
  }
  if (reply.elements().empty()) text += "(empty array)";
  const size_t width = std::to_string(reply.elements().size()).size();
  for (size_t i = 0; i < reply.elements().size(); ++i) {
    if (i > 0) text += '\n' + std::string(indent, ' ');
    const std::string number = std::to_string(i + 1);
    text += std::string(width - number.size(), ' ') + number + ") ";
    Append(reply.elements()[i], indent + width + 2, text);
  }
}

}  // namespace

std::string ReplyText(const Reply& reply) {
  std::string text;
  Append(reply, 0, text);
  return text;
}

}  // namespace redouble::inline v0_1::tests
