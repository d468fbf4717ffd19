/* Runs two bundles of one network, which differ in their activations: those of
 * `plain` are one array, and those of `parts` two, in sections of their own.
 * The output must have the same bits, and nothing may be written behind the
 * arrays.
 *
 * Compiled with -DINPUT=... and -DOUTPUT=..., the names of the only input and
 * output in the headers; weights are embedded. Prints "same", or what is wrong.
 * A platform supplies print_line. */
#include "parts.h"
#include "plain.h"

void print_line(const char *text);
int main(void);

#define JOIN(a, b, c) JOIN_EXPANDED(a, b, c)
#define JOIN_EXPANDED(a, b, c) a##b##c
/* A macro of the input or output of one of the bundles. */
#define OF_INPUT(bundle, suffix) JOIN(bundle, INPUT, suffix)
#define OF_OUTPUT(bundle, suffix) JOIN(bundle, OUTPUT, suffix)

/* Behind each array: what the bundle must leave as it is. */
enum { GUARD = 64, MARK = 0xA5 };

GLOWISH_MEM_ALIGN(PLAIN_MEM_ALIGN)
static uint8_t plain_placeholders[PLAIN_MUTABLE_MEM_SIZE + GUARD];
GLOWISH_MEM_ALIGN(PLAIN_MEM_ALIGN)
static uint8_t plain_activations[PLAIN_ACTIVATIONS_MEM_SIZE + GUARD];
GLOWISH_MEM_ALIGN(PARTS_MEM_ALIGN)
static uint8_t parts_placeholders[PARTS_MUTABLE_MEM_SIZE + GUARD];
GLOWISH_MEM_ALIGN(PARTS_MEM_ALIGN)
__attribute__((
    section(".dtcm"))) uint8_t region_dtcm[PARTS_DTCM_MEM_SIZE + GUARD];
GLOWISH_MEM_ALIGN(PARTS_MEM_ALIGN)
__attribute__((
    section(".sram"))) uint8_t region_sram[PARTS_SRAM_MEM_SIZE + GUARD];

static void mark_bytes(uint8_t *bytes, uint32_t size) {
  while (size--)
    *bytes++ = MARK;
}

static int is_marked(const uint8_t *bytes) {
  int i;
  for (i = 0; i < GUARD; ++i)
    if (bytes[i] != MARK)
      return 0;
  return 1;
}

/* Floats from -1 to 1, or any bytes. */
static void fill(uint8_t *bytes, uint32_t seed) {
  uint32_t i;
  for (i = 0; i < OF_INPUT(PLAIN_, _SIZE); ++i) {
    seed = seed * 1664525u + 1013904223u;
#if OF_INPUT(PLAIN_, _TYPE) == GLOWISH_FLOAT
    ((float *)bytes)[i] = (float)(int32_t)seed / 2147483648.0f;
#else
    bytes[i] = (uint8_t)(seed >> 24);
#endif
  }
}

int main(void) {
  uint8_t *plain_regions[] = {plain_placeholders, plain_activations};
  uint8_t *parts_regions[] = {parts_placeholders, region_dtcm, region_sram};
  const uint8_t *expected =
      plain_regions[OF_OUTPUT(PLAIN_, _REGION)] + JOIN(PLAIN_, OUTPUT, );
  const uint8_t *actual =
      parts_regions[OF_OUTPUT(PARTS_, _REGION)] + JOIN(PARTS_, OUTPUT, );
  uint32_t i;
  mark_bytes(plain_activations, sizeof plain_activations);
  mark_bytes(parts_placeholders, sizeof parts_placeholders);
  mark_bytes(region_dtcm, sizeof region_dtcm);
  mark_bytes(region_sram, sizeof region_sram);
  fill(plain_regions[OF_INPUT(PLAIN_, _REGION)] + JOIN(PLAIN_, INPUT, ), 7);
  fill(parts_regions[OF_INPUT(PARTS_, _REGION)] + JOIN(PARTS_, INPUT, ), 7);
  if (plain(plain_weights, plain_placeholders, plain_activations) ||
      parts(parts_weights, parts_placeholders, region_dtcm, region_sram)) {
    print_line("a bundle could not run");
    return 1;
  }
  for (i = 0; i < OF_OUTPUT(PLAIN_, _BYTES); ++i)
    if (actual[i] != expected[i]) {
      print_line("other bits");
      return 1;
    }
  if (!is_marked(parts_placeholders + PARTS_MUTABLE_MEM_SIZE) ||
      !is_marked(region_dtcm + PARTS_DTCM_MEM_SIZE) ||
      !is_marked(region_sram + PARTS_SRAM_MEM_SIZE)) {
    print_line("written behind a region");
    return 1;
  }
  print_line("same");
  return 0;
}
