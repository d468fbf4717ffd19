/* Calls of the host that debuggers and QEMU offer programs without a system
 * (Arm's "Semihosting for AArch32 and AArch64"; RISC-V's has the same
 * operations). On other processors, those of Linux. */
#ifndef GLOWISH_TESTS_E2E_CROSS_SEMIHOSTING_H
#define GLOWISH_TESTS_E2E_CROSS_SEMIHOSTING_H

#include <stdint.h>

#if defined(__aarch64__) || defined(__arm__) || defined(__riscv)
/* What the operation returns. */
static inline uintptr_t call_host(uintptr_t operation, const void *argument) {
#if defined(__aarch64__)
  register uintptr_t x0 __asm__("x0") = operation;
  register const void *x1 __asm__("x1") = argument;
  __asm__ volatile("hlt #0xf000" : "+r"(x0) : "r"(x1) : "memory");
  return x0;
#elif defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
  register uintptr_t r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt #0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
#elif defined(__arm__)
  register uintptr_t r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("svc #0x123456" : "+r"(r0) : "r"(r1) : "memory", "lr");
  return r0;
#elif defined(__riscv)
  register uintptr_t a0 __asm__("a0") = operation;
  register const void *a1 __asm__("a1") = argument;
  /* The three instructions lie in one page, none of them compressed. */
  __asm__ volatile(".balign 16\n.option push\n.option norvc\n"
                   "slli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n"
                   ".option pop"
                   : "+r"(a0)
                   : "r"(a1)
                   : "memory");
  return a0;
#endif
}
#else
#include "linux_calls.h"
#endif

#endif
