/* Runs one bundle on a machine that is not this one, perhaps without a system
 * or a C library, and compares its outputs with expected ones.
 *
 * Compiled for a bundle of the dynamic API with embedded weights:
 *   -DBUNDLE_HEADER="NAME.h" -DBUNDLE_ENTRY=NAME -DBUNDLE_CONFIG=NAME_config
 *   -DBUNDLE_WEIGHTS=NAME_weights -DBUNDLE_CHECK=NAME_check_weights
 *   -DMUTABLE_SIZE=... -DACTIVATIONS_SIZE=... -DREGION_ALIGNMENT=...
 * of which the last three, from the header that -bundle-api=static writes, are
 * compared with the configuration. test_inputs and test_outputs, linked from
 * elsewhere, hold the placeholders, floats, in the order of the symbol table.
 *
 * Prints for each output the largest error in billionths of the largest
 * magnitude, or with -DEXPECTS_BITS the number of elements with other bits,
 * then "stack N" where that is measured, and "done". A platform supplies the
 * three functions below. */
#include BUNDLE_HEADER

/* One line of text, without its end. */
void print_line(const char *text);
/* Marks the stack below the caller; the second returns how much of that was
 * used since then, or 0 where that is not known. */
void mark_stack(void);
uint32_t measure_stack(void);

extern const uint8_t test_inputs[], test_outputs[];

__attribute__((aligned(REGION_ALIGNMENT), section(".bss.mutable"))) uint8_t
    region_mutable[MUTABLE_SIZE + !MUTABLE_SIZE];
__attribute__((aligned(REGION_ALIGNMENT), section(".bss.activations"))) uint8_t
    region_activations[ACTIVATIONS_SIZE + !ACTIVATIONS_SIZE];

static char line[128];

static char *append(char *at, const char *text) {
  while (*text && at < line + sizeof line - 1)
    *at++ = *text++;
  *at = 0;
  return at;
}

static char *append_number(char *at, uint32_t number) {
  char digits[11];
  char *first = digits + sizeof digits - 1;
  *first = 0;
  do
    *--first = (char)('0' + number % 10);
  while (number /= 10);
  return append(at, first);
}

static void print_number(const char *name, const char *what, uint32_t number) {
  append_number(append(append(line, name), what), number);
  print_line(line);
}

static void copy(uint8_t *to, const uint8_t *from, uint64_t size) {
  while (size--)
    *to++ = *from++;
}

/* Copies floats of a file, which are little-endian. */
static void copy_floats(uint8_t *to, const uint8_t *from, uint64_t size) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  uint64_t i;
  for (i = 0; i < size; ++i)
    to[i] = from[i ^ 3];
#else
  copy(to, from, size);
#endif
}

#ifdef EXPECTS_BITS
static uint32_t compare(const uint8_t *actual, const uint8_t *expected,
                        uint64_t count) {
  uint32_t different = 0;
  uint64_t i;
  for (i = 0; i < count; ++i) {
    uint32_t a, e;
    copy((uint8_t *)&a, actual + 4 * i, 4);
    copy_floats((uint8_t *)&e, expected + 4 * i, 4);
    different += a != e;
  }
  return different;
}
#else
/* The largest error as a share of the largest magnitude, in billionths. */
static uint32_t compare(const uint8_t *actual, const uint8_t *expected,
                        uint64_t count) {
  float error = 0, magnitude = 0;
  uint64_t i;
  for (i = 0; i < count; ++i) {
    float a, e, difference;
    copy((uint8_t *)&a, actual + 4 * i, 4);
    copy_floats((uint8_t *)&e, expected + 4 * i, 4);
    difference = a > e ? a - e : e - a;
    if (!(difference <= error))
      error = difference;
    if (difference != difference)
      return UINT32_MAX;
    if ((e < 0 ? -e : e) > magnitude)
      magnitude = e < 0 ? -e : e;
  }
  if (error >= magnitude)
    return error == 0 ? 0 : UINT32_MAX;
  return (uint32_t)(error / magnitude * 1e9f);
}
#endif

static int check_sizes(const BundleConfig *config) {
  return config->mutableWeightVarsMemSize == MUTABLE_SIZE &&
         config->activationsMemSize == ACTIVATIONS_SIZE &&
         config->alignment == REGION_ALIGNMENT;
}

int main(void) {
  const BundleConfig *config = &BUNDLE_CONFIG;
  const uint8_t *from = test_inputs;
  uint32_t stack;
  uint64_t i;
  int code;
  if (!check_sizes(config)) {
    print_line("the two headers differ in their sizes");
    return 1;
  }
  if (BUNDLE_CHECK(BUNDLE_WEIGHTS, config->constantWeightVarsMemSize)) {
    print_line("these are not the weights");
    return 1;
  }
  for (i = 0; i < config->numSymbols; ++i) {
    const GlowishSymbol *symbol = &config->symbols[i];
    if (!(symbol->direction & GLOWISH_INPUT))
      continue;
    copy_floats(region_mutable + symbol->offset, from, symbol->bytes);
    from += symbol->bytes;
  }
  mark_stack();
  code = BUNDLE_ENTRY(BUNDLE_WEIGHTS, region_mutable, region_activations);
  stack = measure_stack();
  if (code != GLOWISH_SUCCESS) {
    print_number("the entry", " returned ", (uint32_t)code);
    return 1;
  }
  from = test_outputs;
  for (i = 0; i < config->numSymbols; ++i) {
    const GlowishSymbol *symbol = &config->symbols[i];
    if (!(symbol->direction & GLOWISH_OUTPUT))
      continue;
    if (symbol->elementType != GLOWISH_FLOAT) {
      print_line("an output is not float");
      return 1;
    }
    print_number(symbol->name, ": error ",
                 compare(region_mutable + symbol->offset, from, symbol->size));
    from += symbol->bytes;
  }
  if (stack)
    print_number("stack", " ", stack);
  print_line("done");
  return 0;
}
