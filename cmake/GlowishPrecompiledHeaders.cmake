# Headers that many files include, compiled once: parsing them, and instantiating the
# templates in them, is more than half of the time that a file takes to compile. Each set has
# the headers of other projects, and those of glowish that most files of its layers include
# anyhow, so that a change of one of them compiles little that it would not have compiled
# otherwise.
#
# A file names every header that it uses all the same: tests/includes.py checks it, and a
# build with GLOWISH_PRECOMPILED_HEADERS=OFF depends on it.
#
# CMake's target_precompile_headers is not used: it writes a header into the build folder.
# Here the file that is compiled is one of LLVM's, with the others named by -include.
# Precompiled headers have the paths of headers in them, so that those of two checkouts
# differ. The compiler cache is therefore given a checksum of the text that was compiled
# (PrecompiledHeader.sh), by which one checkout can use the objects of another.

option(GLOWISH_PRECOMPILED_HEADERS "Compile headers that many files include once" ON)

# glowish_precompiled_headers(NAME HEADER...): the target glowish-pch-NAME, whose object file
# is the precompiled headers. Macros that the headers test must be defined for it as for the
# targets that use it.
function(glowish_precompiled_headers name)
  if(NOT GLOWISH_PRECOMPILED_HEADERS)
    return()
  endif()
  list(GET LLVM_INCLUDE_DIRS 0 directory)
  set(first ${directory}/llvm/Support/DataTypes.h)
  set_source_files_properties(${first} PROPERTIES LANGUAGE CXX)
  add_library(glowish-pch-${name} OBJECT ${first})
  target_link_libraries(glowish-pch-${name} PRIVATE glowish_options)
  list(TRANSFORM ARGN PREPEND "SHELL:-include ")
  target_compile_options(glowish-pch-${name} PRIVATE -xc++-header
    "SHELL:-Xclang -fno-pch-timestamp" -fpch-instantiate-templates ${ARGN})
  set_target_properties(glowish-pch-${name} PROPERTIES CXX_COMPILER_LAUNCHER
    "${GLOWISH_PRECOMPILED_HEADER_LAUNCHER}")
  if(ARGN MATCHES glowish/)
    add_dependencies(glowish-pch-${name} glowish-generated)
  endif()
  # Files do not wait for the objects of a library that their target depends on,
  # but for all that a custom target depends on.
  add_custom_target(glowish-pch-${name}-made
    DEPENDS $<TARGET_OBJECTS:glowish-pch-${name}>)
endfunction()

# glowish_use_precompiled_headers(TARGET NAME)
function(glowish_use_precompiled_headers target name)
  if(NOT GLOWISH_PRECOMPILED_HEADERS)
    return()
  endif()
  # Objects are made again when one of the headers changes, as their dependency
  # files name the headers and not what they were compiled to.
  add_dependencies(${target} glowish-pch-${name}-made)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:SHELL:-include-pch
    $<TARGET_OBJECTS:glowish-pch-${name}>>)
endfunction()

set(standard_headers
  algorithm
  array
  chrono
  cmath
  cstdint
  cstring
  functional
  limits
  list
  map
  memory
  numeric
  optional
  set
  string
  utility
  variant
  vector)
set(llvm_headers
  ${standard_headers}
  llvm/ADT/APFloat.h
  llvm/ADT/ArrayRef.h
  llvm/ADT/BitVector.h
  llvm/ADT/DenseMap.h
  llvm/ADT/DenseSet.h
  llvm/ADT/Hashing.h
  llvm/ADT/MapVector.h
  llvm/ADT/STLExtras.h
  llvm/ADT/STLFunctionalExtras.h
  llvm/ADT/ScopeExit.h
  llvm/ADT/Sequence.h
  llvm/ADT/SetVector.h
  llvm/ADT/SmallPtrSet.h
  llvm/ADT/SmallString.h
  llvm/ADT/SmallVector.h
  llvm/ADT/StringExtras.h
  llvm/ADT/StringMap.h
  llvm/ADT/StringRef.h
  llvm/ADT/StringSet.h
  llvm/ADT/StringSwitch.h
  llvm/ADT/Twine.h
  llvm/ADT/bit.h
  llvm/ADT/ilist.h
  llvm/Support/Casting.h
  llvm/Support/CommandLine.h
  llvm/Support/Endian.h
  llvm/Support/Error.h
  llvm/Support/FileSystem.h
  llvm/Support/Format.h
  llvm/Support/FormatVariadic.h
  llvm/Support/MathExtras.h
  llvm/Support/MemoryBuffer.h
  llvm/Support/Path.h
  llvm/Support/raw_ostream.h)

set(graph_headers
  glowish/Graph/Evaluator.h
  glowish/Graph/NodeBuilder.h
  glowish/Graph/Nodes.h
  glowish/Support/Error.h)
set(codegen_headers
  ${llvm_headers}
  llvm/IR/Constants.h
  llvm/IR/Function.h
  llvm/IR/IRBuilder.h
  llvm/IR/Intrinsics.h
  llvm/IR/IntrinsicsX86.h
  llvm/IR/LLVMContext.h
  llvm/IR/Module.h
  llvm/Target/TargetMachine.h
  llvm/Target/TargetOptions.h
  glowish/IR/Instrs.h)
set(driver_headers
  ${codegen_headers}
  ${graph_headers}
  glowish/Backends/CPU/CPUBackend.h
  glowish/Driver/Compilation.h
  glowish/Driver/Session.h)

# Support, Base and Ops, and the generator of the operators' classes, without which there are
# no headers of nodes.
glowish_precompiled_headers(llvm ${llvm_headers})
# What handles graphs.
glowish_precompiled_headers(graph ${llvm_headers} ${graph_headers})
# What reads and writes ONNX.
glowish_precompiled_headers(onnx ${llvm_headers} ${graph_headers} onnx/onnx_pb.h)
if(GLOWISH_PRECOMPILED_HEADERS)
  target_compile_definitions(glowish-pch-onnx PRIVATE ONNX_NAMESPACE=onnx ONNX_ML=1)
endif()
# What handles instructions and makes code.
glowish_precompiled_headers(codegen ${codegen_headers})
# What compiles models.
glowish_precompiled_headers(driver ${driver_headers})
# The unit tests. Precompiled headers are for one level of optimization.
if(GLOWISH_BUILD_TESTS)
  find_package(GTest REQUIRED)
  glowish_precompiled_headers(gtest ${driver_headers}
    glowish/Backends/Interpreter/Interpreter.h gmock/gmock.h gtest/gtest.h)
  if(GLOWISH_PRECOMPILED_HEADERS)
    target_link_libraries(glowish-pch-gtest PRIVATE GTest::gtest glowish_test_options)
  endif()
endif()
