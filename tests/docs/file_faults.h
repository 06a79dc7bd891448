// The page docs/file_faults.md: what is left of a file of keys and of an append-only log when any
// system call of a save or a rewrite fails, or the process ends there.
//
// tests/docs/write_pages.cc writes the page; a test fails if it is out of date.
//
// Thread-safety: uses a folder of its own in the system's folder for temporary files.
#ifndef REDOUBLE_TESTS_DOCS_FILE_FAULTS_H_
#define REDOUBLE_TESTS_DOCS_FILE_FAULTS_H_

#include <string>

namespace redouble::inline v0_1::tests {

// The page. Each row is tried: the call fails, and then what is there is loaded.
std::string FileFaultsPage();

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_DOCS_FILE_FAULTS_H_
