/* The functions that a bundle may call, and a compiler, too. A project with a C
 * library has them there. */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *to, const void *from, size_t size) {
  uint8_t *t = to;
  const uint8_t *f = from;
  while (size--)
    *t++ = *f++;
  return to;
}

void *memmove(void *to, const void *from, size_t size) {
  uint8_t *t = to;
  const uint8_t *f = from;
  if (t <= f)
    return memcpy(to, from, size);
  while (size--)
    t[size] = f[size];
  return to;
}

void *memset(void *to, int value, size_t size) {
  uint8_t *t = to;
  while (size--)
    *t++ = (uint8_t)value;
  return to;
}
