/* What the boards have in common: memory before main, and a console by
 * semihosting, which debug probes and QEMU offer (Arm's "Semihosting for
 * AArch32 and AArch64"; RISC-V's has the same operations). A device would
 * write to a UART here. */
#include "board.h"

/* Of the linker script. */
extern uint32_t data_source[], data_begin[], data_end[];
extern uint32_t bss_begin[], bss_end[];
extern uint32_t stack_low[], stack_high[];

/*===- Semihosting --------------------------------------------------------===*/

enum { SYS_WRITE0 = 0x04, SYS_EXIT_EXTENDED = 0x20 };
enum { ADP_Stopped_ApplicationExit = 0x20026 };

static void callHost(uint32_t operation, const void *argument) {
#if defined(__riscv)
  register uint32_t a0 __asm__("a0") = operation;
  register const void *a1 __asm__("a1") = argument;
  /* The three instructions must be uncompressed and lie in one page. */
  __asm__ volatile(".balign 16\n.option push\n.option norvc\n"
                   "slli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n"
                   ".option pop"
                   : "+r"(a0)
                   : "r"(a1)
                   : "memory");
#else
  register uint32_t r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt #0xab" : "+r"(r0) : "r"(r1) : "memory");
#endif
}

void print(const char *text) { callHost(SYS_WRITE0, text); }

void printName(const char *text, int width) {
  print(text);
  while (*text++)
    --width;
  while (width-- > 0)
    print(" ");
}

void printNumber(int32_t number, int width) {
  char text[16];
  char *at = text + sizeof text - 1;
  uint32_t rest = number < 0 ? 0u - (uint32_t)number : (uint32_t)number;
  *at = 0;
  do
    *--at = (char)('0' + rest % 10);
  while (rest /= 10);
  if (number < 0)
    *--at = '-';
  while (at > text && text + sizeof text - 1 - at < width)
    *--at = ' ';
  print(at);
}

void leave(int code) {
  const uint32_t reason[2] = {ADP_Stopped_ApplicationExit, (uint32_t)code};
  callHost(SYS_EXIT_EXTENDED, reason);
  for (;;)
    ;
}

/*===- The stack ----------------------------------------------------------===*/

static const uint32_t unused = 0xa5c3f00d;

/* Marks the stack below this function, but for some words that the compiler may
 * use. */
static void markStack(void) {
  volatile uint32_t *end = (uint32_t *)__builtin_frame_address(0) - 16;
  for (volatile uint32_t *word = stack_low; word < end; ++word)
    *word = unused;
}

uint32_t measureStack(void) {
  const volatile uint32_t *word = stack_low;
  while (word < stack_high && *word == unused)
    ++word;
  return (uint32_t)((uintptr_t)stack_high - (uintptr_t)word);
}

/*===- Before main --------------------------------------------------------===*/

void start(void) {
  const uint32_t *from = data_source;
  for (uint32_t *to = data_begin; to < data_end;)
    *to++ = *from++;
  for (uint32_t *to = bss_begin; to < bss_end;)
    *to++ = 0;
  markStack();
  leave(main());
}
