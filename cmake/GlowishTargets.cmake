# glowish_library(LAYER [PRECOMPILED NAME] [FOLDERS ...] [SOURCES ...]): the object
# library of one layer, of all C++ files in the folders, by default this one, that
# are in no folder with a CMakeLists.txt of its own. All layers end in the shared
# library libglowish, so that registration objects are kept.
function(glowish_library layer)
  cmake_parse_arguments(ARG "" "PRECOMPILED" "FOLDERS;SOURCES;LIBRARIES" ${ARGN})
  if(NOT ARG_PRECOMPILED)
    set(ARG_PRECOMPILED llvm)
  endif()
  if(NOT ARG_FOLDERS)
    set(ARG_FOLDERS .)
  endif()
  list(TRANSFORM ARG_FOLDERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(TRANSFORM ARG_FOLDERS APPEND /*.cpp OUTPUT_VARIABLE files)
  list(TRANSFORM ARG_FOLDERS APPEND /*/CMakeLists.txt OUTPUT_VARIABLE lists)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${files})
  file(GLOB_RECURSE others RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${lists})
  foreach(other ${others})
    get_filename_component(folder ${other} DIRECTORY)
    list(FILTER sources EXCLUDE REGEX "^${folder}/")
  endforeach()
  add_library(glowish${layer} OBJECT ${sources} ${ARG_SOURCES})
  glowish_use_precompiled_headers(glowish${layer} ${ARG_PRECOMPILED})
  target_link_libraries(glowish${layer} PUBLIC glowish_options ${ARG_LIBRARIES})
  add_dependencies(glowish${layer} glowish-generated)
  set_property(GLOBAL APPEND PROPERTY GLOWISH_LAYERS glowish${layer})
endfunction()

# glowish_tool(NAME SOURCES ...): a program in build/<preset>/bin, with its man page.
function(glowish_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  glowish_use_precompiled_headers(${name} driver)
  target_link_libraries(${name} PRIVATE glowish ${ARG_LIBRARIES})
  install(TARGETS ${name} COMPONENT Tools)
  if(Python3_FOUND)
    set(script ${PROJECT_SOURCE_DIR}/packaging/man_page.py)
    set(page ${PROJECT_BINARY_DIR}/man/${name}.1)
    add_custom_command(OUTPUT ${page}
      COMMAND ${Python3_EXECUTABLE} ${script} $<TARGET_FILE:${name}> ${page}
      DEPENDS ${name} ${script}
      COMMENT "Writing ${name}.1")
    add_custom_target(${name}-man ALL DEPENDS ${page})
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT Tools)
  endif()
  # bash looks for a file with the name of the command.
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/completion.bash RENAME ${name}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT Tools)
endfunction()

# glowish_embed_texts(FILE...): makes glowish/NAME.inc of each text file NAME, a
# string literal to be included.
function(glowish_embed_texts)
  foreach(file ${ARGN})
    set(path ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    get_filename_component(name ${file} NAME)
    file(READ ${path} text)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/glowish/${name}.inc
         CONTENT "R\"text(@text@)text\"" @ONLY)
  endforeach()
endfunction()

# glowish_tablegen(OUTPUT GENERATOR INPUT [OPTION...]): runs glowish-tblgen on a
# record file and writes include/glowish/OUTPUT in the build folder, whose path is
# appended to the variable generated.
function(glowish_tablegen output generator input)
  set(out ${PROJECT_BINARY_DIR}/include/glowish/${output})
  add_custom_command(OUTPUT ${out}
    COMMAND glowish-tblgen ${generator} ${ARGN}
      -I ${PROJECT_SOURCE_DIR}/include/glowish/Ops
      ${input} -o ${out} --write-if-changed
    DEPENDS glowish-tblgen ${input} ${GLOWISH_TD_FILES}
    COMMENT "Generating ${output}")
  set(generated ${generated} ${out} PARENT_SCOPE)
endfunction()

# glowish_instr_dialect(NAME INPUT): the files glowish/Backends/NAME/*.inc of the
# instructions of the back end NAME, whose records are in INPUT, for the library
# glowishNAME.
function(glowish_instr_dialect name input)
  set(generated)
  foreach(generator type-rules instr-kinds instr-classes instr-table supports)
    glowish_tablegen(Backends/${name}/${generator}.inc -gen-${generator}
      ${CMAKE_CURRENT_SOURCE_DIR}/${input} -dialect=${name})
  endforeach()
  add_custom_target(glowish-${name}-generated DEPENDS ${generated})
  add_dependencies(glowish${name} glowish-${name}-generated)
endfunction()
