# Arm's board MPS3 with the image AN547: a Cortex-M55 with vectors (MVE).
set(BOARD mps3-an547)
set(BOARD_START boards/cortex-m.c)
set(BOARD_BUNDLE -target=thumbv8.1m.main-none-eabihf -mcpu=cortex-m55)
set(BOARD_FLAGS "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard")
set(CMAKE_SYSTEM_PROCESSOR cortex-m55)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(BOARD_EMULATOR qemu-system-arm -machine mps3-an547)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
