#include "redouble/tests/support/target/ordered_reply.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;

// True for the rows of subcommands, for example "xgroup|create".
bool IsSubcommandRow(const Reply& reply) {
  return reply.is_array() && !reply.elements().empty() && reply.elements()[0].is_bulk() &&
         reply.elements()[0].text().find('|') != std::string::npos;
}

bool Before(const Reply& a, const Reply& b) { return a.DebugString() < b.DebugString(); }

}  // namespace

Reply Ordered(const Reply& reply) {
  if (!reply.is_array()) return reply;
  std::vector<Reply> elements;
  for (const Reply& element : reply.elements()) elements.push_back(Ordered(element));
  if (reply.shape() == Reply::Shape::kMap) {
    std::vector<Reply> pairs;
    for (size_t i = 0; i < elements.size(); i += 2) {
      pairs.push_back(Reply::Array({elements[i], elements[i + 1]}));
    }
    std::sort(pairs.begin(), pairs.end(), Before);
    return Reply::Array(std::move(pairs));
  }
  const bool any_order = reply.shape() == Reply::Shape::kSet ||
                         std::all_of(elements.begin(), elements.end(), IsSubcommandRow);
  if (any_order) std::sort(elements.begin(), elements.end(), Before);
  const bool is_set = reply.shape() == Reply::Shape::kSet;
  return is_set ? Reply::Set(std::move(elements)) : Reply::Array(std::move(elements));
}

}  // namespace redouble::inline v0_1::tests
