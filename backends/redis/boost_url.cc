// Boost.URL is used header-only: this is the one place that holds its code.
#include <boost/url/src.hpp>
