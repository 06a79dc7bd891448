// RequestParser: the commands in what a client sends, without a socket.
//
// Reads RESP's arrays of bulk strings and the inline form ("SET key value"), as redis-server 7.0.15
// does, with its limits and the very texts of its protocol errors. The words are views into the
// caller's buffer: nothing is copied but the words of an inline command that has quotes.
//
//   RequestParser parser;
//   size_t used = 0;
//   while (parser.Parse(std::string_view(buffer).substr(used), limits) == Progress::kCommand) {
//     Run(parser.words());
//     used += parser.consumed();
//   }
//
// A command that is not whole yet is not read twice: the parser goes on where it stopped, so the
// caller passes the same bytes again with more behind them.
//
// Thread-safety: one thread.
// Source: Redis 7.0 networking.c, processMultibulkBuffer and processInlineBuffer.
#ifndef REDOUBLE_SIM_SERVER_REQUEST_PARSER_H_
#define REDOUBLE_SIM_SERVER_REQUEST_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace redouble::sim {

class RequestParser {
 public:
  struct Limits {
    int64_t longest_bulk_bytes = 512 << 20;  // proto-max-bulk-len
    // A client who has not said its password may send 10 words of 16 KiB.
    bool unauthenticated = false;
  };

  enum class Progress {
    kCommand,     // words() and consumed() tell of it. No words: an empty line or array.
    kIncomplete,  // More bytes are needed.
    kError,       // error() tells why; what follows cannot be read.
  };

  // Reads one command from the beginning of `input`. After kIncomplete the next call must pass the
  // same bytes and more; they may have moved. After kCommand it passes what follows consumed().
  Progress Parse(std::string_view input, const Limits& limits);

  // Looks at a command without reading it: how many bytes it takes, and its second word, which is
  // empty when there is none. False when it is not whole, or not one that is short in every number.
  static bool Skim(std::string_view input, size_t& size, std::string_view& second_word);

  // Of the last command: its words, as views into the input that was passed or into the parser.
  const std::vector<std::string_view>& words() const { return words_; }
  // How many bytes it took.
  size_t consumed() const { return consumed_; }
  // "Protocol error: ..."
  const std::string& error() const { return error_; }
  // After kIncomplete: how many bytes there must be at least, from the beginning of the command,
  // for it to be whole; 0 when nothing is known.
  size_t bytes_wanted() const { return wanted_; }

 private:
  struct Word {
    size_t begin;
    size_t size;
  };

  // Reads a whole command whose numbers have one or two digits, which most are, without remembering
  // anything on the way. False, and nothing is done, for any other.
  bool ParseShort(std::string_view input);
  Progress ParseInline(std::string_view input);
  Progress ParseArray(std::string_view input, const Limits& limits);
  // The header "*3\r\n"; the position is behind it afterwards.
  Progress ParseCount(std::string_view input, const Limits& limits);
  Progress ParseBulkSize(std::string_view input, const Limits& limits);
  // The line that begins with its type at `position_`.
  enum class Line { kWhole, kIncomplete, kTooBig };
  Line ReadLine(std::string_view input, std::string_view& line);
  bool SplitQuoted(std::string_view line);
  Progress Fail(std::string error);
  Progress Finish(size_t consumed);
  void Forget();

  // Of a command that is under way: where it is read on, how many words are missing (none known
  // yet: -1), and how long the one is that comes next (none known yet: -1).
  size_t position_ = 0;
  int64_t missing_words_ = -1;
  int64_t bulk_bytes_ = -1;
  std::vector<Word> found_;

  std::vector<std::string_view> words_;
  std::deque<std::string> unquoted_;
  size_t consumed_ = 0;
  size_t wanted_ = 0;
  std::string error_;
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SERVER_REQUEST_PARSER_H_
