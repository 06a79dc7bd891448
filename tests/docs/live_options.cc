#include "tests/docs/live_options.h"

#include <string_view>

#include "backends/redis/options.h"

namespace redouble::tests {
namespace {

constexpr std::string_view kHead =
    "# The options of live Redis\n"
    "\n"
    "Generated from the table of options (`bazel run //tests/docs:write_pages`); a test keeps it\n"
    "current.\n"
    "\n"
    "    redis://[user:password@]host[:port][/db][?option=value&...]\n"
    "    rediss://...    the same through TLS\n"
    "    unix://[user:password@]/path/of/socket[?db=N&option=value&...]\n"
    "\n"
    "Special characters are percent-encoded: a password `p@ss` is written `p%40ss`. What is\n"
    "unknown, malformed, given twice, without meaning beside the other options or contradicts "
    "them\n"
    "is refused. Passwords are printed as `***`.\n"
    "\n";

}  // namespace

std::string LiveOptionsPage() { return std::string(kHead) + redis::OptionsReference(); }

}  // namespace redouble::tests
