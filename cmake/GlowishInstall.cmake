# The CMake package: find_package(glowish) gives glowish_add_bundle(), and with
# COMPONENTS library the target glowish::glowish (docs/library.md).
include(CMakePackageConfigHelpers)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/glowish)
install(TARGETS glowish EXPORT glowishTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT glowishTargets NAMESPACE glowish:: DESTINATION ${package})

# The headers, and those of the generated files that they include.
install(DIRECTORY include/glowish DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN *.h PATTERN *.def)
foreach(generated Graph/NodeClasses.inc Graph/NodeKinds.inc IR/InstrClasses.inc
    IR/InstrKinds.inc Ops/OpTraits.inc Ops/ScalarOps.inc Ops/TypeRules.inc)
  get_filename_component(folder ${generated} DIRECTORY)
  install(FILES ${PROJECT_BINARY_DIR}/include/glowish/${generated}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/glowish/${folder})
endforeach()

configure_package_config_file(cmake/glowishConfig.cmake.in
  ${PROJECT_BINARY_DIR}/glowishConfig.cmake INSTALL_DESTINATION ${package}
  PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_INCLUDEDIR)
# Bundles are for any processor, so that a project for one of 32 bits may use the package;
# glowishConfig.cmake refuses the library there.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/glowishConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/glowishConfig.cmake
  ${PROJECT_BINARY_DIR}/glowishConfigVersion.cmake
  cmake/GlowishAddBundle.cmake DESTINATION ${package})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
