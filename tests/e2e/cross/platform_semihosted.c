/* run_cross.c without a system and a C library: where it starts, the functions
 * that a bundle may call, and output by semihosting. */
#include "semihosting.h"
#include <stddef.h>

enum { SYS_WRITE0 = 0x04, SYS_EXIT_EXTENDED = 0x20 };

void print_line(const char *text);
void mark_stack(void);
uint32_t measure_stack(void);
int main(void);

void print_line(const char *text) {
  call_host(SYS_WRITE0, text);
  call_host(SYS_WRITE0, "\n");
}

__attribute__((used)) static void start(void) {
  static uintptr_t reason[2];
  reason[0] = 0x20026; /* ADP_Stopped_ApplicationExit */
  reason[1] = (uintptr_t)main();
  call_host(SYS_EXIT_EXTENDED, reason);
  for (;;)
    ;
}

/*===- What a bundle may call --------------------------------------------===*/

/* Compiled so that loops don't become calls of these functions. */
__attribute__((used)) void *memcpy(void *to, const void *from, size_t size) {
  uint8_t *t = to;
  const uint8_t *f = from;
  while (size--)
    *t++ = *f++;
  return to;
}

__attribute__((used)) void *memmove(void *to, const void *from, size_t size) {
  uint8_t *t = to;
  const uint8_t *f = from;
  if (t <= f)
    return memcpy(to, from, size);
  while (size--)
    t[size] = f[size];
  return to;
}

__attribute__((used)) void *memset(void *to, int value, size_t size) {
  uint8_t *t = to;
  while (size--)
    *t++ = (uint8_t)value;
  return to;
}

/*===- Boards: vectors and stack -----------------------------------------===*/

#ifdef BOARD
/* From the linker script. */
extern uint32_t stack_low[], stack_high[];

static void reset(void) {
  /* Full access to coprocessors 10 and 11: the floating-point unit. */
  *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20;
  __asm__ volatile("dsb\nisb" : : : "memory");
  start();
}

static void fault(void) {
  static uintptr_t reason[2] = {0x20026, 3};
  print_line("a fault");
  call_host(SYS_EXIT_EXTENDED, reason);
  for (;;)
    ;
}

__attribute__((used, section(".vectors"))) void *const vectors[] = {
    stack_high,    (void *)reset, (void *)fault, (void *)fault,
    (void *)fault, (void *)fault, (void *)fault};

static const uint32_t mark = 0xa5c3f00du;

static inline uint32_t *get_stack(void) {
  uint32_t *stack;
  __asm__ volatile("mov %0, sp" : "=r"(stack));
  return stack;
}

/* Leaves some words, as the compiler may save registers after the question
 * where the stack is. */
__attribute__((noinline)) void mark_stack(void) {
  uint32_t *word, *end = get_stack() - 8;
  for (word = stack_low; word < end; ++word)
    *(volatile uint32_t *)word = mark;
}

__attribute__((noinline)) uint32_t measure_stack(void) {
  uint32_t *word = stack_low, *end = get_stack();
  while (word < end && *(volatile uint32_t *)word == mark)
    ++word;
  return (uint32_t)((uintptr_t)end - (uintptr_t)word);
}
#else
#if defined(__mips__)
/* Code that is position independent has the address of its tables from that of
 * the function, which is not known where a program starts. */
__asm__(".text\n.globl __start\n__start:\n.set noreorder\nbal 1f\nnop\n1:\n"
#if _MIPS_SIM == 1   /* o32 */
        ".cpload $31\nla $25, start\n"
#elif _MIPS_SIM == 2 /* n32 */
        ".cpsetup $31, $2, 1b\nla $25, start\n"
#else
        ".cpsetup $31, $2, 1b\ndla $25, start\n"
#endif
        "jr $25\nnop\n.set reorder\n");
#else
/* There the stack is not aligned as in a called function of x86. */
#if defined(__i386__) || defined(__x86_64__)
__attribute__((force_align_arg_pointer))
#endif
__attribute__((used)) void
_start(void) {
  start();
}
#endif
void mark_stack(void) {}
uint32_t measure_stack(void) { return 0; }
#endif
