// Numbers and bytes as a text, for what one process of a search tells another.
//
//   std::string text;
//   AppendNumber(text, 7);
//   AppendBytes(text, "key");
//   std::string_view rest = text;
//   TakeNumber(rest);  // 7
//   TakeBytes(rest);   // "key"
//
// A number is followed by a space, bytes follow their number. The text that is read must be one
// that was written here.
//
// Thread-safety: the functions have no state.
#ifndef REDOUBLE_SIM_DECISION_FIELDS_H_
#define REDOUBLE_SIM_DECISION_FIELDS_H_

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace redouble::inline v0_1::sim {

inline void AppendNumber(std::string& text, uint64_t number) {
  text += std::to_string(number);
  text += ' ';
}

inline void AppendBytes(std::string& text, std::string_view bytes) {
  AppendNumber(text, bytes.size());
  text += bytes;
}

// Both remove from the text what they return.
inline uint64_t TakeNumber(std::string_view& text) {
  uint64_t number = 0;
  const char* const end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return number;
}

inline std::string_view TakeBytes(std::string_view& text) {
  const size_t size = TakeNumber(text);
  const std::string_view bytes = text.substr(0, size);
  text.remove_prefix(size);
  return bytes;
}

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_DECISION_FIELDS_H_
