# How programs and libraries are made hard to attack and the same everywhere:
#
#   - Debian's usual flags, which check the stack, copies of known size and format strings,
#     and leave no table of addresses writable (docs/packages.md#hardening);
#   - no path of the sources or of the build folder in what is made, so that the same sources
#     give the same bytes in any folder (docs/packages.md#reproducible-packages).
#
# tests/e2e/hardening.py checks both. Bundles do not depend on it: their code is made by LLVM
# and not by this compiler.
option(GLOWISH_HARDENING "Compile and link with the flags of Debian's packages" ON)

# Sanitizers replace these checks by stricter ones. Without optimization there is no inline
# copy to check, and glibc warns of that.
if(GLOWISH_HARDENING AND NOT GLOWISH_SANITIZE)
  add_compile_options(-fstack-protector-strong -Wformat -Werror=format-security
    $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE$<SEMICOLON>-D_FORTIFY_SOURCE=2>)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|aarch64|arm64)$")
    add_compile_options(-fstack-clash-protection)
  endif()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    add_compile_options(-fcf-protection)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    add_compile_options(-mbranch-protection=standard)
  endif()
  add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)
endif()

# The compiler's default is not relied on.
include(CheckPIESupported)
check_pie_supported(LANGUAGES C CXX)

# The path from a program to the library is the same in every build folder, so that what
# the linker writes has the same size. An installation writes another one in its place.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

# Assertions and the names of lambdas have the paths of files. ccache states them relative to
# the build folder. Debuggers find the sources by them, so that they stay where nothing is
# optimized. Of several prefixes the last counts: the build folder may be in the sources.
file(RELATIVE_PATH sources ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
foreach(prefix ${PROJECT_SOURCE_DIR}/ ${sources}/ ${PROJECT_BINARY_DIR}/)
  add_compile_options($<$<NOT:$<CONFIG:Debug>>:-ffile-prefix-map=${prefix}=>)
endforeach()
