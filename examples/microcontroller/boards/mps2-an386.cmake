# Arm's board MPS2 with the image AN386: a Cortex-M4 with a floating-point unit.
set(BOARD mps2-an386)
set(BOARD_START boards/cortex-m.c)
set(BOARD_BUNDLE -target=thumbv7em-none-eabihf -mcpu=cortex-m4)
set(BOARD_FLAGS "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16")
set(CMAKE_SYSTEM_PROCESSOR cortex-m4)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(BOARD_EMULATOR qemu-system-arm -machine mps2-an386)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
