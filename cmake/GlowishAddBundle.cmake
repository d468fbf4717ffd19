# glowish_add_bundle(NAME MODEL [TARGET LIBRARY] [API static|dynamic]
#                    [WEIGHTS file|text|embed] [THREADS N] [OPERATORS TARGET] [OPTIONS ...])
#
# Compiles MODEL (a path) when the project is built, and gives a library target
# NAME: linking it adds the object and the folder of the header "NAME.h". The
# weights are then in ${NAME_WEIGHTS_FILE} (set in the caller's scope), unless
# they are embedded.  With THREADS the default threads are part of the library,
# and the project's languages must include C.  OPERATORS is a library with operators
# of the model, whose objects for the target are linked.  OPTIONS go to model-compiler as they are.
#
# With TARGET the library has the name LIBRARY, and all bundles that name it are in it: one
# target for several networks.
#
# A cross build compiles for the processor of the toolchain file
# (GlowishCrossOptions.cmake), unless OPTIONS have -target or -march.
#
# glowish_install_weights(PROGRAM LIBRARY... [DESTINATION FOLDER] [COMPONENT NAME])
#
# Installs the weights of bundles (WEIGHTS file) in FOLDER, by default with the programs, and
# copies them beside PROGRAM in the build folder. PROGRAM gets the function
# glowish_map_weights() of "glowish_weights.h", which finds them in both places.
include(${CMAKE_CURRENT_LIST_DIR}/GlowishCrossOptions.cmake)
# Where glowish_weights.c is: in the package as the package says, else in the sources.
if(NOT GLOWISH_SUPPORT_FOLDER)
  set(GLOWISH_SUPPORT_FOLDER ${CMAKE_CURRENT_LIST_DIR}/../lib/Backends/CPU/Bundle
    CACHE INTERNAL "")
endif()

function(glowish_add_bundle name model)
  cmake_parse_arguments(ARG "" "TARGET;API;WEIGHTS;THREADS;OPERATORS" "OPTIONS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "glowish_add_bundle(${name}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_TARGET)
    set(ARG_TARGET ${name})
  endif()
  if(NOT ARG_API)
    set(ARG_API static)
  endif()
  if(NOT ARG_WEIGHTS)
    set(ARG_WEIGHTS file)
  endif()
  get_filename_component(model ${model} ABSOLUTE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.bundle)
  set(outputs ${folder}/${name}.o ${folder}/${name}.h)
  set(weights)
  if(NOT ARG_WEIGHTS STREQUAL "embed")
    set(weights ${folder}/${name}.weights.bin)
    list(APPEND outputs ${weights})
    set(${name}_WEIGHTS_FILE ${weights} PARENT_SCOPE)
  endif()
  set(threads)
  if(ARG_THREADS)
    list(APPEND ARG_OPTIONS -threads=${ARG_THREADS})
    if(ARG_THREADS GREATER 1)
      set(threads ${folder}/glowish_threads.c)
      list(APPEND outputs ${threads})
    endif()
  endif()
  if(ARG_OPERATORS)
    list(APPEND ARG_OPTIONS -operators=$<TARGET_FILE:${ARG_OPERATORS}>)
    list(APPEND outputs ${folder}/${name}.operators.a)
  endif()
  set(machine)
  if(NOT ARG_OPTIONS MATCHES "(^|;)--?(target|march)(=|;|$)")
    glowish_get_cross_options(machine)
    if(ARG_OPTIONS MATCHES "(^|;)--?mcpu(=|;|$)")
      list(FILTER machine EXCLUDE REGEX "^--?(mcpu|mattr)")
    endif()
  endif()
  add_custom_command(OUTPUT ${outputs}
    COMMAND ${GLOWISH_MODEL_COMPILER} -model=${model} -backend=CPU
      -emit-bundle=${folder} -network-name=${name} -bundle-api=${ARG_API}
      -weights=${ARG_WEIGHTS} ${machine} ${ARG_OPTIONS}
    DEPENDS ${model} ${GLOWISH_MODEL_COMPILER} ${ARG_OPERATORS}
    COMMENT "Compiling ${name} from ${model}" VERBATIM)
  set_source_files_properties(${folder}/${name}.o PROPERTIES
    EXTERNAL_OBJECT TRUE GENERATED TRUE)
  _glowish_add_to_library(${ARG_TARGET} ${folder} ${name} "${weights}" "${threads}")
  if(ARG_OPERATORS)
    target_link_libraries(${ARG_TARGET} INTERFACE ${folder}/${name}.operators.a)
  endif()
endfunction()

# Makes the library of bundles if there is none, and puts a bundle into it.
function(_glowish_add_to_library library folder name weights threads)
  if(NOT TARGET ${library})
    add_library(${library} STATIC)
    set_target_properties(${library} PROPERTIES LINKER_LANGUAGE C GLOWISH_WEIGHTS_FILES "")
  endif()
  get_target_property(place ${library} BINARY_DIR)
  if(NOT place STREQUAL CMAKE_CURRENT_BINARY_DIR)
    message(FATAL_ERROR "glowish_add_bundle(${name}): the target ${library} is of another folder")
  endif()
  target_sources(${library} PRIVATE ${folder}/${name}.o ${folder}/${name}.h)
  target_include_directories(${library} INTERFACE ${folder})
  set_property(TARGET ${library} APPEND PROPERTY GLOWISH_WEIGHTS_FILES ${weights})
  # All bundles share the threads.
  get_target_property(has_threads ${library} GLOWISH_THREADS)
  if(threads AND NOT has_threads)
    find_package(Threads REQUIRED)
    target_sources(${library} PRIVATE ${threads})
    target_link_libraries(${library} PUBLIC Threads::Threads)
    set_target_properties(${library} PROPERTIES GLOWISH_THREADS TRUE)
  endif()
endfunction()

function(glowish_install_weights program)
  cmake_parse_arguments(ARG "" "DESTINATION;COMPONENT" "" ${ARGN})
  set(weights)
  foreach(library ${ARG_UNPARSED_ARGUMENTS})
    set(more)
    if(TARGET ${library})
      get_target_property(more ${library} GLOWISH_WEIGHTS_FILES)
    endif()
    if(NOT more)
      message(FATAL_ERROR "glowish_install_weights(${program}): ${library} is no target of "
        "glowish_add_bundle with weights in files")
    endif()
    list(APPEND weights ${more})
  endforeach()
  set(programs bin)
  if(CMAKE_INSTALL_BINDIR)
    set(programs ${CMAKE_INSTALL_BINDIR})
  endif()
  if(NOT ARG_DESTINATION)
    set(ARG_DESTINATION ${programs})
  endif()
  # Where the program is installed, it may be moved together with its weights.
  set(place ${ARG_DESTINATION})
  if(NOT IS_ABSOLUTE "${ARG_DESTINATION}" AND NOT IS_ABSOLUTE "${programs}")
    file(RELATIVE_PATH place /prefix/${programs} /prefix/${ARG_DESTINATION})
  endif()
  if(place STREQUAL "")
    set(place .)
  endif()

  # A program may have several lists of weights, and the function once.
  get_target_property(known ${program} GLOWISH_WEIGHTS_FOLDER)
  if(NOT known)
    target_sources(${program} PRIVATE ${GLOWISH_SUPPORT_FOLDER}/glowish_weights.c)
    target_include_directories(${program} PRIVATE ${GLOWISH_SUPPORT_FOLDER})
    target_compile_definitions(${program} PRIVATE "GLOWISH_WEIGHTS_FOLDER=\"${place}\"")
    set_target_properties(${program} PROPERTIES GLOWISH_WEIGHTS_FOLDER "${place}")
  elseif(NOT known STREQUAL place)
    message(FATAL_ERROR "glowish_install_weights(${program}): its weights are in two folders")
  endif()
  set_property(TARGET ${program} APPEND PROPERTY LINK_DEPENDS ${weights})
  add_custom_command(TARGET ${program} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${weights} $<TARGET_FILE_DIR:${program}>
    VERBATIM)
  set(component)
  if(ARG_COMPONENT)
    set(component COMPONENT ${ARG_COMPONENT})
  endif()
  install(FILES ${weights} DESTINATION ${ARG_DESTINATION} ${component})
endfunction()
