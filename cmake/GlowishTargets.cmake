# glowish_library(ROOM SOURCES ...): the object library of one room. All rooms
# end in the shared library libglowish, so that registration objects are kept.
function(glowish_library room)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_library(glowish${room} OBJECT ${ARG_SOURCES})
  target_link_libraries(glowish${room} PUBLIC glowish_options ${ARG_LIBRARIES})
  add_dependencies(glowish${room} glowish-generated)
  set_property(GLOBAL APPEND PROPERTY GLOWISH_ROOMS glowish${room})
endfunction()

# glowish_tool(NAME SOURCES ...): a program in build/<preset>/bin.
function(glowish_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE glowish ${ARG_LIBRARIES})
  install(TARGETS ${name})
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

# glowish_tablegen(OUTPUT GENERATOR INPUT): runs glowish-tblgen on a record
# file of lib/Ops and writes include/glowish/OUTPUT in the build folder.
function(glowish_tablegen output generator input)
  set(out ${PROJECT_BINARY_DIR}/include/glowish/${output})
  add_custom_command(OUTPUT ${out}
    COMMAND glowish-tblgen ${generator} -I ${PROJECT_SOURCE_DIR}/include/glowish/Ops
      ${input} -o ${out} --write-if-changed
    DEPENDS glowish-tblgen ${input} ${GLOWISH_TD_FILES}
    COMMENT "Generating ${output}")
  set_property(GLOBAL APPEND PROPERTY GLOWISH_GENERATED ${out})
endfunction()
