// UTF-8, judged as strictly as Rust and Python do.
//
// Why it exists: systems that decode a Redis value as text fail on bytes that are not UTF-8; a port
// has to fail on the same bytes.
//
//   base::IsValidUtf8("caf\xc3\xa9")   // true
//   base::IsValidUtf8("caf\xe9")       // false
//
// Thread-safety: pure.
#ifndef REDOUBLE_CORE_BASE_UTF8_H_
#define REDOUBLE_CORE_BASE_UTF8_H_

#include <string_view>

namespace redouble::base {

// True when `bytes` is well-formed UTF-8: no overlong form, no surrogate, nothing above U+10FFFF,
// nothing cut off. NUL and the empty text are well-formed. Linear.
// Source: The Unicode Standard, table 3-7.
bool IsValidUtf8(std::string_view bytes);

}  // namespace redouble::base

#endif  // REDOUBLE_CORE_BASE_UTF8_H_
