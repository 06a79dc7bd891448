// JSON as 3scale writes it: compact, fields in the order they were added, text as it is.
//
// Why it exists: queued events, alerts and errors are compared byte for byte by those who share the
// Redis, and a member of the event queue is its text. No general JSON writer has this format of
// numbers and escapes.
//
//   JsonObject().Add("id", 1).Add("type", "alert").Add("max_utilization", 0.8).text()
//       // {"id":1,"type":"alert","max_utilization":0.8}
//
// Thread-safety: a plain value.
// Source: reference/threescale.md 1.3.
#ifndef REDOUBLE_CORE_THREESCALE_JSON_TEXT_H_
#define REDOUBLE_CORE_THREESCALE_JSON_TEXT_H_

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace redouble::threescale {

class JsonObject {
 public:
  JsonObject& Add(std::string_view name, std::string_view text);
  JsonObject& Add(std::string_view name, const char* text) {
    return Add(name, std::string_view(text));
  }
  JsonObject& Add(std::string_view name, std::integral auto number) {
    return AddJson(name, std::to_string(number));
  }
  JsonObject& Add(std::string_view name, double number);
  JsonObject& Add(std::string_view name, const JsonObject& object) {
    return AddJson(name, object.text());
  }
  // Adds a value that is JSON already.
  JsonObject& AddJson(std::string_view name, std::string_view json);

  std::string text() const { return fields_.empty() ? "{}" : "{" + fields_ + "}"; }

 private:
  std::string fields_;
};

// `text` in quotes: `"`, `\` and control characters are escaped, anything else stands as it is,
// slashes and bytes that are no UTF-8 included.
std::string JsonString(std::string_view text);

// The shortest digits that read back as `number`, always with a point or an exponent: "1.0", "0.8",
// "1.0e+21", "1.0e-05". Plain from 1e-4 up to below 1e16.
std::string JsonDouble(double number);

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_JSON_TEXT_H_
