// JsonObject: writes JSON in the format of 3scale: compact, with the fields in the order in which
// they were added, and with text unchanged.
//
// Programs that share the Redis compare events, alerts and errors byte for byte, and a member of
// the event queue is its text. General JSON writers have another format of numbers and escapes.
//
//   JsonObject().Add("id", 1).Add("type", "alert").Add("max_utilization", 0.8).text()
//       // {"id":1,"type":"alert","max_utilization":0.8}
//
// Thread-safety: a plain value.
// Source: docs/systems/threescale.md 2.2.
#ifndef REDOUBLE_CORE_THREESCALE_TEXT_JSON_TEXT_H_
#define REDOUBLE_CORE_THREESCALE_TEXT_JSON_TEXT_H_

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace redouble::inline v0_1::threescale {

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
  // Adds a value that is already JSON.
  JsonObject& AddJson(std::string_view name, std::string_view json);

  std::string text() const { return fields_.empty() ? "{}" : "{" + fields_ + "}"; }

 private:
  std::string fields_;
};

// Returns `text` in quotes. `"`, `\` and control characters are escaped. All other bytes are
// unchanged, including slashes and invalid UTF-8.
std::string JsonString(std::string_view text);

// Returns the shortest digits that read back as `number`, always with a point or an exponent:
// "1.0", "0.8", "1.0e+21", "1.0e-05". Decimal for 1e-4 <= |number| < 1e16.
std::string JsonDouble(double number);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_TEXT_JSON_TEXT_H_
