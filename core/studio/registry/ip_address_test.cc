#include "redouble/core/studio/registry/ip_address.h"

#include <gtest/gtest.h>

namespace redouble::inline v0_1::studio {
namespace {

TEST(IpAddress, IsFourNumbersOrEightGroups) {
  EXPECT_EQ(IpAddressBytes("10.0.0.255"), std::string("\x0a\0\0\xff", 4));
  EXPECT_EQ(IpAddressBytes("1:2:3:4:5:6:7:abCD"),
            std::string("\0\1\0\2\0\3\0\4\0\5\0\6\0\7\xab\xcd", 16));
  EXPECT_EQ(IpAddressBytes("::"), std::string(16, '\0'));
  EXPECT_EQ(IpAddressBytes("::1"), std::string(15, '\0') + "\1");
  EXPECT_EQ(IpAddressBytes("fd00::"), "\xfd" + std::string(15, '\0'));
  EXPECT_EQ(IpAddressBytes("::ffff:1.2.3.4"),
            std::string(10, '\0') + std::string("\xff\xff\1\2\3\4", 6));
  EXPECT_EQ(IpAddressBytes("fe80::1%eth0"), IpAddressBytes("fe80::1"));
}

TEST(IpAddress, IsNothingElse) {
  for (const char* text :
       {"", "a.test", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.-4", "1.2.3.0x4",
        "1..2.3", ":", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3",
        "12345::", "g::", "::1.2.3", "1:2:3:4:5:6:7::8", "1.2.3.4::"}) {
    EXPECT_FALSE(IpAddressBytes(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
