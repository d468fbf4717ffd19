# What the toolchain files of the boards have in common: no operating system, GCC, and each
# function in a section of its own so that the linker leaves out what nothing calls.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_ASM_FLAGS_INIT "${BOARD_FLAGS}")
set(CMAKE_C_FLAGS_INIT "${BOARD_FLAGS} -ffreestanding -ffunction-sections -fdata-sections")
set(CMAKE_EXE_LINKER_FLAGS_INIT
  "-nostdlib -static -Wl,--gc-sections -Wl,-z,noexecstack,--fatal-warnings -L${CMAKE_CURRENT_LIST_DIR} \
-T${CMAKE_CURRENT_LIST_DIR}/${BOARD}.ld")
set(BOARD_LINKER_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/${BOARD}.ld
  ${CMAKE_CURRENT_LIST_DIR}/sections.ld)
# The console of semihosting is the standard output.
set(CMAKE_CROSSCOMPILING_EMULATOR ${BOARD_EMULATOR} -display none -monitor none -serial none
  -chardev stdio,id=console
  -semihosting-config enable=on,target=native,chardev=console -kernel)
