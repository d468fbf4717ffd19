/* What main.c needs of a board. */
#ifndef BOARD_H
#define BOARD_H
#include <stdint.h>

/* Text to the console. */
void print(const char *text);

/* Text with spaces behind it, a number with spaces in front: at least `width`
 * columns. */
void printName(const char *text, int width);
void printNumber(int32_t number, int width);

/* The most bytes of the stack that were ever in use. */
uint32_t measureStack(void);

/* Prepares memory, calls main and ends with its result: what the reset code
 * calls when there is a stack. */
void start(void) __attribute__((noreturn));

/* Ends the program with this code. */
void leave(int code) __attribute__((noreturn));

int main(void);
#endif
