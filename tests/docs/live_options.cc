#include "redouble/tests/docs/live_options.h"

#include <string_view>

#include "redouble/backends/redis/options.h"

namespace redouble::inline v0_1::tests {
namespace {

constexpr std::string_view kHead =
    "# The options of live Redis\n"
    "\n"
    "Generated from the table of options by `bazel run //tests/docs:write_pages`; a test compares\n"
    "it with the table.\n"
    "\n"
    "    redis://[user:password@]host[:port][/db][?option=value&...]\n"
    "    rediss://...    the same through TLS\n"
    "    unix://[user:password@]/path/of/socket[?db=N&option=value&...]\n"
    "\n"
    "Special characters are percent-encoded: the password `p@ss` is written `p%40ss`. A URI is\n"
    "refused if an option is unknown, malformed, given twice, or contradicts another option.\n"
    "Passwords are printed as `***`.\n"
    "\n";

}  // namespace

std::string LiveOptionsPage() { return std::string(kHead) + redis::OptionsReference(); }

}  // namespace redouble::inline v0_1::tests
