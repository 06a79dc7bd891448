// FakeStore: a scripted store for unit tests.
//
// It expects requests, word by word and in order, and returns the given results. A different
// request fails the test, and so does an expected request that is not made.
//
//   store::FakeStore store;
//   store.Expect({"SET", "key", "value"}, Reply::Ok());
//   store.ExpectBatch(Request::Kind::kTransaction, {{"INCR", "n"}, {"EXPIRE", "n", "70"}},
//                     Reply::Array({Reply::Integer(1), Reply::Integer(1)}));
//   EXPECT_TRUE(*base::Run(store::Set(store, "key", "value")));
//
// A request can be held, to be answered later or abandoned:
//
//   store.ExpectHeld({"GET", "key"});
//   auto get = store::Get(store, "key");
//   get.Start();
//   store.Answer(Reply::Bulk("value"));
//
// For tests only.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_CORE_STORE_TESTING_FAKE_STORE_H_
#define REDOUBLE_CORE_STORE_TESTING_FAKE_STORE_H_

#include <deque>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::store {

class FakeStore final : public Store, private RequestKeeper {
 public:
  // A command's name and arguments as they are sent. Names are compared without regard to case, as
  // in Redis; arguments byte by byte.
  using Words = std::vector<std::string>;

  FakeStore() = default;
  FakeStore(const FakeStore&) = delete;
  FakeStore& operator=(const FakeStore&) = delete;
  // Fails the test if an expected request was not made.
  ~FakeStore() override;

  // Expects this command next; it is answered during Submit().
  void Expect(Words words, absl::StatusOr<Reply> result);
  // Expects this batch next.
  void ExpectBatch(Request::Kind kind, std::vector<Words> commands, absl::StatusOr<Reply> result);
  // Expects this command, or batch, next; it is held until Answer().
  void ExpectHeld(Words words);
  void ExpectHeldBatch(Request::Kind kind, std::vector<Words> commands);

  // Completes the request that has been held for longest.
  void Answer(absl::StatusOr<Reply> result);
  // How many requests are held now, and how many were abandoned while they were held.
  size_t held() const { return held_.size(); }
  int abandoned() const { return abandoned_; }

  void Submit(Request& request) override;

 private:
  struct Expectation {
    Request::Kind kind;
    std::vector<Words> commands;
    std::optional<absl::StatusOr<Reply>> result;  // nullopt: the request is held.
  };

  void Abandon(Request& request) override;

  std::deque<Expectation> expected_;
  std::deque<Request*> held_;
  int abandoned_ = 0;
};

// Returns the result of the task `call(store)` on a FakeStore that expects `words` and returns
// `reply`.
//
//   EXPECT_EQ(*Ask({"INCR", "n"}, Reply::Integer(7), [](Store& s) { return Incr(s, "n"); }), 7);
template <typename Call>
auto Ask(const FakeStore::Words& words, absl::StatusOr<Reply> reply, Call call) {
  FakeStore store;
  store.Expect(words, std::move(reply));
  return base::Run(call(store));
}

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_TESTING_FAKE_STORE_H_
