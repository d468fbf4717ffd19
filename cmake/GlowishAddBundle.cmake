# glowish_add_bundle(NAME MODEL [API static|dynamic] [WEIGHTS file|text|embed]
#                    [THREADS N] [OPERATORS TARGET] [OPTIONS ...])
#
# Compiles MODEL (a path) when the project is built, and gives a library target
# NAME: linking it adds the object and the folder of the header "NAME.h". The
# weights are then in ${NAME_WEIGHTS_FILE} (set in the caller's scope), unless
# they are embedded.  With THREADS the default threads are part of the library,
# and the project's languages must include C.  OPERATORS is a library with operators
# of the model, whose objects for the target are linked.  OPTIONS go to model-compiler as they are.
function(glowish_add_bundle name model)
  cmake_parse_arguments(ARG "" "API;WEIGHTS;THREADS;OPERATORS" "OPTIONS" ${ARGN})
  if(NOT ARG_API)
    set(ARG_API static)
  endif()
  if(NOT ARG_WEIGHTS)
    set(ARG_WEIGHTS file)
  endif()
  get_filename_component(model ${model} ABSOLUTE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.bundle)
  set(outputs ${folder}/${name}.o ${folder}/${name}.h)
  if(NOT ARG_WEIGHTS STREQUAL "embed")
    list(APPEND outputs ${folder}/${name}.weights.bin)
    set(${name}_WEIGHTS_FILE ${folder}/${name}.weights.bin PARENT_SCOPE)
  endif()
  set(sources)
  if(ARG_THREADS)
    list(APPEND ARG_OPTIONS -threads=${ARG_THREADS})
    if(ARG_THREADS GREATER 1)
      set(sources ${folder}/glowish_threads.c)
      list(APPEND outputs ${sources})
    endif()
  endif()
  if(ARG_OPERATORS)
    list(APPEND ARG_OPTIONS -operators=$<TARGET_FILE:${ARG_OPERATORS}>)
    list(APPEND outputs ${folder}/${name}.operators.a)
  endif()
  add_custom_command(OUTPUT ${outputs}
    COMMAND ${GLOWISH_MODEL_COMPILER} -model=${model} -backend=CPU
      -emit-bundle=${folder} -network-name=${name} -bundle-api=${ARG_API}
      -weights=${ARG_WEIGHTS} ${ARG_OPTIONS}
    DEPENDS ${model} ${GLOWISH_MODEL_COMPILER} ${ARG_OPERATORS}
    COMMENT "Compiling ${name} from ${model}" VERBATIM)
  add_library(${name} STATIC ${folder}/${name}.o ${folder}/${name}.h ${sources})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
  set_source_files_properties(${folder}/${name}.o PROPERTIES
    EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_include_directories(${name} INTERFACE ${folder})
  if(ARG_OPERATORS)
    target_link_libraries(${name} INTERFACE ${folder}/${name}.operators.a)
  endif()
  if(sources)
    find_package(Threads REQUIRED)
    target_link_libraries(${name} PUBLIC Threads::Threads)
  endif()
endfunction()
