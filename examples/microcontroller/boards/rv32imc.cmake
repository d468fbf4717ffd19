# A RISC-V of 32 bits with multiplications and compressed instructions, and without a
# floating-point unit, as in an ESP32-C3: QEMU's machine `virt`, whose processor has nothing
# else here.
set(BOARD rv32imc)
set(BOARD_START boards/riscv.c)
set(BOARD_BUNDLE -target=riscv32-unknown-elf -mattr=+m,+c -mabi=ilp32)
set(BOARD_FLAGS "-march=rv32imc -mabi=ilp32")
set(CMAKE_SYSTEM_PROCESSOR rv32imc)
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(BOARD_EMULATOR qemu-system-riscv32 -machine virt
  -cpu rv32,a=false,f=false,d=false -bios none)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
