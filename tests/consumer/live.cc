// A consumer's program for a live server: writes, reads, and tells what went wrong.
// Usage: live URI

#include <iostream>
#include <memory>

#include "redouble/redis.h"
#include "redouble/store.h"

namespace base = redouble::base;
namespace redis = redouble::redis;
namespace store = redouble::store;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: live URI\n";
    return 2;
  }
  auto client = redis::SyncClient::Connect(argv[1], redis::Sharing::kShared);
  if (!client.ok()) {
    std::cerr << client.status() << "\n";
    return 1;
  }
  const auto written = base::Run(store::Set(**client, "greeting", "hello"));
  const auto greeting = base::Run(store::Get(**client, "greeting"));
  if (!written.ok() || !greeting.ok() || *greeting != "hello") {
    std::cerr << written.status() << "; " << greeting.status() << "\n";
    return 1;
  }
  std::cout << **greeting << "\n";
  return 0;
}
