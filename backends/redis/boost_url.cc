// Boost.URL: its implementation is compiled here up to 1.81. Later releases have a library to link
// (third_party/system_libraries.bzl, cmake/redouble_libraries.cmake).
#include <boost/version.hpp>

#if BOOST_VERSION < 108200
#include <boost/url/src.hpp>
#endif
