#include "redouble/tests/support/target/resp3_reader.h"

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;
using Shape = Reply::Shape;

constexpr std::string_view kLineEnd = "\r\n";

// Parses from the front of the bytes. The functions return nullopt if the bytes are incomplete.
class Parser {
 public:
  explicit Parser(std::string_view bytes) : left_(bytes) {}

  size_t left() const { return left_.size(); }

  std::optional<Reply> Read() {
    const std::optional<std::string_view> line = Line();
    if (!line) return std::nullopt;
    const std::string_view text = line->substr(1);
    switch ((*line)[0]) {
      case '_':
        return Reply::Nil();
      case '+':
        return Reply::Status(text);
      case '-':
        return Reply::Error(text);
      case ':':
        return Reply::Integer(std::stoll(std::string(text)));
      case '#':
        return Reply::Bool(text == "t");
      case ',':
        return Reply::Double(std::string(text));
      case '(':
        return Reply::BigNumber(std::string(text));
      case '|':
        return Described(std::stoll(std::string(text)));
      case '$':
      case '=':
        return Blob((*line)[0], std::stoll(std::string(text)));
      default:
        return Elements((*line)[0], std::stoll(std::string(text)));
    }
  }

 private:
  std::optional<std::string_view> Line() {
    const size_t end = left_.find(kLineEnd);
    if (end == std::string_view::npos || end == 0) return std::nullopt;
    const std::string_view line = left_.substr(0, end);
    left_.remove_prefix(end + kLineEnd.size());
    return line;
  }

  std::optional<Reply> Blob(char type, int64_t size) {
    if (size < 0) return Reply::Nil();
    const auto bytes = static_cast<size_t>(size);
    if (left_.size() < bytes + kLineEnd.size()) return std::nullopt;
    const std::string text(left_.substr(0, bytes));
    left_.remove_prefix(bytes + kLineEnd.size());
    constexpr size_t kFormatBytes = 4;  // "txt:"
    return type == '=' ? Reply::Verbatim(text.substr(kFormatBytes)) : Reply::Bulk(text);
  }

  // Reads attributes and the reply after them.
  std::optional<Reply> Described(int64_t size) {
    std::optional<std::vector<Reply>> attributes = ReadMany(2 * size);
    std::optional<Reply> reply = attributes ? Read() : std::nullopt;
    if (!reply) return std::nullopt;
    return Reply::WithAttributes(*std::move(attributes), *std::move(reply));
  }

  std::optional<std::vector<Reply>> ReadMany(int64_t count) {
    std::vector<Reply> replies;
    for (int64_t i = 0; i < count; ++i) {
      std::optional<Reply> reply = Read();
      if (!reply) return std::nullopt;
      replies.push_back(*std::move(reply));
    }
    return replies;
  }

  std::optional<Reply> Elements(char type, int64_t size) {
    if (size < 0) return Reply::NilArray();
    std::optional<std::vector<Reply>> read = ReadMany(type == '%' ? 2 * size : size);
    if (!read) return std::nullopt;
    std::vector<Reply>& elements = *read;
    switch (type) {
      case '*':
        return Reply::Array(std::move(elements));
      case '%':
        return Reply::Map(std::move(elements));
      case '~':
        return Reply::Set(std::move(elements));
      case '>':
        return Reply::Push(std::move(elements));
      default:
        throw std::runtime_error(std::string("no type of RESP3: ") + type);
    }
  }

  std::string_view left_;
};

std::string_view ShapeName(Shape shape) {
  switch (shape) {
    case Shape::kPlain:
    case Shape::kNilArray:
      return "";
    case Shape::kMap:
      return "map";
    case Shape::kSet:
      return "set";
    case Shape::kPairs:
      return "pairs";
    case Shape::kMapOfPairs:
      return "map of pairs";
    case Shape::kPush:
      return "push";
    case Shape::kAttributes:
      return "attributes";
    case Shape::kPreceded:
      return "preceded";
    case Shape::kDouble:
      return "double ";
    case Shape::kBool:
      return "bool ";
    case Shape::kVerbatim:
      return "verbatim ";
    case Shape::kBigNumber:
      return "big number ";
  }
  return "";
}

}  // namespace

std::optional<Reply> Resp3Reader::Next() {
  Parser parser(bytes_);
  std::optional<Reply> reply = parser.Read();
  if (reply) bytes_.erase(0, bytes_.size() - parser.left());
  return reply;
}

std::string ShapedText(const Reply& reply) {
  std::string text(ShapeName(reply.shape()));
  if (!reply.is_array()) return text + reply.DebugString();
  text += '[';
  for (size_t i = 0; i < reply.elements().size(); ++i) {
    if (i > 0) text += ", ";
    text += ShapedText(reply.elements()[i]);
  }
  return text + ']';
}

}  // namespace redouble::inline v0_1::tests
