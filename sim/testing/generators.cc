#include "redouble/sim/testing/generators.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <string_view>
#include <utility>

namespace redouble::inline v0_1::testing {
namespace {

// A command of one type. Words in lower case are placeholders, see Argument; the others are sent.
struct Form {
  std::string_view type;
  std::vector<std::string_view> words;
};

const std::vector<Form>& Forms() {
  static const auto& forms = *new std::vector<Form>{
      {"key", {"DEL", "key"}},
      {"key", {"EXISTS", "key"}},
      {"key", {"EXPIRE", "key", "seconds"}},
      {"key", {"PERSIST", "key"}},
      {"key", {"PTTL", "key"}},
      {"key", {"RENAME", "key", "key"}},
      {"key", {"TYPE", "key"}},
      {"string", {"APPEND", "key", "value"}},
      {"string", {"DECR", "key"}},
      {"string", {"GET", "key"}},
      {"string", {"GETDEL", "key"}},
      {"string", {"INCRBY", "key", "integer"}},
      {"string", {"SET", "key", "value"}},
      {"string", {"SET", "key", "value", "EX", "seconds"}},
      {"string", {"SET", "key", "integer", "NX"}},
      {"string", {"SETRANGE", "key", "index", "value"}},
      {"list", {"LINDEX", "key", "integer"}},
      {"list", {"LLEN", "key"}},
      {"list", {"LMOVE", "key", "key", "LEFT", "RIGHT"}},
      {"list", {"LPOP", "key"}},
      {"list", {"LPUSH", "key", "value", "value"}},
      {"list", {"LRANGE", "key", "integer", "integer"}},
      {"list", {"LREM", "key", "integer", "value"}},
      {"list", {"LTRIM", "key", "integer", "integer"}},
      {"list", {"RPUSH", "key", "value"}},
      {"set", {"SADD", "key", "member", "member"}},
      {"set", {"SCARD", "key"}},
      {"set", {"SINTER", "key", "key"}},
      {"set", {"SISMEMBER", "key", "member"}},
      {"set", {"SMOVE", "key", "key", "member"}},
      {"set", {"SREM", "key", "member"}},
      {"set", {"SUNIONSTORE", "key", "key", "key"}},
      {"hash", {"HDEL", "key", "member"}},
      {"hash", {"HGET", "key", "member"}},
      {"hash", {"HGETALL", "key"}},
      {"hash", {"HINCRBY", "key", "member", "integer"}},
      {"hash", {"HLEN", "key"}},
      {"hash", {"HSET", "key", "member", "value"}},
      {"hash", {"HSETNX", "key", "member", "value"}},
      {"zset", {"ZADD", "key", "integer", "member"}},
      {"zset", {"ZADD", "key", "GT", "CH", "integer", "member"}},
      {"zset", {"ZCARD", "key"}},
      {"zset", {"ZINCRBY", "key", "integer", "member"}},
      {"zset", {"ZPOPMIN", "key"}},
      {"zset", {"ZRANGE", "key", "integer", "integer", "WITHSCORES"}},
      {"zset", {"ZRANK", "key", "member"}},
      {"zset", {"ZREM", "key", "member"}},
      {"stream", {"XADD", "key", "*", "member", "value"}},
      {"stream", {"XADD", "key", "MAXLEN", "index", "*", "member", "value"}},
      {"stream", {"XLEN", "key"}},
      {"stream", {"XRANGE", "key", "-", "+", "COUNT", "index"}},
      {"stream", {"XTRIM", "key", "MAXLEN", "index"}},
  };
  return forms;
}

std::string Number(int value) { return std::to_string(value); }

// One of `values`, each as likely at any size. Shrinks to an earlier one; rc::gen::elementOf does
// not shrink.
template <typename T>
rc::Gen<T> OneOf(std::vector<T> values) {
  assert(!values.empty());
  const rc::Gen<size_t> index = rc::gen::inRange<size_t>(0, values.size());
  return rc::gen::map(rc::gen::resize(rc::kNominalSize, index),
                      [values = std::move(values)](size_t i) { return values[i]; });
}

// -10 to 10; shrinks to 0.
rc::Gen<std::string> Integers() {
  std::vector<std::string> values = {"0"};
  for (int i = 1; i <= 10; ++i) {
    values.push_back(Number(i));
    values.push_back(Number(-i));
  }
  return OneOf(std::move(values));
}

rc::Gen<std::string> Argument(std::string_view placeholder) {
  if (placeholder == "key") return Keys();
  if (placeholder == "value") return Values();
  if (placeholder == "member") return Members();
  if (placeholder == "integer") return Integers();
  if (placeholder == "index") return rc::gen::map(rc::gen::inRange(0, 8), Number);
  if (placeholder == "seconds") return rc::gen::map(rc::gen::inRange(1, 100), Number);
  return rc::gen::just(std::string(placeholder));
}

}  // namespace

rc::Gen<std::string> Keys() { return OneOf<std::string>({"key:0", "key:1", "key:2", "key:3"}); }

rc::Gen<std::string> Values() {
  return rc::gen::oneOf(OneOf<std::string>({"", "a", "text"}), Integers(),
                        rc::gen::string<std::string>());
}

rc::Gen<std::string> Members() { return OneOf<std::string>({"a", "b", "c", "d"}); }

rc::Gen<Words> Commands(const std::vector<std::string_view>& types) {
  std::vector<Form> forms;
  for (const Form& form : Forms()) {
    const bool selected = std::find(types.begin(), types.end(), form.type) != types.end();
    if (types.empty() || selected) forms.push_back(form);
  }
  assert(!forms.empty());
  return rc::gen::mapcat(OneOf(std::move(forms)), [](const Form& form) {
    return rc::gen::exec([form] {
      Words words;
      for (const std::string_view word : form.words) words.push_back(*Argument(word));
      return words;
    });
  });
}

}  // namespace redouble::inline v0_1::testing
