# The operator reference in docs/ is what the records say.
execute_process(
  COMMAND ${TBLGEN} -gen-docs -I ${ROOT}/include/glowish/Ops
    ${ROOT}/include/glowish/Ops/Instrs.td
  OUTPUT_VARIABLE generated COMMAND_ERROR_IS_FATAL ANY)
file(READ ${ROOT}/docs/operators.md committed)
if(NOT generated STREQUAL committed)
  message(FATAL_ERROR "docs/operators.md is out of date; write it again with\n"
    "  glowish-tblgen -gen-docs -I include/glowish/Ops "
    "include/glowish/Ops/Instrs.td -o docs/operators.md")
endif()
