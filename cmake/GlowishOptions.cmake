# Compiler settings and the libraries that every layer may use.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET default)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

# Optimised builds keep their assertions: a wrong graph must stop the compiler
# and not reach an application.
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
# Line tables are what a sanitizer's stack trace needs; full debug information
# of LLVM's headers would double the build.
string(REPLACE "-O2 -g" "-O1 -gline-tables-only" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")

# ccache, with what it must be told: that objects of other checkouts are as good
# (paths are stored relative to this one), and that precompiled headers may be
# used. The program has its name, by which Clang's tools recognise that what
# follows in compile_commands.json is the compiler.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(launcher ${PROJECT_BINARY_DIR}/ccache)
  file(CONFIGURE OUTPUT ${launcher} @ONLY CONTENT [[#!/bin/sh
export CCACHE_BASEDIR='@PROJECT_SOURCE_DIR@' CCACHE_NOHASHDIR=1
export CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=1
exec '@CCACHE_PROGRAM@' "$@"
]])
  file(CHMOD ${launcher} PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(GLOWISH_PRECOMPILED_HEADER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/PrecompiledHeader.sh)
endif()
add_link_options(-fuse-ld=lld)

find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/llvm)
find_package(Protobuf REQUIRED)
# Archives of PyTorch's programs.
find_library(LIBZIP zip REQUIRED)
find_library(ONNX_PROTO_LIBRARY onnx_proto REQUIRED)
find_library(ONNX_LIBRARY onnx REQUIRED)
find_library(GLOG_LIBRARY glog REQUIRED)

# Man pages are written by a script.
find_package(Python3 COMPONENTS Interpreter)

add_library(glowish_options INTERFACE)
target_include_directories(glowish_options INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
target_include_directories(glowish_options SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(glowish_options INTERFACE
  __STDC_LIMIT_MACROS __STDC_FORMAT_MACROS __STDC_CONSTANT_MACROS _GNU_SOURCE
  GLOWISH_VERSION="${PROJECT_VERSION}")
# -fPIC for programs, too, which CMake makes with -fPIE: what was compiled in one
# way cannot be used in the other, and one set of precompiled headers is enough.
target_compile_options(glowish_options INTERFACE
  -fPIC -Wall -Wextra -Wno-unused-parameter -Werror=return-type -Werror=switch
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-strict-aliasing>)
target_link_libraries(glowish_options INTERFACE LLVM-19)

if(GLOWISH_SANITIZE)
  # The shared libLLVM is not instrumented, so containers that cross the
  # boundary would be reported falsely.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr,function
    -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

if(GLOWISH_LIBFUZZER)
  # What is compiled counts what it reaches and tells what it compares; the engine is
  # linked to the fuzzers alone (tests/parsers).
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# The unit tests of a release are not optimized: they compile in half the time, and most
# of the time that they run is the library's. FORTIFY is for optimized code alone.
add_library(glowish_test_options INTERFACE)
target_compile_options(glowish_test_options INTERFACE
  $<$<CONFIG:Release>:-O0;-U_FORTIFY_SOURCE>)
