# The references in docs/ are what the records and the tools say.
function(check_doc file how)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE generated
    COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${ROOT}/docs/${file} committed)
  if(NOT generated STREQUAL committed)
    message(FATAL_ERROR "docs/${file} is out of date; write it again with\n"
      "  ${how}")
  endif()
endfunction()

check_doc(operators.md
  "glowish-tblgen -gen-docs -I include/glowish/Ops include/glowish/Ops/Instrs.td -o docs/operators.md"
  ${TBLGEN} -gen-docs -I ${ROOT}/include/glowish/Ops
    ${ROOT}/include/glowish/Ops/Instrs.td)
check_doc(cpu-instructions.md
  "glowish-tblgen -gen-docs -dialect=CPU -I include/glowish/Ops lib/Backends/CPU/CPUInstrs.td -o docs/cpu-instructions.md"
  ${TBLGEN} -gen-docs -dialect=CPU -I ${ROOT}/include/glowish/Ops
    ${ROOT}/lib/Backends/CPU/CPUInstrs.td)
foreach(format onnx caffe2 tflite aten)
  check_doc(${format}-operators.md
    "model-compiler -list-operators=${format} > docs/${format}-operators.md"
    ${COMPILER} -list-operators=${format})
endforeach()
check_doc(from-glow.md
  "model-compiler -list-glow-flags > docs/from-glow.md"
  ${COMPILER} -list-glow-flags)
check_doc(targets.md
  "model-compiler -list-targets > docs/targets.md"
  ${COMPILER} -list-targets)
check_doc(mlir-nodes.md
  "model-compiler -list-mlir-nodes > docs/mlir-nodes.md"
  ${COMPILER} -list-mlir-nodes)
