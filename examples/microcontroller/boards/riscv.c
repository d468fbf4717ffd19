/* Where a RISC-V starts: a stack, a place for traps. */
#include "board.h"

__attribute__((used)) static void fail(void) {
  print("a trap\n");
  leave(3);
}

/* The address of the trap vector is a multiple of 4. */
__attribute__((naked, used, aligned(4))) static void trap(void) {
  __asm__ volatile("la sp, stack_high\n"
                   "j fail");
}

void reset(void);

__attribute__((naked, used, section(".vectors"))) void reset(void) {
  __asm__ volatile("la sp, stack_high\n"
                   "la t0, trap\n"
                   ".option arch, +zicsr\n"
                   "csrw mtvec, t0\n"
                   "j start");
}
