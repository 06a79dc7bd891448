# Finds the libraries that Redouble is built on. Used by this build and, installed, by find_package:
# one description of each library for both.
#
# redouble_find_library(NAME) sets redouble_found_NAME, and defines the target that
# redouble_target_NAME names. NAME is a repository of third_party/system_libraries.bzl, or boost_url.

set(redouble_target_boost Boost::headers)
set(redouble_target_boost_url Boost::url)
set(redouble_target_cli11 CLI11::CLI11)
set(redouble_target_com_google_googletest GTest::gmock)
set(redouble_target_lua redouble_lua)
set(redouble_target_nlohmann_json nlohmann_json::nlohmann_json)
set(redouble_target_openssl OpenSSL::SSL)
set(redouble_target_rapidcheck rapidcheck_gtest)

# Libraries of headers alone, and Lua, which our archive contains: who links an archive that used one
# needs nothing of it.
set(redouble_build_only boost cli11 lua nlohmann_json)

# Debian's packages, named as in tools/setup: "A|B" is A on Debian 12 and B on 13.
set(redouble_debian_boost libboost1.81-dev|libboost1.83-dev)
set(redouble_debian_boost_url -|libboost-url1.83-dev)
set(redouble_debian_cli11 libcli11-dev)
set(redouble_debian_com_google_absl libabsl-dev)
set(redouble_debian_com_google_googletest libgmock-dev libgtest-dev)
set(redouble_debian_lua liblua5.1-0-dev lua-bitop-dev lua-cjson-dev)
set(redouble_debian_nlohmann_json nlohmann-json3-dev)
set(redouble_debian_openssl libssl-dev)
set(redouble_debian_rapidcheck librapidcheck-dev)

# Names for pkg-config: modules of Requires, and flags of Libs where the library has no module.
set(redouble_modules_openssl libssl libcrypto)
set(redouble_modules_nlohmann_json nlohmann_json)
set(redouble_modules_com_google_googletest gmock gtest)
set(redouble_flags_boost_url -lboost_url)
set(redouble_flags_rapidcheck -lrapidcheck)

# Boost.URL has a library to link since 1.82. Before, backends/redis/boost_url.cc compiles its
# implementation from headers.
macro(_redouble_find_boost_url)
  redouble_find_library(boost)
  if(redouble_found_boost AND Boost_VERSION VERSION_LESS 1.82)
    set(redouble_target_boost_url ${redouble_target_boost})
    list(APPEND redouble_build_only boost_url)
  elseif(redouble_found_boost)
    find_package(Boost 1.82 QUIET CONFIG COMPONENTS url)
    set(redouble_debian_boost_url
      "libboost-url${Boost_VERSION_MAJOR}.${Boost_VERSION_MINOR}-dev")
  endif()
endmacro()

# Defines redouble_lua: a copy of Lua of our own (third_party/embed_lua.sh). Only for this build; the
# installed libraries contain it.
function(_redouble_embed_lua)
  find_path(REDOUBLE_LUA_HEADERS lua.h PATH_SUFFIXES lua5.1)
  set(archives)
  foreach(name IN ITEMS c++ cjson bitop)
    find_library(REDOUBLE_LUA_ARCHIVE_${name} liblua5.1-${name}.a)
    list(APPEND archives "${REDOUBLE_LUA_ARCHIVE_${name}}")
    mark_as_advanced(REDOUBLE_LUA_ARCHIVE_${name})
  endforeach()
  mark_as_advanced(REDOUBLE_LUA_HEADERS)
  if(NOT REDOUBLE_LUA_HEADERS OR archives MATCHES "NOTFOUND")
    return()
  endif()
  set(script "${PROJECT_SOURCE_DIR}/third_party/embed_lua.sh")
  set(folder "${PROJECT_BINARY_DIR}/lua")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${script}")
  if("${script}" IS_NEWER_THAN "${folder}/lua.o")
    execute_process(
      COMMAND ${CMAKE_COMMAND} -E env "CC=${CMAKE_C_COMPILER}"
        bash "${script}" "${REDOUBLE_LUA_HEADERS}" "${folder}" ${archives}
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
  add_library(redouble_lua INTERFACE)
  target_sources(redouble_lua INTERFACE "${folder}/lua.o")
  target_include_directories(redouble_lua SYSTEM INTERFACE "${folder}/include")
  target_link_libraries(redouble_lua INTERFACE ${CMAKE_DL_LIBS} m)
endfunction()

# With REDOUBLE_STATIC_ABSEIL: Abseil's targets name the archives beside their shared objects.
function(_redouble_use_abseil_archives)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(NOT target MATCHES "^absl::" OR NOT type STREQUAL "SHARED_LIBRARY")
      continue()
    endif()
    get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
    foreach(configuration IN LISTS configurations)
      get_target_property(file ${target} IMPORTED_LOCATION_${configuration})
      string(REGEX REPLACE "\\.so[.0-9]*$" ".a" archive "${file}")
      if(NOT EXISTS "${archive}")
        message(FATAL_ERROR "REDOUBLE_STATIC_ABSEIL: ${archive} is missing")
      endif()
      set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration} "${archive}")
    endforeach()
  endforeach()
endfunction()

macro(redouble_find_library name)
  if(NOT redouble_found_${name})
    if("${name}" STREQUAL "boost")
      # 1.81: cancellation of single operations in Asio. Headers only.
      find_package(Boost 1.81 QUIET CONFIG)
      if(Boost_FOUND)
        set(redouble_debian_boost "libboost${Boost_VERSION_MAJOR}.${Boost_VERSION_MINOR}-dev")
      endif()
    elseif("${name}" STREQUAL "boost_url")
      _redouble_find_boost_url()
    elseif("${name}" STREQUAL "cli11")
      find_package(CLI11 QUIET CONFIG)
    elseif("${name}" STREQUAL "com_google_absl")
      find_package(absl QUIET CONFIG)
      if(absl_FOUND AND REDOUBLE_STATIC_ABSEIL)
        _redouble_use_abseil_archives()
      endif()
    elseif("${name}" STREQUAL "com_google_googletest")
      find_package(GTest QUIET CONFIG)
    elseif("${name}" STREQUAL "lua")
      _redouble_embed_lua()
    elseif("${name}" STREQUAL "nlohmann_json")
      find_package(nlohmann_json QUIET CONFIG)
    elseif("${name}" STREQUAL "openssl")
      find_package(OpenSSL QUIET)
    elseif("${name}" STREQUAL "rapidcheck")
      find_package(rapidcheck QUIET CONFIG)
    else()
      message(FATAL_ERROR "redouble_libraries.cmake has no row for ${name}")
    endif()
    if("${name}" STREQUAL "com_google_absl")
      set(redouble_found_${name} ${absl_FOUND})
    elseif(TARGET ${redouble_target_${name}})
      set(redouble_found_${name} TRUE)
    else()
      set(redouble_found_${name} FALSE)
    endif()
  endif()
endmacro()
