// JsonText: JSON that is written from its beginning to its end. A trace writes each event with it.
//
//   JsonText json;
//   json.Add(R"({"key":)");
//   json.AddBytes(key);
//   json.Add("}");
//   json.text();   // {"key":"k"}
//   json.Clear();  // For the next one; keeps the memory.
//
// Thread-safety: one thread at a time.
#ifndef REDOUBLE_SIM_JSON_JSON_TEXT_H_
#define REDOUBLE_SIM_JSON_JSON_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace redouble::inline v0_1::sim {

class JsonText {
 public:
  // What was added since the last Clear(). Valid until the next call of another function.
  std::string_view text() const { return {buffer_.data(), size_}; }
  void Clear() { size_ = 0; }

  // Adds JSON as it is.
  void Add(std::string_view json) {
    json.copy(Room(json.size()), json.size());
    size_ += json.size();
  }
  // Adds a number.
  void AddInteger(int64_t number);
  // Adds EncodeBytes(bytes) (sim/json/bytes.h) as a string with quotes.
  void AddBytes(std::string_view bytes);

 private:
  // The place for so many bytes after the text.
  char* Room(size_t bytes) {
    if (buffer_.size() - size_ < bytes) Grow(bytes);
    return buffer_.data() + size_;
  }
  void Grow(size_t bytes);

  std::string buffer_;
  size_t size_ = 0;  // Of the text, which is at the beginning of the buffer.
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_JSON_JSON_TEXT_H_
