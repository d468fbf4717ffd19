# The CMake package: find_package(glowish) gives glowish_add_bundle().
include(CMakePackageConfigHelpers)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/glowish)
install(TARGETS glowish LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
configure_package_config_file(cmake/glowishConfig.cmake.in
  ${PROJECT_BINARY_DIR}/glowishConfig.cmake INSTALL_DESTINATION ${package}
  PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/glowishConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/glowishConfig.cmake
  ${PROJECT_BINARY_DIR}/glowishConfigVersion.cmake
  cmake/GlowishAddBundle.cmake DESTINATION ${package})
