# Debian packages, by CPack (scripts/package.sh). What they hold is said by the
# components of the install rules.
set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL Tools Library Development)
if(TARGET glowish-torch)
  list(APPEND CPACK_COMPONENTS_ALL TorchScript)
endif()
if(TARGET glowish-mpi)
  list(APPEND CPACK_COMPONENTS_ALL MPI)
endif()
if(TARGET glowish-python)
  list(APPEND CPACK_COMPONENTS_ALL Python)
endif()
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
# Whatever the permissions of the checkout are.
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/finish_files.cmake)

set(CPACK_PACKAGE_NAME glowish)
set(CPACK_PACKAGE_VENDOR glowish)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "ahead-of-time compiler for neural networks")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER
  "The glowish maintainers <maintainers@glowish.invalid>")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(what "glowish compiles trained networks (ONNX, TensorFlow Lite, PyTorch, Caffe2)
to an object file, a C header and weights, which an application links and calls
as a function. Bundles need no runtime.
")
set(version "(= ${PROJECT_VERSION})")
set(library libglowish${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME glowish)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "${library} ${version}")
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS lld-19)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "cmake, glowish-torch ${version}, glowish-mpi ${version}, libglowish-dev ${version}")
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "${what}
This package has the tools: compiler, runner, trainer, classifier, debugger.
lld links modules for WebAssembly.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
# By this file the packages of programs that are linked with the library depend on this one.
# CPack's own way to write it (GENERATE_SHLIBS) starts a process for each file of each package.
set(shlibs ${PROJECT_BINARY_DIR}/packaging/shlibs)
file(CONFIGURE OUTPUT ${shlibs} CONTENT
  "libglowish ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} ${library} ${version}\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/packaging/debian/triggers ${shlibs})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS "glowish-torch ${version}, glowish-mpi ${version}")
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "${what}
This package has the library that the tools and other programs use.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libglowish-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "${library} ${version}, glowish ${version}, llvm-${LLVM_VERSION_MAJOR}-dev")
# Headers and scripts, each of which would be looked at for libraries that it needs.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "${what}
This package has what C++ programs need that use the compiler as a library:
headers, a CMake package, and a file for pkg-config.")

set(CPACK_DEBIAN_TORCHSCRIPT_PACKAGE_NAME glowish-torch)
set(CPACK_DEBIAN_TORCHSCRIPT_PACKAGE_SECTION science)
set(CPACK_DEBIAN_TORCHSCRIPT_PACKAGE_DEPENDS "${library} ${version}")
set(CPACK_DEBIAN_TORCHSCRIPT_DESCRIPTION "${what}
This package has the reader of TorchScript archives, which needs libtorch.")

set(CPACK_DEBIAN_MPI_PACKAGE_NAME glowish-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_SECTION science)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "${library} ${version}, openmpi-bin")
set(CPACK_DEBIAN_MPI_DESCRIPTION "${what}
This package has what the tools need to work on several processes, which mpirun
of Open MPI starts.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-glowish)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
  "${library} ${version}, python3 (>= 3.11~), python3 (<< 3.12), python3-numpy")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "gcc | clang-19 | lld-19")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-onnx, python3-tqdm")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/packaging/debian/python/postinst
  ${PROJECT_SOURCE_DIR}/packaging/debian/python/prerm)
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "${what}
This package has the Python module, which compiles models to bundles, or runs
them in its process on NumPy arrays. A C compiler or a linker loads bundles.")

# What every Debian package has. The list of what all of them are made of is in the first.
set(names Tools:glowish Library:${library} Development:libglowish-dev
  TorchScript:glowish-torch MPI:glowish-mpi Python:python3-glowish)
foreach(each ${names})
  string(REPLACE ":" ";" each ${each})
  list(GET each 0 component)
  list(GET each 1 name)
  if(component IN_LIST CPACK_COMPONENTS_ALL)
    install(FILES packaging/debian/copyright packaging/debian/changelog
      DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component}
      EXCLUDE_FROM_ALL)
  endif()
endforeach()
set(CPACK_GLOWISH_PACKAGES ${names})
set(CPACK_GLOWISH_PYTHON "${Python3_EXECUTABLE}")
set(CPACK_GLOWISH_SOURCES ${PROJECT_SOURCE_DIR})
set(CPACK_GLOWISH_BUILD ${PROJECT_BINARY_DIR})
include(CPack)
