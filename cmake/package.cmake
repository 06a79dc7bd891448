# CPack: the Debian packages libredouble-dev and redouble, and a tarball with the program. Run by
# tools/package.

set(CPACK_PACKAGE_NAME redouble)
set(CPACK_PACKAGE_VENDOR "The Redouble authors")
set(CPACK_PACKAGE_CONTACT "The Redouble authors <redouble@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_COMPONENTS_ALL dev)
if(REDOUBLE_BUILD_PROGRAM)
  list(APPEND CPACK_COMPONENTS_ALL program)
endif()
set(CPACK_STRIP_FILES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)

# Whoever links the archives needs what they need.
set(libraries com_google_absl)
foreach(name IN LISTS redouble_components)
  get_target_property(public redouble_${name} REDOUBLE_PUBLIC_LIBRARIES)
  get_target_property(private redouble_${name} REDOUBLE_PRIVATE_LIBRARIES)
  list(REMOVE_ITEM private ${redouble_build_only})
  list(APPEND libraries ${public} ${private})
endforeach()
list(REMOVE_DUPLICATES libraries)
set(depends)
set(recommends)
foreach(library IN LISTS libraries)
  if(library MATCHES "^(com_google_googletest|rapidcheck)$")
    list(APPEND recommends ${redouble_debian_${library}})
  else()
    list(APPEND depends ${redouble_debian_${library}})
  endif()
endforeach()
list(SORT depends)
list(JOIN depends ", " CPACK_DEBIAN_DEV_PACKAGE_DEPENDS)
list(JOIN recommends ", " CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libredouble-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME redouble)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
# `replay --spawn-redis` starts it.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS redis-server)

set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_PROGRAM_FILE_NAME
  "redouble-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")

include(CPack)
