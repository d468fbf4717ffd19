# glowish_test(NAME [TIER fast|full|nightly] [TIMEOUT SECONDS] [COST NUMBER]
#              [DEPENDS TEST...] [ENVIRONMENT VARIABLE=VALUE...] COMMAND ...)
#
# A ctest entry, whose label is its tier (docs/testing.md); full if none is stated. Status 77
# means that it was skipped. $GLOWISH_BIN is the folder of the programs. Those with the
# highest COST begin first, so that none of them is left to one processor at the end: on a
# fresh machine ctest knows no times.
function(glowish_test name)
  cmake_parse_arguments(ARG "" "TIER;TIMEOUT;COST" "DEPENDS;ENVIRONMENT;COMMAND" ${ARGN})
  if(NOT ARG_TIER)
    set(ARG_TIER full)
  endif()
  if(NOT ARG_TIER MATCHES "^(fast|full|nightly)$" OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "glowish_test(${name}): no tier '${ARG_TIER}', or unknown arguments: "
      "${ARG_UNPARSED_ARGUMENTS}")
  endif()
  add_test(NAME ${name} COMMAND ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_TIER} SKIP_RETURN_CODE 77
    ENVIRONMENT "GLOWISH_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};${ARG_ENVIRONMENT}")
  foreach(property TIMEOUT COST DEPENDS)
    if(DEFINED ARG_${property})
      set_tests_properties(${name} PROPERTIES ${property} "${ARG_${property}}")
    endif()
  endforeach()
endfunction()
