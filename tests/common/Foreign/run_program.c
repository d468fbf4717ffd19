/* Runs the program of one graph where there is no C library: reads its regions
 * from the file "regions" of the host, and writes what the entry returns and
 * the regions that it may change to "results". platform_semihosted.c starts it.
 *
 * "regions": the sizes of the constant, mutable and activation regions and
 * their alignment, four uint32, little-endian, and then the bytes of the
 * three. */
#include "semihosting.h"
#include <stddef.h>

enum {
  SYS_OPEN = 0x01,
  SYS_CLOSE = 0x02,
  SYS_WRITE = 0x05,
  SYS_READ = 0x06,
  OPEN_TO_READ = 1,
  OPEN_TO_WRITE = 5
};
/* What a board has, if nothing else is stated. */
#ifndef MEMORY_BYTES
#define MEMORY_BYTES (12 << 20)
#endif

int network(const uint8_t *constants, uint8_t *mutables, uint8_t *activations);
void print_line(const char *text);
void mark_stack(void);
uint32_t measure_stack(void);
int main(void);

static _Alignas(4096) uint8_t memory[MEMORY_BYTES];

static uintptr_t open_file(const char *name, size_t length, uintptr_t mode) {
  const uintptr_t block[3] = {(uintptr_t)name, mode, length};
  return call_host(SYS_OPEN, block);
}

/* Whether all bytes were read or written. */
static int transfer(uintptr_t operation, uintptr_t file, void *bytes,
                    size_t size) {
  const uintptr_t block[3] = {file, (uintptr_t)bytes, size};
  return size == 0 || call_host(operation, block) == 0;
}

static void close_file(uintptr_t file) {
  const uintptr_t block[1] = {file};
  call_host(SYS_CLOSE, block);
}

static int fail(const char *what) {
  print_line(what);
  return 1;
}

static uint32_t read_number(const uint8_t *bytes) {
  return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
         (uint32_t)bytes[3] << 24;
}

int main(void) {
  static const char input[] = "regions", output[] = "results";
  uint8_t header[16];
  uint32_t sizes[3], alignment;
  uint8_t *regions[3], *next = memory;
  uintptr_t file = open_file(input, sizeof input - 1, OPEN_TO_READ);
  int32_t status;
  int i;
  if (file == (uintptr_t)-1 || !transfer(SYS_READ, file, header, sizeof header))
    return fail("the regions cannot be read");
  alignment = read_number(header + 12);
  for (i = 0; i < 3; ++i) {
    size_t left = (size_t)(memory + sizeof memory - next);
    sizes[i] = read_number(header + 4 * i);
    if (sizes[i] > left || alignment > left - sizes[i])
      return fail("the regions are larger than the memory");
    regions[i] = next;
    next += (sizes[i] + alignment) / alignment * alignment;
    if (!transfer(SYS_READ, file, regions[i], sizes[i]))
      return fail("a region cannot be read");
  }
  close_file(file);
  status = network(regions[0], regions[1], regions[2]);
  file = open_file(output, sizeof output - 1, OPEN_TO_WRITE);
  if (file == (uintptr_t)-1 ||
      !transfer(SYS_WRITE, file, &status, sizeof status) ||
      !transfer(SYS_WRITE, file, regions[1], sizes[1]) ||
      !transfer(SYS_WRITE, file, regions[2], sizes[2]))
    return fail("the results cannot be written");
  close_file(file);
  return 0;
}
