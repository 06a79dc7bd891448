#include "redouble/backends/memory/values/encodings/packed_or_table.h"

#include <memory>
#include <utility>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

// An owning pointer that is null after it was moved from, as in a listpack.
struct Packed {
  std::unique_ptr<int> number = std::make_unique<int>(7);
};

struct Table {
  explicit Table(int* alive) : alive(alive) { ++*alive; }
  ~Table() { --*alive; }
  int* alive;
  int entries = 3;
};

using Either = PackedOrTable<Packed, Table>;

TEST(PackedOrTable, BeginsPacked) {
  Either either;
  EXPECT_FALSE(either.is_table());
  *either.packed().number = 8;
  EXPECT_EQ(*std::as_const(either).packed().number, 8);
  EXPECT_EQ(sizeof(either), sizeof(void*));
}

TEST(PackedOrTable, BecomesATableAndOwnsIt) {
  int alive = 0;
  {
    Either either;
    either.Become(std::make_unique<Table>(&alive));
    EXPECT_TRUE(either.is_table());
    EXPECT_EQ(either.table().entries, 3);
    either.Become(std::make_unique<Table>(&alive));
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

TEST(PackedOrTable, TakesWhatItHoldsAlongWhenItMoves) {
  int alive = 0;
  {
    Either from;
    from.Become(std::make_unique<Table>(&alive));
    Either to = std::move(from);
    EXPECT_TRUE(to.is_table());
    Either packed;
    to = std::move(packed);
    EXPECT_FALSE(to.is_table());
    EXPECT_EQ(*to.packed().number, 7);
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
