# cmake --install: libraries, headers below include/redouble, the CMake package and pkg-config files.
# All of it finds its prefix by its own place, so the installed tree can be moved.

include(CMakePackageConfigHelpers)

set(redouble_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/redouble")
set(redouble_pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# Writes redouble-NAME.pc. Archives do not name what they need, so there pkg-config has to.
function(_redouble_write_pkgconfig name)
  set(target redouble_${name})
  get_target_property(components ${target} REDOUBLE_COMPONENTS)
  get_target_property(abseil ${target} REDOUBLE_ABSEIL)
  get_target_property(public ${target} REDOUBLE_PUBLIC_LIBRARIES)
  get_target_property(private ${target} REDOUBLE_PRIVATE_LIBRARIES)
  list(TRANSFORM components PREPEND redouble-)
  list(TRANSFORM abseil PREPEND absl_)
  set(requires ${components} ${abseil})
  set(below)
  foreach(component IN LISTS components)
    list(APPEND below ${redouble_required_${component}})
  endforeach()
  set(libs)
  set(libraries ${public})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    list(APPEND libraries ${private})
    list(REMOVE_ITEM libraries ${redouble_build_only})
    list(APPEND libraries ${public})
    list(REMOVE_DUPLICATES libraries)
  endif()
  foreach(library IN LISTS libraries)
    list(APPEND requires ${redouble_modules_${library}})
    list(APPEND libs ${redouble_flags_${library}})
  endforeach()
  # pkg-config follows each path to a module anew: naming it twice doubles its time, which is seconds.
  list(REMOVE_ITEM requires ${below})
  list(REMOVE_DUPLICATES requires)
  set(redouble_required_redouble-${name} ${requires} ${below} PARENT_SCOPE)
  list(JOIN requires " " requires)
  list(JOIN libs " " libs)
  file(RELATIVE_PATH to_prefix "/${redouble_pkgconfig_dir}" "/")
  string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
  set(file "${PROJECT_BINARY_DIR}/pkgconfig/redouble-${name}.pc")
  file(WRITE "${file}"
    "prefix=\${pcfiledir}/${to_prefix}\n"
    "includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}\n"
    "libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}\n\n"
    "Name: redouble-${name}\n"
    "Description: ${PROJECT_DESCRIPTION} (${name})\n"
    "Version: ${PROJECT_VERSION}\n"
    "Requires: ${requires}\n"
    "Cflags: -I\${includedir}\n"
    "Libs: -L\${libdir} -lredouble_${name} ${libs} -pthread\n")
  install(FILES "${file}" DESTINATION "${redouble_pkgconfig_dir}" COMPONENT dev)
endfunction()

set(redouble_component_table)
foreach(name IN LISTS redouble_components)
  set(target redouble_${name})
  install(TARGETS ${target} EXPORT redouble_${name}
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev)
  install(EXPORT redouble_${name} NAMESPACE redouble:: FILE redouble_${name}.cmake
    DESTINATION "${redouble_cmake_dir}" COMPONENT dev)

  get_target_property(headers ${target} REDOUBLE_INSTALLED_HEADERS)
  foreach(header IN LISTS headers)
    get_filename_component(folder "${header}" DIRECTORY)
    if(NOT folder STREQUAL "include/redouble")
      set(folder "include/redouble/${folder}")
    endif()
    string(REGEX REPLACE "^include" "${CMAKE_INSTALL_INCLUDEDIR}" folder "${folder}")
    install(FILES "${PROJECT_SOURCE_DIR}/${header}" DESTINATION "${folder}" COMPONENT dev)
  endforeach()
  _redouble_write_pkgconfig(${name})

  get_target_property(components ${target} REDOUBLE_COMPONENTS)
  get_target_property(libraries ${target} REDOUBLE_PUBLIC_LIBRARIES)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    get_target_property(private ${target} REDOUBLE_PRIVATE_LIBRARIES)
    foreach(library IN LISTS private)
      if(NOT library IN_LIST redouble_build_only)
        list(APPEND libraries ${library})
      endif()
    endforeach()
  endif()
  string(APPEND redouble_component_table
    "set(redouble_${name}_components ${components})\n"
    "set(redouble_${name}_libraries com_google_absl ${libraries})\n")
endforeach()

configure_package_config_file(cmake/redoubleConfig.cmake.in
  "${PROJECT_BINARY_DIR}/redoubleConfig.cmake" INSTALL_DESTINATION "${redouble_cmake_dir}")
# Before 1.0.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/redoubleConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/redoubleConfig.cmake"
  "${PROJECT_BINARY_DIR}/redoubleConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/redouble_libraries.cmake"
  DESTINATION "${redouble_cmake_dir}" COMPONENT dev)

install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/libredouble-dev" RENAME copyright
  COMPONENT dev)
if(REDOUBLE_BUILD_PROGRAM)
  install(TARGETS redouble_main RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT program)
  install(DIRECTORY scenarios DESTINATION "${CMAKE_INSTALL_DATADIR}/redouble" COMPONENT program
    FILES_MATCHING PATTERN "*.json")
  install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" RENAME copyright COMPONENT program)
  install(FILES docs/redouble.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT program)
  install(FILES docs/completions/redouble.bash RENAME redouble COMPONENT program
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(FILES docs/completions/_redouble COMPONENT program
    DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions")
  install(FILES docs/completions/redouble.fish COMPONENT program
    DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endif()
