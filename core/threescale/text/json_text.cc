#include "redouble/core/threescale/text/json_text.h"

#include <array>
#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::threescale {
namespace {

constexpr std::string_view kHexDigits = "0123456789ABCDEF";

// Returns the escape of a control character.
std::string ControlEscape(unsigned char byte) {
  switch (byte) {
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return {'\\', 'u', '0', '0', kHexDigits[byte >> 4], kHexDigits[byte & 0xF]};
  }
}

// Returns the shortest digits of std::to_chars in one of its formats.
std::string Shortest(double number, std::chars_format format) {
  constexpr size_t kMostCharacters = 32;
  std::array<char, kMostCharacters> buffer;
  const auto end = std::to_chars(buffer.begin(), buffer.end(), number, format).ptr;
  return std::string(buffer.begin(), end);
}

}  // namespace

JsonObject& JsonObject::Add(std::string_view name, std::string_view text) {
  return AddJson(name, JsonString(text));
}

JsonObject& JsonObject::Add(std::string_view name, double number) {
  return AddJson(name, JsonDouble(number));
}

JsonObject& JsonObject::AddJson(std::string_view name, std::string_view json) {
  absl::StrAppend(&fields_, fields_.empty() ? "" : ",", JsonString(name), ":", base::ToAbsl(json));
  return *this;
}

std::string JsonString(std::string_view text) {
  constexpr unsigned char kFirstPrintable = 0x20;
  std::string json = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < kFirstPrintable) {
      json += ControlEscape(static_cast<unsigned char>(c));
      continue;
    }
    if (c == '"' || c == '\\') json.push_back('\\');
    json.push_back(c);
  }
  json.push_back('"');
  return json;
}

std::string JsonDouble(double number) {
  constexpr double kLeastPlain = 1e-4;
  constexpr double kFirstScientific = 1e16;
  const double magnitude = std::abs(number);
  if (magnitude == 0 || (magnitude >= kLeastPlain && magnitude < kFirstScientific)) {
    const std::string digits = Shortest(number, std::chars_format::fixed);
    return digits.find('.') == std::string::npos ? digits + ".0" : digits;
  }
  std::string digits = Shortest(number, std::chars_format::scientific);
  const size_t exponent = digits.find('e');
  if (exponent == std::string::npos) return digits;
  if (digits.find('.') == std::string::npos) digits.insert(exponent, ".0");
  return digits;
}

}  // namespace redouble::inline v0_1::threescale
