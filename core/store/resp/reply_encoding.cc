#include "redouble/core/store/resp/reply_encoding.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace redouble::inline v0_1::store {
namespace {

using Shape = Reply::Shape;

// A line of four bytes as one number, whatever the order of its bytes in memory.
using ShortLine = std::array<char, 4>;
constexpr uint32_t NumberOf(ShortLine line) { return std::bit_cast<uint32_t>(line); }

// Appends ":17\r\n". A server does this several times for every reply. A processor waits when it
// copies bytes that it has just written one by one, so one digit is written as one number, and more
// of them at their place.
template <typename Number>
void AppendNumber(char type, Number number, std::string& out) {
  if (static_cast<uint64_t>(number) <= 9) {
    const auto line = std::bit_cast<ShortLine>(NumberOf({0, '0', '\r', '\n'}) +
                                               NumberOf({1}) * static_cast<uint32_t>(type) +
                                               NumberOf({0, 1}) * static_cast<uint32_t>(number));
    out.append(line.data(), line.size());
    return;
  }
  constexpr size_t kLongest = 24;
  const size_t start = out.size();
  out.append(kLongest, '\0');
  char* end = out.data() + start;
  *end++ = type;
  end = std::to_chars(end, out.data() + out.size() - 2, number).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out.erase(static_cast<size_t>(end - out.data()));
}

// Appends "$3" or "*3": a length or a number of elements.
void AppendSize(char type, size_t size, std::string& out) { AppendNumber(type, size, out); }

void AppendLine(char type, std::string_view text, std::string& out) {
  out.push_back(type);
  out.append(text);
  out.append("\r\n", 2);
}

void AppendBlob(char type, std::string_view format, std::string_view text, std::string& out) {
  constexpr size_t kLargeBytes = 4096;
  constexpr size_t kFrameBytes = 32;
  // Otherwise the line end after a large text would double the room.
  if (text.size() > kLargeBytes) out.reserve(out.size() + text.size() + kFrameBytes);
  AppendSize(type, format.size() + text.size(), out);
  if (!format.empty()) out.append(format);
  out.append(text);
  out.append("\r\n", 2);
}

void AppendText(const Reply& reply, Protocol protocol, std::string& out) {
  if (protocol == Protocol::kResp2) return AppendBulk(reply.text(), out);
  switch (reply.shape()) {
    case Shape::kDouble:
      return AppendLine(',', reply.text(), out);
    case Shape::kBigNumber:
      return AppendLine('(', reply.text(), out);
    case Shape::kVerbatim:
      return AppendBlob('=', "txt:", reply.text(), out);
    default:
      return AppendBulk(reply.text(), out);
  }
}

void AppendElements(const Reply& reply, Protocol protocol, std::string& out) {
  for (const Reply& element : reply.elements()) AppendReply(element, protocol, out);
}

// Appends alternating elements as pairs.
void AppendPairs(const Reply& reply, std::string& out) {
  const std::vector<Reply>& elements = reply.elements();
  for (size_t i = 0; i + 1 < elements.size(); i += 2) {
    AppendSize('*', 2, out);
    AppendReply(elements[i], Protocol::kResp3, out);
    AppendReply(elements[i + 1], Protocol::kResp3, out);
  }
}

void AppendMapOfPairs(const Reply& reply, std::string& out) {
  AppendSize('%', reply.elements().size(), out);
  for (const Reply& pair : reply.elements()) AppendElements(pair, Protocol::kResp3, out);
}

void AppendArray(const Reply& reply, Protocol protocol, std::string& out) {
  if (reply.shape() == Shape::kPreceded) {
    if (protocol == Protocol::kResp3) AppendReply(reply.elements()[0], protocol, out);
    return AppendReply(reply.elements()[1], protocol, out);
  }
  if (protocol == Protocol::kResp3 && reply.shape() == Shape::kMapOfPairs) {
    return AppendMapOfPairs(reply, out);
  }
  AppendArrayStart(reply.shape(), reply.elements().size(), protocol, out);
  if (protocol == Protocol::kResp3 && reply.shape() == Shape::kPairs) {
    return AppendPairs(reply, out);
  }
  AppendElements(reply, protocol, out);
}

// The sizes are constants, so that no loop copies the bytes.
void AppendNil(const Reply& reply, Protocol protocol, std::string& out) {
  if (protocol == Protocol::kResp3) {
    out.append("_\r\n", 3);
  } else if (reply.shape() == Shape::kNilArray) {
    out.append("*-1\r\n", 5);
  } else {
    out.append("$-1\r\n", 5);
  }
}

void AppendInteger(const Reply& reply, Protocol protocol, std::string& out) {
  const bool is_bool = protocol == Protocol::kResp3 && reply.shape() == Shape::kBool;
  if (is_bool) return AppendLine('#', reply.integer() != 0 ? "t" : "f", out);
  AppendNumber(':', reply.integer(), out);
}

}  // namespace

void AppendArrayStart(Shape shape, size_t size, Protocol protocol, std::string& out) {
  if (protocol == Protocol::kResp2) return AppendSize('*', size, out);
  switch (shape) {
    case Shape::kPairs:
      return AppendSize('*', size / 2, out);
    case Shape::kMap:
      return AppendSize('%', size / 2, out);
    case Shape::kSet:
      return AppendSize('~', size, out);
    case Shape::kPush:
      return AppendSize('>', size, out);
    case Shape::kAttributes:
      return AppendSize('|', size / 2, out);
    default:
      return AppendSize('*', size, out);
  }
}

void AppendBulk(std::string_view text, std::string& out) { AppendBlob('$', "", text, out); }

void AppendReply(const Reply& reply, Protocol protocol, std::string& out) {
  switch (reply.kind()) {
    case Reply::Kind::kNil:
      return AppendNil(reply, protocol, out);
    case Reply::Kind::kStatus:
      return AppendLine('+', reply.text(), out);
    case Reply::Kind::kError:
      return AppendLine('-', reply.text(), out);
    case Reply::Kind::kInteger:
      return AppendInteger(reply, protocol, out);
    case Reply::Kind::kBulk:
      return AppendText(reply, protocol, out);
    case Reply::Kind::kArray:
      return AppendArray(reply, protocol, out);
  }
}

}  // namespace redouble::inline v0_1::store
