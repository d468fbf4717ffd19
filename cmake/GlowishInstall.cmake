# What is installed, in the components that are Debian packages (packaging/):
# Tools, Library, Development, TorchScript, MPI.
#
# The CMake package: find_package(glowish) gives glowish_add_bundle(), and with
# COMPONENTS library the target glowish::glowish (docs/library.md). Bundles need the
# tools alone, so that the package is one of their files.
include(CMakePackageConfigHelpers)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/glowish)
install(TARGETS glowish EXPORT glowishTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT Library NAMELINK_COMPONENT Development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT glowishTargets NAMESPACE glowish:: DESTINATION ${package}
  COMPONENT Development)

# The headers, and those of the generated files that they include.
install(DIRECTORY include/glowish DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT Development
  FILES_MATCHING PATTERN *.h PATTERN *.def PATTERN glowish_*.h EXCLUDE)

# The interface in C, and for C++ over it.
install(FILES include/glowish.h include/glowish.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT Development)
foreach(generated Graph/NodeClasses.inc Graph/NodeKinds.inc IR/InstrClasses.inc
    IR/InstrKinds.inc Ops/OpTraits.inc Ops/ScalarOps.inc Ops/TypeRules.inc)
  get_filename_component(folder ${generated} DIRECTORY)
  install(FILES ${PROJECT_BINARY_DIR}/include/glowish/${generated}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/glowish/${folder}
    COMPONENT Development)
endforeach()
# What libraries with operators include.
install(FILES include/glowish/Plugin/glowish_call.h
  include/glowish/Plugin/glowish_operators.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/glowish/Plugin COMPONENT Tools)

# What programs with weights in files compile (glowish_install_weights).
install(FILES lib/Backends/CPU/Bundle/glowish_weights.c
  lib/Backends/CPU/Bundle/glowish_weights.h
  DESTINATION ${CMAKE_INSTALL_DATADIR}/glowish COMPONENT Tools)

configure_package_config_file(cmake/glowishConfig.cmake.in
  ${PROJECT_BINARY_DIR}/glowishConfig.cmake INSTALL_DESTINATION ${package}
  PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_DATADIR CMAKE_INSTALL_INCLUDEDIR)
# Bundles are for any processor, so that a project for one of 32 bits may use the package;
# glowishConfig.cmake refuses the library there.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/glowishConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/glowishConfig.cmake
  ${PROJECT_BINARY_DIR}/glowishConfigVersion.cmake
  cmake/GlowishAddBundle.cmake cmake/GlowishCrossOptions.cmake DESTINATION ${package} COMPONENT Tools)

# The same for pkg-config.
foreach(file glowish:DATADIR:Tools libglowish:LIBDIR:Development
    libglowish-c:LIBDIR:Development)
  string(REPLACE ":" ";" file ${file})
  list(GET file 0 name)
  list(GET file 1 folder)
  list(GET file 2 component)
  file(RELATIVE_PATH prefix
    ${CMAKE_INSTALL_FULL_${folder}}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/$" "" prefix "${prefix}")
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc
    DESTINATION ${CMAKE_INSTALL_${folder}}/pkgconfig COMPONENT ${component})
endforeach()
# Debian's packages say it in a file of their own.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT License)

include(packaging/packages.cmake)
