// Numbers of Lua on other processors, as scripts see them on x86-64. embed_lua.sh adds this to
// Lua's copy unless the compiler's target is x86-64.
//
// C leaves these results to the processor, and scripts show them. The judge is redis-server 7.0 on
// x86-64, so its results are the engine's on every processor:
//
// * The sign of NaN. 0/0 sets the sign bit on x86-64 and clears it on arm64; printf writes "-nan"
//   and "nan". A script changes the bit by negation only. So each NaN in Lua's memory has the
//   opposite sign here, and is turned where it becomes text, bytes or a number of the engine, and
//   where it comes from there.
// * A number that an integer cannot hold. x86-64 converts it to the least integer, arm64 to the
//   nearest.
//
// The cases "numbers that ..." of tests/conformance/cases/script_libraries.txt are the tests. What
// remains different is in docs/platforms.md.
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HIDDEN __attribute__((visibility("hidden")))

typedef struct lua_State lua_State;

// Lua's functions, and those that take their places in the engine (redouble_X) or in Lua (inner_X).
HIDDEN double redouble_own_lua_tonumber(lua_State* state, int index);
HIDDEN void redouble_own_lua_pushnumber(lua_State* state, double number);
HIDDEN double redouble_own_luaL_checknumber(lua_State* state, int argument);
HIDDEN double redouble_own_luaL_optnumber(lua_State* state, int argument, double missing);
HIDDEN double redouble_lua_tonumber(lua_State* state, int index);
HIDDEN void redouble_lua_pushnumber(lua_State* state, double number);
HIDDEN double redouble_luaL_checknumber(lua_State* state, int argument);
HIDDEN double redouble_luaL_optnumber(lua_State* state, int argument, double missing);
HIDDEN ptrdiff_t redouble_lua_tointeger(lua_State* state, int index);
HIDDEN double redouble_inner_luaL_checknumber(lua_State* state, int argument);
HIDDEN double redouble_inner_strtod(const char* text, char** end);
HIDDEN double redouble_inner_pow(double base, double exponent);
HIDDEN int redouble_inner_sprintf(char* out, const char* format, ...);
HIDDEN int redouble_inner_sprintf_chk(char* out, int flag, size_t size, const char* format, ...);

static double Turned(double number) { return isnan(number) ? -number : number; }

// A cast to a signed integer of 64 bits, to an unsigned one, and to one of 32 bits.
static int64_t Integer(double number) {
  return number >= -0x1p63 && number < 0x1p63 ? (int64_t)number : INT64_MIN;
}

static uint64_t Unsigned(double number) {
  if (!(number >= 0x1p63)) return (uint64_t)Integer(number);
  return (uint64_t)Integer(number - 0x1p63) ^ (uint64_t)INT64_MIN;
}

static int Narrow(double number) {
  return number > -0x1p31 - 1 && number < 0x1p31 ? (int)number : INT_MIN;
}

double redouble_lua_tonumber(lua_State* state, int index) {
  return Turned(redouble_own_lua_tonumber(state, index));
}

void redouble_lua_pushnumber(lua_State* state, double number) {
  redouble_own_lua_pushnumber(state, Turned(number));
}

double redouble_luaL_checknumber(lua_State* state, int argument) {
  return Turned(redouble_own_luaL_checknumber(state, argument));
}

double redouble_luaL_optnumber(lua_State* state, int argument, double missing) {
  return Turned(redouble_own_luaL_optnumber(state, argument, Turned(missing)));
}

ptrdiff_t redouble_lua_tointeger(lua_State* state, int index) {
  return Integer(redouble_own_lua_tonumber(state, index));
}

double redouble_inner_strtod(const char* text, char** end) { return Turned(strtod(text, end)); }

// The C library looks at the sign of NaN here: it negates the result for odd exponents.
double redouble_inner_pow(double base, double exponent) {
  if (!isnan(base) && !isnan(exponent)) return pow(base, exponent);
  return Turned(pow(Turned(base), Turned(exponent)));
}

// string.format converts its argument and calls sprintf at once, which needs the number again.
static __thread double last_argument;

double redouble_inner_luaL_checknumber(lua_State* state, int argument) {
  return last_argument = redouble_own_luaL_checknumber(state, argument);
}

// Lua's calls of sprintf have one conversion, at the end, and room for its result.
static int Format(char* out, const char* format, va_list arguments) {
  switch (format[strlen(format) - 1]) {
    case 'd':
    case 'i':
      return sprintf(out, format, (long)Integer(last_argument));
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      return sprintf(out, format, (unsigned long)Unsigned(last_argument));
    case 'c':
      return sprintf(out, format, Narrow(last_argument));
    case 'e':
    case 'E':
    case 'f':
    case 'g':
    case 'G':
      return sprintf(out, format, Turned(va_arg(arguments, double)));
    default:
      return vsprintf(out, format, arguments);
  }
}

int redouble_inner_sprintf(char* out, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int size = Format(out, format, arguments);
  va_end(arguments);
  return size;
}

// The same where Lua was compiled with checks of buffers.
int redouble_inner_sprintf_chk(char* out, int flag, size_t size, const char* format, ...) {
  (void)flag;
  (void)size;
  va_list arguments;
  va_start(arguments, format);
  const int written = Format(out, format, arguments);
  va_end(arguments);
  return written;
}
