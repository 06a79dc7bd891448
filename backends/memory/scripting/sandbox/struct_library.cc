#include "redouble/backends/memory/scripting/sandbox/struct_library.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

// No local object may own memory while a Lua function that can raise runs: errors leave by longjmp.

namespace redouble::inline v0_1::memory {
namespace {

constexpr int kMaxIntegerBytes = 32;
// The alignment of "!" without a number.
constexpr size_t kDefaultAlignment = alignof(double);

constexpr std::string_view kSignedLetters = "bhli";
constexpr std::string_view kIntegerLetters = "bBhHlLTiI";

bool IsIntegerOption(char option) { return kIntegerLetters.find(option) != std::string_view::npos; }
bool IsSigned(char option) { return kSignedLetters.find(option) != std::string_view::npos; }

// Reads a format from the front, with the layout that its options have set so far.
class Format {
 public:
  Format(lua_State* state, const char* text) : state_(state), next_(text) {}

  bool done() const { return *next_ == '\0'; }
  bool little_endian() const { return little_endian_; }

  // Reads the letter of the next option and its size without padding.
  char Next(size_t& size) {
    const char option = *next_++;
    size = SizeOf(option);
    return option;
  }

  // The number of padding bytes between `position` and a member of this size.
  size_t Padding(size_t position, char option, size_t size) const {
    if (size == 0 || option == 'c') return 0;
    const size_t to = std::min(size, alignment_);
    return (to - (position & (to - 1))) & (to - 1);
  }

  // Applies an option that is not a member.
  void Control(char option) {
    switch (option) {
      case ' ':
        return;
      case '>':
        little_endian_ = false;
        return;
      case '<':
        little_endian_ = true;
        return;
      case '!': {
        const int alignment = ReadNumber(kDefaultAlignment);
        const bool power_of_two = alignment > 0 && (alignment & (alignment - 1)) == 0;
        if (!power_of_two) luaL_error(state_, "alignment %d is not a power of 2", alignment);
        alignment_ = static_cast<size_t>(alignment);
        return;
      }
      default:
        luaL_argerror(state_, 1, lua_pushfstring(state_, "invalid format option '%c'", option));
    }
  }

 private:
  size_t SizeOf(char option) {
    switch (option) {
      case 'b':
      case 'B':
      case 'x':
        return 1;
      case 'h':
      case 'H':
        return sizeof(short);
      case 'l':
      case 'L':
        return sizeof(long);
      case 'T':
        return sizeof(size_t);
      case 'f':
        return sizeof(float);
      case 'd':
        return sizeof(double);
      case 'c':
        return static_cast<size_t>(ReadNumber(1));
      case 'i':
      case 'I': {
        const int size = ReadNumber(sizeof(int));
        if (size > kMaxIntegerBytes) {
          luaL_error(state_, "integral size %d is larger than limit of %d", size, kMaxIntegerBytes);
        }
        return static_cast<size_t>(size);
      }
      default:
        return 0;
    }
  }

  int ReadNumber(size_t missing) {
    if (std::isdigit(static_cast<unsigned char>(*next_)) == 0) return static_cast<int>(missing);
    int number = 0;
    while (std::isdigit(static_cast<unsigned char>(*next_)) != 0) {
      const int digit = *next_++ - '0';
      if (number > (INT_MAX - digit) / 10) luaL_error(state_, "integral size overflow");
      number = number * 10 + digit;
    }
    return number;
  }

  lua_State* state_;
  const char* next_;
  bool little_endian_ = true;
  size_t alignment_ = 1;
};

// Redis converts by casts, which are undefined for numbers that do not fit; these are the results
// of its x86-64 build.
uint64_t BitsOf(lua_Number number) {
  constexpr lua_Number kTwoTo63 = 9223372036854775808.0;
  constexpr lua_Number kTwoTo64 = 2 * kTwoTo63;
  if (std::isnan(number) || number < -kTwoTo63) return uint64_t{1} << 63;
  if (number < 0) return static_cast<uint64_t>(static_cast<int64_t>(number));
  return number < kTwoTo64 ? static_cast<uint64_t>(number) : 0;
}

void AddInteger(luaL_Buffer* out, lua_Number number, size_t size, bool little_endian) {
  uint64_t value = BitsOf(number);
  char bytes[kMaxIntegerBytes];
  for (size_t i = 0; i < size; ++i) {
    bytes[little_endian ? i : size - 1 - i] = static_cast<char>(value & 0xff);
    value >>= 8;
  }
  luaL_addlstring(out, bytes, size);
}

// Of more than eight bytes only the lowest eight are used.
lua_Number ReadInteger(const char* bytes, size_t size, bool little_endian, bool is_signed) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    value = (value << 8) | static_cast<uint8_t>(bytes[little_endian ? size - 1 - i : i]);
  }
  if (!is_signed) return static_cast<lua_Number>(value);
  const uint64_t sign_and_above = ~uint64_t{0} << ((size * 8 - 1) & 63);
  if ((value & sign_and_above) != 0) value |= sign_and_above;
  return static_cast<lua_Number>(static_cast<int64_t>(value));
}

template <typename Float>
void AddFloat(luaL_Buffer* out, Float number, bool little_endian) {
  char bytes[sizeof(Float)];
  std::memcpy(bytes, &number, sizeof(bytes));
  if (!little_endian) std::reverse(bytes, bytes + sizeof(bytes));
  luaL_addlstring(out, bytes, sizeof(bytes));
}

template <typename Float>
lua_Number ReadFloat(const char* from, bool little_endian) {
  char bytes[sizeof(Float)];
  std::memcpy(bytes, from, sizeof(bytes));
  if (!little_endian) std::reverse(bytes, bytes + sizeof(bytes));
  Float number;
  std::memcpy(&number, bytes, sizeof(bytes));
  return number;
}

// Packs the argument as a text member. Returns the number of bytes.
size_t AddText(lua_State* state, luaL_Buffer* out, int argument, char option, size_t size) {
  size_t length = 0;
  const char* text = luaL_checklstring(state, argument, &length);
  if (size == 0) size = length;
  luaL_argcheck(state, length >= size, argument + 1, "string too short");
  luaL_addlstring(out, text, size);
  if (option != 's') return size;
  luaL_addchar(out, '\0');
  return size + 1;
}

int Pack(lua_State* state) {
  Format format(state, luaL_checkstring(state, 1));
  // A missing argument reads as nil, not as a piece of the buffer.
  lua_pushnil(state);
  luaL_Buffer out;
  luaL_buffinit(state, &out);
  int argument = 2;
  size_t total = 0;
  while (!format.done()) {
    size_t size = 0;
    const char option = format.Next(size);
    for (size_t left = format.Padding(total, option, size); left > 0; --left, ++total) {
      luaL_addchar(&out, '\0');
    }
    if (IsIntegerOption(option)) {
      AddInteger(&out, luaL_checknumber(state, argument++), size, format.little_endian());
    } else if (option == 'x') {
      luaL_addchar(&out, '\0');
    } else if (option == 'f') {
      const auto number = static_cast<float>(luaL_checknumber(state, argument++));
      AddFloat(&out, number, format.little_endian());
    } else if (option == 'd') {
      AddFloat(&out, luaL_checknumber(state, argument++), format.little_endian());
    } else if (option == 'c' || option == 's') {
      size = AddText(state, &out, argument++, option, size);
    } else {
      format.Control(option);
    }
    total += size;
  }
  luaL_pushresult(&out);
  return 1;
}

// Pushes the text member at the front of `data`. Returns the number of bytes. "c0" takes its size
// from the preceding number and removes that number.
size_t PushText(lua_State* state, std::string_view data, char option, size_t size, int& results) {
  constexpr char kTooShort[] = "data string too short";
  if (option == 's') {
    const size_t length = data.find('\0');
    if (length == std::string_view::npos) luaL_error(state, "unfinished string in data");
    lua_pushlstring(state, data.data(), length);
    return length + 1;
  }
  if (size == 0) {
    if (results == 0 || lua_isnumber(state, -1) == 0) {
      luaL_error(state, "format 'c0' needs a previous size");
    }
    const auto wanted = static_cast<int64_t>(lua_tonumber(state, -1));
    size = static_cast<size_t>(wanted);
    lua_pop(state, 1);
    --results;
    luaL_argcheck(state, size <= data.size(), 2, kTooShort);
  }
  lua_pushlstring(state, data.data(), size);
  return size;
}

int Unpack(lua_State* state) {
  Format format(state, luaL_checkstring(state, 1));
  size_t length = 0;
  const char* bytes = luaL_checklstring(state, 2, &length);
  // As in Redis, a negative offset is a large one.
  const auto offset = static_cast<size_t>(luaL_optinteger(state, 3, 1));
  luaL_argcheck(state, offset != 0, 3, "offset must be 1 or greater");
  size_t position = offset - 1;
  int results = 0;
  while (!format.done()) {
    size_t size = 0;
    const char option = format.Next(size);
    position += format.Padding(position, option, size);
    luaL_argcheck(state, position <= length && size <= length - position, 2,
                  "data string too short");
    luaL_checkstack(state, 2, "too many results");
    const char* member = bytes + position;
    if (IsIntegerOption(option)) {
      lua_pushnumber(state, ReadInteger(member, size, format.little_endian(), IsSigned(option)));
      ++results;
    } else if (option == 'f') {
      lua_pushnumber(state, ReadFloat<float>(member, format.little_endian()));
      ++results;
    } else if (option == 'd') {
      lua_pushnumber(state, ReadFloat<double>(member, format.little_endian()));
      ++results;
    } else if (option == 'c' || option == 's') {
      size = PushText(state, {member, length - position}, option, size, results);
      ++results;
    } else if (option != 'x') {
      format.Control(option);
    }
    position += size;
  }
  lua_pushinteger(state, static_cast<lua_Integer>(position + 1));
  return results + 1;
}

int Size(lua_State* state) {
  Format format(state, luaL_checkstring(state, 1));
  size_t total = 0;
  while (!format.done()) {
    size_t size = 0;
    const char option = format.Next(size);
    total += format.Padding(total, option, size);
    if (option == 's') luaL_argerror(state, 1, "option 's' has no fixed size");
    if (option == 'c' && size == 0) luaL_argerror(state, 1, "option 'c0' has no fixed size");
    if (std::isalnum(static_cast<unsigned char>(option)) == 0) format.Control(option);
    total += size;
  }
  lua_pushinteger(state, static_cast<lua_Integer>(total));
  return 1;
}

}  // namespace

void PushStructLibrary(lua_State* state) {
  lua_newtable(state);
  lua_pushcfunction(state, Pack);
  lua_setfield(state, -2, "pack");
  lua_pushcfunction(state, Unpack);
  lua_setfield(state, -2, "unpack");
  lua_pushcfunction(state, Size);
  lua_setfield(state, -2, "size");
}

}  // namespace redouble::inline v0_1::memory
