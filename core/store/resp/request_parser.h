// RequestParser: parses the commands that a client sends; it does no I/O.
//
// It reads arrays of bulk strings and inline commands ("SET key value") as redis-server 7.0.15
// does, with its limits and the texts of its protocol errors. The words are views into the caller's
// buffer; only the words of an inline command with quotes are copied.
//
//   RequestParser parser;
//   size_t used = 0;
//   while (parser.Parse(std::string_view(buffer).substr(used), limits) == Progress::kCommand) {
//     Run(parser.words());
//     used += parser.consumed();
//   }
//
// For an incomplete command the caller passes the same bytes again, with more appended; the parser
// continues where it stopped.
//
// Thread-safety: one thread.
// Source: Redis 7.0 networking.c, processMultibulkBuffer and processInlineBuffer.
#ifndef REDOUBLE_CORE_STORE_RESP_REQUEST_PARSER_H_
#define REDOUBLE_CORE_STORE_RESP_REQUEST_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"

namespace redouble::inline v0_1::store {

class RequestParser {
 public:
  struct Limits {
    int64_t longest_bulk_bytes = 512 << 20;  // proto-max-bulk-len
    // A client that is not authenticated may send at most 10 words of 16 KiB.
    bool unauthenticated = false;
  };

  enum class Progress {
    kCommand,     // See words() and consumed(). An empty line or array has no words.
    kIncomplete,  // More bytes are needed.
    kError,       // See error(). The rest of the input cannot be parsed.
  };

  // Parses one command at the beginning of `input`. After kIncomplete the next call must pass the
  // same bytes and more, possibly at another address. After kCommand it passes the bytes after
  // consumed().
  Progress Parse(std::string_view input, const Limits& limits);

  // Returns the size in bytes of the command at the beginning of `input` and its second word, which
  // is empty if there is none, without parsing the rest. Returns false if the command is incomplete
  // or has a number with more than two digits.
  static bool Skim(std::string_view input, size_t& size, std::string_view& second_word);

  // The words of the last command, as views into the input or into the parser.
  const std::vector<std::string_view>& words() const { return words_; }
  // The size in bytes of the last command.
  size_t consumed() const { return consumed_; }
  // "Protocol error: ..."
  const std::string& error() const { return error_; }
  // After kIncomplete: how many bytes of an array of words have been parsed, up to the start of an
  // incomplete one, and the size in bytes of its complete words; 0 otherwise.
  size_t parsed_bytes() const { return missing_words_ > 0 ? position_ : 0; }
  size_t word_bytes() const;
  // After kIncomplete: the minimum size in bytes of the whole command; 0 if it is not known.
  size_t bytes_wanted() const { return wanted_; }

 private:
  struct Word {
    size_t begin;
    size_t size;
  };

  // Parses a complete command whose numbers have one or two digits, as most have, without keeping
  // state. Returns false, without any effect, for any other command.
  bool ParseShort(std::string_view input);
  Progress ParseInline(std::string_view input);
  Progress ParseArray(std::string_view input, const Limits& limits);
  // Parses the header "*3\r\n" and moves the position after it.
  Progress ParseCount(std::string_view input, const Limits& limits);
  Progress ParseBulkSize(std::string_view input, const Limits& limits);
  // Reads the line that begins with its type at `position_`.
  enum class Line { kWhole, kIncomplete, kTooBig };
  Line ReadLine(std::string_view input, std::string_view& line);
  Progress Fail(std::string error);
  Progress Finish(size_t consumed);
  void Forget();

  // The state of an incomplete command: the position at which parsing continues, the number of
  // missing words (-1: not known yet) and the size of the next word (-1: not known yet).
  size_t position_ = 0;
  int64_t missing_words_ = -1;
  int64_t bulk_bytes_ = -1;
  std::vector<Word> found_;

  std::vector<std::string_view> words_;
  std::vector<std::string> unquoted_;
  size_t consumed_ = 0;
  size_t wanted_ = 0;
  std::string error_;
};

// Calls `run` with the words of each command in `bytes`, which this program has written: every
// command must be complete. The words are views into `bytes`.
void ForEachCommand(std::string_view bytes,
                    absl::FunctionRef<void(const std::vector<std::string_view>& words)> run);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_RESP_REQUEST_PARSER_H_
