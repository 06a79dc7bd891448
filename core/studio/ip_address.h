// IP addresses as text, read as Python's ipaddress module reads them.
//
//   IpAddressBytes("10.0.0.1")   // 4 bytes
//   IpAddressBytes("fd00::1")    // 16 bytes
//   IpAddressBytes("a.test")     // none
//
// Thread-safety: pure. For this folder only.
#ifndef REDOUBLE_CORE_STUDIO_IP_ADDRESS_H_
#define REDOUBLE_CORE_STUDIO_IP_ADDRESS_H_

#include <optional>
#include <string>
#include <string_view>

namespace redouble::studio {

// The bytes of an address in network order; none for what is no address: IPv4 numbers with leading
// zeros or above 255, IPv6 with more than one `::` or groups of more than four digits. A zone
// (`%eth0`) behind an IPv6 address is left out.
std::optional<std::string> IpAddressBytes(std::string_view text);

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_IP_ADDRESS_H_
