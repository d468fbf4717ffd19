/* The operations of semihosting that the programs here use, by system calls of
 * Linux: QEMU's user mode has no semihosting for these processors. */
#ifndef GLOWISH_TESTS_E2E_CROSS_LINUX_CALLS_H
#define GLOWISH_TESTS_E2E_CROSS_LINUX_CALLS_H

#include <stdint.h>

/* Numbers of the calls, and flags of open. */
enum {
#if defined(__x86_64__)
  LINUX_READ = 0,
  LINUX_WRITE = 1,
  LINUX_OPEN = 2,
  LINUX_CLOSE = 3,
  LINUX_EXIT = 231,
#elif defined(__mips__) && _MIPS_SIM == 1 /* o32 */
  LINUX_EXIT = 4001,
  LINUX_READ = 4003,
  LINUX_WRITE = 4004,
  LINUX_OPEN = 4005,
  LINUX_CLOSE = 4006,
#elif defined(__mips__)
  LINUX_READ = _MIPS_SIM == 2 /* n32 */ ? 6000 : 5000,
  LINUX_WRITE,
  LINUX_OPEN,
  LINUX_CLOSE,
  LINUX_EXIT = LINUX_READ + 58,
#elif defined(__i386__) || defined(__powerpc__) || defined(__s390x__) ||       \
    defined(__sparc__)
  LINUX_EXIT = 1,
  LINUX_READ = 3,
  LINUX_WRITE = 4,
  LINUX_OPEN = 5,
  LINUX_CLOSE = 6,
#else
  LINUX_OPENAT = 56,
  LINUX_CLOSE = 57,
  LINUX_READ = 63,
  LINUX_WRITE = 64,
  LINUX_EXIT = 93,
#endif
/* To write to a new, empty file. */
#if defined(__mips__)
  LINUX_CREATE = 1 | 0x100 | 0x200
#elif defined(__sparc__)
  LINUX_CREATE = 1 | 0x200 | 0x400
#else
  LINUX_CREATE = 1 | 0x40 | 0x200
#endif
};

/* A negative number, or all ones, for an error. */
static inline intptr_t call_linux(intptr_t number, intptr_t first,
                                  intptr_t second, intptr_t third,
                                  intptr_t fourth) {
#if defined(__x86_64__)
  register intptr_t r10 __asm__("r10") = fourth;
  __asm__ volatile("syscall"
                   : "+a"(number)
                   : "D"(first), "S"(second), "d"(third), "r"(r10)
                   : "rcx", "r11", "memory");
  return number;
#elif defined(__i386__)
  __asm__ volatile("int $0x80"
                   : "+a"(number)
                   : "b"(first), "c"(second), "d"(third), "S"(fourth)
                   : "memory");
  return number;
#elif defined(__powerpc__)
  register intptr_t r0 __asm__("r0") = number;
  register intptr_t r3 __asm__("r3") = first;
  register intptr_t r4 __asm__("r4") = second;
  register intptr_t r5 __asm__("r5") = third;
  register intptr_t r6 __asm__("r6") = fourth;
  __asm__ volatile("sc\n\tbns+ 1f\n\tli 3, -1\n1:"
                   : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6)
                   :
                   : "r7", "r8", "r9", "r10", "r11", "r12", "cr0", "ctr",
                     "memory");
  return r3;
#elif defined(__mips__)
  register intptr_t v0 __asm__("$2") = number;
  register intptr_t a0 __asm__("$4") = first;
  register intptr_t a1 __asm__("$5") = second;
  register intptr_t a2 __asm__("$6") = third;
  register intptr_t a3 __asm__("$7") = fourth;
  __asm__ volatile("syscall"
                   : "+r"(v0), "+r"(a3)
                   : "r"(a0), "r"(a1), "r"(a2)
                   : "$1", "$3", "$8", "$9", "$10", "$11", "$12", "$13", "$14",
                     "$15", "$24", "$25", "hi", "lo", "memory");
  return a3 ? -1 : v0;
#elif defined(__loongarch__)
  register intptr_t a7 __asm__("$a7") = number;
  register intptr_t a0 __asm__("$a0") = first;
  register intptr_t a1 __asm__("$a1") = second;
  register intptr_t a2 __asm__("$a2") = third;
  register intptr_t a3 __asm__("$a3") = fourth;
  __asm__ volatile("syscall 0"
                   : "+r"(a0)
                   : "r"(a7), "r"(a1), "r"(a2), "r"(a3)
                   : "$t0", "$t1", "$t2", "$t3", "$t4", "$t5", "$t6", "$t7",
                     "$t8", "memory");
  return a0;
#elif defined(__hexagon__)
  register intptr_t r6 __asm__("r6") = number;
  register intptr_t r0 __asm__("r0") = first;
  register intptr_t r1 __asm__("r1") = second;
  register intptr_t r2 __asm__("r2") = third;
  register intptr_t r3 __asm__("r3") = fourth;
  __asm__ volatile("trap0(#1)"
                   : "+r"(r0)
                   : "r"(r6), "r"(r1), "r"(r2), "r"(r3)
                   : "memory");
  return r0;
#elif defined(__s390x__)
  register intptr_t r1 __asm__("r1") = number;
  register intptr_t r2 __asm__("r2") = first;
  register intptr_t r3 __asm__("r3") = second;
  register intptr_t r4 __asm__("r4") = third;
  register intptr_t r5 __asm__("r5") = fourth;
  __asm__ volatile("svc 0"
                   : "+r"(r2)
                   : "r"(r1), "r"(r3), "r"(r4), "r"(r5)
                   : "memory");
  return r2;
#elif defined(__sparc__) && defined(__arch64__)
  register intptr_t g1 __asm__("g1") = number;
  register intptr_t o0 __asm__("o0") = first;
  register intptr_t o1 __asm__("o1") = second;
  register intptr_t o2 __asm__("o2") = third;
  register intptr_t o3 __asm__("o3") = fourth;
  __asm__ volatile("t 0x6d\n\tbcs,a %%xcc, 1f\n\tmov -1, %%o0\n1:"
                   : "+r"(o0)
                   : "r"(g1), "r"(o1), "r"(o2), "r"(o3)
                   : "cc", "memory");
  return o0;
#else
#error "no system calls for this processor"
#endif
}

static inline intptr_t open_linux(const char *name, intptr_t flags) {
#if defined(__loongarch__) || defined(__hexagon__)
  return call_linux(LINUX_OPENAT, -100 /* the current folder */, (intptr_t)name,
                    flags, 0666);
#else
  return call_linux(LINUX_OPEN, (intptr_t)name, flags, 0666, 0);
#endif
}

/* Bytes that were not read or written. */
static inline uintptr_t transfer_linux(intptr_t number, intptr_t file,
                                       uintptr_t bytes, uintptr_t size) {
  while (size) {
    intptr_t count =
        call_linux(number, file, (intptr_t)bytes, (intptr_t)size, 0);
    if (count <= 0)
      break;
    bytes += (uintptr_t)count;
    size -= (uintptr_t)count;
  }
  return size;
}

/* What the operation of semihosting returns. */
static inline uintptr_t call_host(uintptr_t operation, const void *argument) {
  const uintptr_t *block = argument;
  const char *text = argument;
  uintptr_t length = 0;
  switch (operation) {
  case 0x01: /* SYS_OPEN: modes from 4 on write */
    return (uintptr_t)open_linux((const char *)block[0],
                                 block[1] < 4 ? 0 : LINUX_CREATE);
  case 0x02: /* SYS_CLOSE */
    return (uintptr_t)call_linux(LINUX_CLOSE, (intptr_t)block[0], 0, 0, 0);
  case 0x04: /* SYS_WRITE0 */
    while (text[length])
      ++length;
    return transfer_linux(LINUX_WRITE, 1, (uintptr_t)text, length);
  case 0x05: /* SYS_WRITE */
    return transfer_linux(LINUX_WRITE, (intptr_t)block[0], block[1], block[2]);
  case 0x06: /* SYS_READ */
    return transfer_linux(LINUX_READ, (intptr_t)block[0], block[1], block[2]);
  default: /* SYS_EXIT_EXTENDED */
    return (uintptr_t)call_linux(LINUX_EXIT, (intptr_t)block[1], 0, 0, 0);
  }
}

#endif
