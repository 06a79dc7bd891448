#include "redouble/tests/support/round_trip_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace redouble::inline v0_1::tests {
namespace {

constexpr size_t kToday = 3;
constexpr size_t kFewest = 4;
constexpr size_t kReason = 5;

// Calls `visit` for each line of the page, with its cells if it is a row of the table. The cells
// begin with an empty one, before the first bar.
void VisitLines(
    const std::string& path,
    const std::function<void(const std::string& line, std::vector<std::string> cells)>& visit) {
  std::ifstream file(path);
  std::string line;
  bool inside = false;
  while (std::getline(file, line)) {
    if (line == "<!-- measured: round trips -->") inside = true;
    if (line == "<!-- end -->") inside = false;
    std::vector<std::string> cells;
    if (inside) cells = absl::StrSplit(line, '|');
    int today = 0;
    const bool is_row = cells.size() > kReason + 1 && absl::SimpleAtoi(cells[kToday], &today);
    if (!is_row) cells.clear();
    visit(line, std::move(cells));
  }
}

std::string Trimmed(const std::string& cell) {
  return std::string(absl::StripAsciiWhitespace(cell));
}

}  // namespace

RoundTripTable::RoundTripTable(std::string page) : page_(std::move(page)) { Read(page_); }

void RoundTripTable::Read(const std::string& path) {
  rows_.clear();
  VisitLines(path, [this](const std::string&, const std::vector<std::string>& cells) {
    if (cells.empty()) return;
    Row row;
    EXPECT_TRUE(absl::SimpleAtoi(cells[kToday], &row.today));
    EXPECT_TRUE(absl::SimpleAtoi(cells[kFewest], &row.fewest)) << cells[1];
    row.reason = Trimmed(cells[kReason]);
    EXPECT_TRUE(rows_.emplace(Trimmed(cells[1]), row).second) << "twice: " << cells[1];
  });
}

RoundTripTable::Counts RoundTripTable::Today() const {
  Counts counts;
  for (const auto& [operation, row] : rows_) counts[operation] = row.today;
  return counts;
}

void RoundTripTable::ExpectToday(const Counts& measured) {
  if (const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY")) {
    const std::string path = absl::StrCat(workspace, "/", page_);
    Write(path, measured);
    Read(path);
  }
  for (const auto& [operation, count] : measured) {
    EXPECT_TRUE(rows_.contains(operation)) << page_ << ": " << operation << ": " << count;
  }
  for (const auto& [operation, row] : rows_) {
    const auto count = measured.find(operation);
    ASSERT_NE(count, measured.end()) << page_ << ": no test measures " << operation;
    EXPECT_EQ(row.today, count->second) << page_ << ": " << operation;
    EXPECT_LE(row.fewest, row.today) << operation;
    EXPECT_EQ(row.reason.empty(), row.fewest == row.today) << operation << ": " << row.reason;
  }
}

void RoundTripTable::Write(const std::string& path, const Counts& measured) const {
  std::string page;
  VisitLines(path, [&](const std::string& line, std::vector<std::string> cells) {
    if (!cells.empty()) {
      const auto count = measured.find(Trimmed(cells[1]));
      if (count != measured.end()) cells[kToday] = absl::StrCat(" ", count->second, " ");
    }
    absl::StrAppend(&page, cells.empty() ? line : absl::StrJoin(cells, "|"), "\n");
  });
  std::ofstream(path, std::ios::binary) << page;
}

}  // namespace redouble::inline v0_1::tests
