# Run by CPack on the files of the packages, before they are packed: what Debian wants
# of files in /usr, and the list of what they are made of.

# Libraries are found in the system's folders.
file(GLOB_RECURSE binaries ${CPACK_TEMPORARY_DIRECTORY}/*/usr/bin/*
  ${CPACK_TEMPORARY_DIRECTORY}/*/usr/lib*/*.so*)
foreach(file ${binaries})
  if(NOT IS_SYMLINK ${file})
    file(RPATH_REMOVE FILE ${file})
  endif()
endforeach()

# Without the time, so that the same files give the same package.
file(GLOB_RECURSE texts ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/*.1
  ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*/changelog)
foreach(file ${texts})
  execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# Which software they are made of, now that the programs and libraries are as they are packed.
if(CPACK_GLOWISH_PYTHON)
  set(pch CMakeFiles/glowish-pch-)
  set(Tools_prefixes tools/,${pch}driver)
  set(Library_prefixes lib/,${pch}llvm,${pch}graph,${pch}onnx,${pch}codegen,${pch}driver)
  set(TorchScript_prefixes lib/Importer/TorchScript/Reader/)
  set(MPI_prefixes lib/Distributed/MPI/)
  set(Python_prefixes python/)
  set(packages)
  set(requires)
  foreach(each ${CPACK_GLOWISH_PACKAGES})
    string(REPLACE ":" ";" each ${each})
    list(GET each 0 component)
    list(GET each 1 name)
    if(NOT EXISTS ${CPACK_TEMPORARY_DIRECTORY}/${component})
      continue()
    endif()
    list(APPEND packages
      ${name}=${CPACK_TEMPORARY_DIRECTORY}/${component}=${${component}_prefixes})
    if(component STREQUAL "Python")
      list(APPEND requires --requires ${name}=python3,python3-numpy)
    elseif(component STREQUAL "MPI")
      list(APPEND requires --requires ${name}=openmpi-bin)
    endif()
  endforeach()
  set(sbom ${CPACK_TEMPORARY_DIRECTORY}/Tools/usr/share/doc/glowish/glowish.spdx.json)
  execute_process(COMMAND ${CPACK_GLOWISH_PYTHON} ${CPACK_GLOWISH_SOURCES}/packaging/sbom.py
    --build ${CPACK_GLOWISH_BUILD} --output ${sbom} ${requires} ${packages}
    COMMAND_ERROR_IS_FATAL ANY)
  file(CHMOD ${sbom} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endif()
