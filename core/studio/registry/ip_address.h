// IpAddressBytes: parses an IP address as Python's ipaddress module does.
//
// The outbound policy (url.h) compares the bytes with its networks. For this folder only.
//
//   IpAddressBytes("10.0.0.1");   // 4 bytes
//   IpAddressBytes("fd00::1");    // 16 bytes
//   IpAddressBytes("a.test");     // nullopt
//
// Thread-safety: a pure function.
#ifndef REDOUBLE_CORE_STUDIO_REGISTRY_IP_ADDRESS_H_
#define REDOUBLE_CORE_STUDIO_REGISTRY_IP_ADDRESS_H_

#include <optional>
#include <string>
#include <string_view>

namespace redouble::inline v0_1::studio {

// The bytes of an address in network order. nullopt if the text is not an address: for example IPv4
// numbers with leading zeros or above 255, and IPv6 texts with a second `::` or with groups of more
// than four digits. The zone of an IPv6 address (`%eth0`) is dropped.
std::optional<std::string> IpAddressBytes(std::string_view text);

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_REGISTRY_IP_ADDRESS_H_
