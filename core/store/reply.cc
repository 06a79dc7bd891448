#include "redouble/core/store/reply.h"

#include <memory>

#include "absl/strings/str_cat.h"

namespace redouble::inline v0_1::store {
namespace {

void AppendQuoted(std::string_view text, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  out.push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"':
      case '\\':
        out.push_back('\\');
        out.push_back(c);
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (byte >= 0x20 && byte < 0x7f) {
          out.push_back(c);
        } else {
          out += "\\x";
          out.push_back(kHex[byte >> 4]);
          out.push_back(kHex[byte & 15]);
        }
    }
  }
  out.push_back('"');
}

void Append(const Reply& reply, std::string& out) {
  switch (reply.kind()) {
    case Reply::Kind::kNil:
      out += "nil";
      return;
    case Reply::Kind::kStatus:
      out += reply.text();
      return;
    case Reply::Kind::kError:
      absl::StrAppend(&out, "(error) ", reply.text());
      return;
    case Reply::Kind::kInteger:
      absl::StrAppend(&out, reply.integer());
      return;
    case Reply::Kind::kBulk:
      AppendQuoted(reply.text(), out);
      return;
    case Reply::Kind::kArray:
      out.push_back('[');
      for (size_t i = 0; i < reply.elements().size(); ++i) {
        if (i > 0) out += ", ";
        Append(reply.elements()[i], out);
      }
      out.push_back(']');
      return;
  }
}

}  // namespace

Reply::Reply(const Reply& other) : kind_(other.kind_), shape_(other.shape_), integer_(0) {
  if (other.has_text()) {
    std::construct_at(&text_, other.text_);
  } else if (other.is_array()) {
    std::construct_at(&elements_, other.elements_);
  } else {
    integer_ = other.integer_;
  }
}

bool operator==(const Reply& a, const Reply& b) {
  if (a.kind_ != b.kind_) return false;
  if (a.has_text()) return a.text_ == b.text_;
  if (a.is_array()) return a.elements_ == b.elements_;
  return a.integer_ == b.integer_;
}

std::string Reply::DebugString() const {
  std::string out;
  Append(*this, out);
  return out;
}

std::ostream& operator<<(std::ostream& out, const Reply& reply) {
  return out << reply.DebugString();
}

std::string QuoteBytes(std::string_view text) {
  std::string out;
  AppendQuoted(text, out);
  return out;
}

}  // namespace redouble::inline v0_1::store
