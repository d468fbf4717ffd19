/* Calls several bundles of the dynamic API with embedded weights once, with
 * inputs that are always the same. The header networks.h, which a script
 * writes, includes theirs and defines
 *
 *   NETWORKS           {"NAME", &NAME_config, NAME, NAME_weights}, ...
 *   MUTABLE_SIZE, ACTIVATIONS_SIZE, REGION_ALIGNMENT    the largest of all
 *
 * and may define EXTENT, what the input S states.
 * Exits with 1, after a line, if an entry returns an error. */
#include "networks.h"

/* One line of text, without its end; of the platform. */
void print_line(const char *text);
int main(void);

typedef struct {
  const char *name;
  const BundleConfig *config;
  int (*entry)(const uint8_t *, uint8_t *, uint8_t *);
  const uint8_t *weights;
} Network;

static const Network networks[] = {NETWORKS};

__attribute__((
    aligned(REGION_ALIGNMENT))) static uint8_t placeholders[MUTABLE_SIZE],
    activations[ACTIVATIONS_SIZE];

/* Floats from -1 to 1; integers that are indices of anything. */
static void fill(const GlowishSymbol *symbol, uint32_t *state) {
  uint64_t i;
  uint32_t size = (uint32_t)symbol->bytes / (uint32_t)symbol->size;
  volatile uint8_t *bytes = placeholders + symbol->offset;
  for (i = 0; i < symbol->bytes; ++i)
    bytes[i] = 0;
#ifdef EXTENT
  if (symbol->name[0] == 'S' && !symbol->name[1]) {
    *(volatile int64_t *)bytes = EXTENT;
    return;
  }
#endif
  for (i = 0; i < symbol->size; ++i) {
    *state = *state * 1664525u + 1013904223u;
    if (symbol->elementType == GLOWISH_FLOAT)
      ((volatile float *)bytes)[i] =
          (float)(int32_t)*state * (1.0f / 2147483648.0f);
    else
      bytes[i * size] = *state >> 31;
  }
}

static int run(const Network *network) {
  uint32_t state = 7;
  uint64_t i;
  for (i = 0; i < network->config->numSymbols; ++i)
    if (network->config->symbols[i].direction & GLOWISH_INPUT)
      fill(&network->config->symbols[i], &state);
  if (network->entry(network->weights, placeholders, activations) ==
      GLOWISH_SUCCESS)
    return 0;
  print_line("an entry returned an error:");
  print_line(network->name);
  return 1;
}

int main(void) {
  unsigned i;
  int result = 0;
  for (i = 0; i < sizeof networks / sizeof *networks; ++i)
    result |= run(&networks[i]);
  return result;
}

#if defined __arm__
/* What code for a Cortex-M4 calls, whose floating-point unit has no doubles.
 * This file is compiled for a processor that has them; they go in integer
 * registers. */
#define HELPER __attribute__((pcs("aapcs"), used))
double HELPER __aeabi_dadd(double a, double b);
double HELPER __aeabi_dmul(double a, double b);
double HELPER __aeabi_f2d(float a);
float HELPER __aeabi_d2f(double a);
float HELPER __aeabi_ul2f(uint64_t a);
double __aeabi_dadd(double a, double b) { return a + b; }
double __aeabi_dmul(double a, double b) { return a * b; }
double __aeabi_f2d(float a) { return a; }
float __aeabi_d2f(double a) { return (float)a; }
float __aeabi_ul2f(uint64_t a) {
  return (float)((double)(uint32_t)(a >> 32) * 4294967296.0 +
                 (double)(uint32_t)a);
}
#endif
