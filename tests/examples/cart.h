// The service of the guides (docs/guides): shopping carts, which know a store::Store and no
// backend.
//
//   Cart cart(redis, "alice");
//   absl::StatusOr<int64_t> books = base::Run(cart.Add("book"));
//
// Thread-safety: as the store.
#ifndef REDOUBLE_TESTS_EXAMPLES_CART_H_
#define REDOUBLE_TESTS_EXAMPLES_CART_H_

// [readme: the cart]
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/store.h"

namespace base = redouble::base;
namespace store = redouble::store;

// A shopping cart, which is forgotten half an hour after its last change.
class Cart {
 public:
  static constexpr absl::Duration kTimeToLive = absl::Minutes(30);

  Cart(store::Store& redis, std::string_view user)
      : redis_(redis), key_("cart:" + std::string(user)) {}

  // Adds one article and returns how many of it are in the cart. Two round trips.
  base::Task<absl::StatusOr<int64_t>> Add(std::string_view article) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t count,
                                 co_await store::HIncrBy(redis_, key_, article, 1));
    REDOUBLE_CO_RETURN_IF_ERROR((co_await store::ExpireIn(redis_, key_, kTimeToLive)).status());
    co_return count;
  }

 private:
  store::Store& redis_;
  const std::string key_;
};
// [end]

#endif  // REDOUBLE_TESTS_EXAMPLES_CART_H_
