# redouble_generate and redouble_component, the two commands of sources.cmake.

find_package(Threads REQUIRED)

# Our headers are included as redouble/<path>: the umbrella headers from include/redouble, the inner
# ones through one symbolic link to the source root, the generated ones from a folder of their own.
set(redouble_include_dirs
  "${PROJECT_SOURCE_DIR}/include"
  "${PROJECT_BINARY_DIR}/include"
  "${PROJECT_BINARY_DIR}/generated")
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/include")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/include/redouble" SYMBOLIC)

# Shared libraries and the program find the other libraries by their own place.
file(RELATIVE_PATH redouble_libraries_of_program
  "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")

set(redouble_components)

# The path of a file of the tree, or of a generated one. Usage: _redouble_paths(OUT PATH...)
function(_redouble_paths out)
  set(paths)
  foreach(path IN LISTS ARGN)
    if(path IN_LIST redouble_generated_files)
      list(APPEND paths "${PROJECT_BINARY_DIR}/generated/redouble/${path}")
    else()
      list(APPEND paths "${PROJECT_SOURCE_DIR}/${path}")
    endif()
  endforeach()
  set(${out} "${paths}" PARENT_SCOPE)
endfunction()

# Runs the shell command of a genrule. It sees the output as $OUTPUT, the folder of generated files as
# $GENERATED and the C compiler as $CC, and runs in the source root.
# Usage: redouble_generate(OUTPUT SOURCES PATH... COMMAND TEXT)
function(redouble_generate output)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "COMMAND" "SOURCES")
  set(folder "${PROJECT_BINARY_DIR}/generated/redouble")
  get_filename_component(parent "${folder}/${output}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  _redouble_paths(inputs ${arg_SOURCES})
  file(CONFIGURE OUTPUT "${folder}/${output}.sh" @ONLY CONTENT "set -eu\n@arg_COMMAND@\n")
  add_custom_command(
    OUTPUT "${folder}/${output}"
    COMMAND ${CMAKE_COMMAND} -E env "OUTPUT=${folder}/${output}" "GENERATED=${folder}"
      "CC=${CMAKE_C_COMPILER}" bash "${folder}/${output}.sh"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    DEPENDS ${inputs} "${folder}/${output}.sh"
    COMMENT "Generating ${output}"
    VERBATIM)
  set(redouble_generated_files ${redouble_generated_files} "${output}" PARENT_SCOPE)
endfunction()

# Defines the library redouble::NAME, or with MAIN the program. What it needs only to be built is no
# part of its interface, so those who link it need not have it.
# Usage: redouble_component(NAME SOURCES PATH... [MAIN PATH] ...)
function(redouble_component name)
  cmake_parse_arguments(arg "" "MAIN"
    "SOURCES;GENERATED_HEADERS;INSTALLED_HEADERS;COMPONENTS;ABSEIL;PUBLIC_LIBRARIES;PRIVATE_LIBRARIES"
    ${ARGN})
  if(arg_MAIN AND NOT REDOUBLE_BUILD_PROGRAM)
    return()
  endif()
  set(is_testing FALSE)
  if("com_google_googletest" IN_LIST arg_PUBLIC_LIBRARIES OR "rapidcheck" IN_LIST arg_PUBLIC_LIBRARIES)
    set(is_testing TRUE)
  endif()
  if(is_testing AND NOT REDOUBLE_BUILD_TESTING_LIBRARIES)
    return()
  endif()
  # Those who do not build the program need not have what only it needs.
  set(is_optional ${is_testing})
  if(name STREQUAL "program" AND NOT REDOUBLE_BUILD_PROGRAM)
    set(is_optional TRUE)
  endif()

  foreach(library IN ITEMS com_google_absl LISTS arg_PUBLIC_LIBRARIES arg_PRIVATE_LIBRARIES)
    redouble_find_library(${library})
    if(NOT redouble_found_${library})
      if(is_optional)
        message(STATUS "redouble::${name} is left out: ${library} is not installed")
        return()
      endif()
      list(JOIN redouble_debian_${library} " " packages)
      message(FATAL_ERROR "redouble::${name} needs ${library}; Debian (12|13): apt install ${packages}")
    endif()
  endforeach()

  _redouble_paths(sources ${arg_SOURCES} ${arg_MAIN} ${arg_GENERATED_HEADERS})
  if(arg_MAIN)
    set(target redouble_main)
    add_executable(${target} ${sources})
    set_target_properties(${target} PROPERTIES
      OUTPUT_NAME redouble
      INSTALL_RPATH "$ORIGIN/${redouble_libraries_of_program}")
    add_executable(redouble::${name} ALIAS ${target})
  else()
    set(target redouble_${name})
    # The archives of GoogleTest and RapidCheck are linked once, into the test.
    set(type)
    if(is_testing)
      set(type STATIC)
    endif()
    add_library(${target} ${type} ${sources})
    add_library(redouble::${name} ALIAS ${target})
    set_target_properties(${target} PROPERTIES
      EXPORT_NAME ${name}
      POSITION_INDEPENDENT_CODE ON
      INSTALL_RPATH "$ORIGIN"
      VERSION ${PROJECT_VERSION}
      # Before 1.0.0 a minor version may change the ABI.
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
      REDOUBLE_INSTALLED_HEADERS "${arg_INSTALLED_HEADERS}"
      REDOUBLE_COMPONENTS "${arg_COMPONENTS}"
      REDOUBLE_ABSEIL "${arg_ABSEIL}"
      REDOUBLE_PUBLIC_LIBRARIES "${arg_PUBLIC_LIBRARIES}"
      REDOUBLE_PRIVATE_LIBRARIES "${arg_PRIVATE_LIBRARIES}")
    set(redouble_components ${redouble_components} ${name} PARENT_SCOPE)
  endif()
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  # A processor that multiplies and adds with one rounding gives the results of those that cannot.
  target_compile_options(${target} PRIVATE
    "$<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-ffp-contract=off>")
  if(PROJECT_IS_TOP_LEVEL)
    target_compile_options(${target} PRIVATE -Wall -Wextra)
    # g++ 12 gives these for correct code that it has inlined.
    target_compile_options(${target} PRIVATE
      "$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-maybe-uninitialized;-Wno-array-bounds;-Wno-stringop-overread>")
  endif()
  foreach(folder IN LISTS redouble_include_dirs)
    target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${folder}>")
  endforeach()
  target_include_directories(${target} PUBLIC "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")

  list(TRANSFORM arg_COMPONENTS PREPEND redouble::)
  list(TRANSFORM arg_ABSEIL PREPEND absl::)
  target_link_libraries(${target} PUBLIC ${arg_COMPONENTS} ${arg_ABSEIL} Threads::Threads)
  foreach(library IN LISTS arg_PUBLIC_LIBRARIES)
    target_link_libraries(${target} PUBLIC ${redouble_target_${library}})
  endforeach()
  foreach(library IN LISTS arg_PRIVATE_LIBRARIES)
    if(library IN_LIST redouble_build_only)
      target_link_libraries(${target} PRIVATE "$<BUILD_INTERFACE:${redouble_target_${library}}>")
    else()
      target_link_libraries(${target} PRIVATE ${redouble_target_${library}})
    endif()
  endforeach()
endfunction()
