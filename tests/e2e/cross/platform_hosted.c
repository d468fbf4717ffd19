/* run_cross.c on a system with a C library. */
#include <stdint.h>
#include <stdio.h>

void print_line(const char *text);
void mark_stack(void);
uint32_t measure_stack(void);

void print_line(const char *text) { puts(text); }
void mark_stack(void) {}
uint32_t measure_stack(void) { return 0; }
