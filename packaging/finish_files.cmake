# Run by CPack on the files of the packages, before they are packed: what Debian wants
# of files in /usr.

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
