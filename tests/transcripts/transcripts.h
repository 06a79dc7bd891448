// Transcripts: what servers of each version say to a client, where versions differ or a client
// depends on the words.
//
// The rows of 7.0, 8.0, and both of Valkey are compared with the servers
// (transcripts_live_test.cc). Debian has none of 6.2, 7.2 and 7.4: their rows are what public
// sources quote, and no server has confirmed them.
//
//   for (const Transcript& row : Transcripts()) {
//     if (row.situation == "HELLO without a password") ...
//   }
//
// Thread-safety: free functions.
#ifndef REDOUBLE_TESTS_TRANSCRIPTS_TRANSCRIPTS_H_
#define REDOUBLE_TESTS_TRANSCRIPTS_TRANSCRIPTS_H_

#include <span>
#include <string_view>

#include "absl/status/status.h"

namespace redouble::inline v0_1::tests {

struct Transcript {
  // What was sent, and to which server.
  std::string_view situation;
  // The versions, separated by spaces: "6.2 7.0".
  std::string_view servers;
  // The error, without the sign before it and the end of the line.
  std::string_view error;
  // The code of the status that a caller receives.
  absl::StatusCode code;
};

// By situation. Each version has each situation at most once.
std::span<const Transcript> Transcripts();

// The error of that version in that situation; empty if the situation does not exist there.
std::string_view ErrorIn(std::string_view situation, std::string_view server);

// The versions that have rows, oldest first.
std::span<const std::string_view> TranscribedServers();

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_TRANSCRIPTS_TRANSCRIPTS_H_
