/* Where a Cortex-M starts: the vector table, and what the processor has to be
 * told before it can compute. */
#include "board.h"

extern uint32_t stack_high[];
void reset(void);

void reset(void) {
  /* Full access to coprocessors 10 and 11: the floating-point unit, and MVE
   * where there is one. */
  volatile uint32_t *const coprocessorAccess = (uint32_t *)0xE000ED88;
  *coprocessorAccess |= 0xFu << 20;
#if __ARM_ARCH >= 8
  /* Branch prediction and loops without branches (Armv8.1-M): LOB and BP of the
   * configuration and control register. */
  volatile uint32_t *const configuration = (uint32_t *)0xE000ED14;
  *configuration |= 1u << 19 | 1u << 18;
#endif
  __asm__ volatile("dsb\nisb" : : : "memory");
  start();
}

static void fail(void) {
  print("a fault\n");
  leave(3);
}

/* The processor loads its stack pointer and the address of reset from here. */
__attribute__((used, section(".vectors"))) static void *const vectors[] = {
    stack_high,
    (void *)reset,
    (void *)fail,
    (void *)fail,
    (void *)fail,
    (void *)fail,
    (void *)fail,
    0,
    0,
    0,
    0,
    (void *)fail,
    (void *)fail,
    0,
    (void *)fail,
    (void *)fail};
