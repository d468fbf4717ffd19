/* Runs a language model whose cache is a state of its bundle (network.h,
 * dynamic API, with one program for each number of tokens that a call takes)
 * for bench/llm.mjs.
 *
 *   llm_worker WEIGHTS.bin
 *
 * Prints "ready {}". For each line "run PROMPT COUNT" on stdin it takes a
 * prompt of PROMPT tokens in one call, then COUNT tokens one at a time, and
 * prints the milliseconds of the prompt and the median of those of the others.
 * For each line "logits PROMPT FILE" it writes the last row of the logits,
 * floats, and prints "written". Compiled with -DBUNDLE_THREADS=N for a bundle
 * with threads. PAST: the name of the input that states the length of the
 * cache. */
#define _DEFAULT_SOURCE
#include "clock.h"
#include "huge_pages.h"
#include "network.h"
#ifdef BUNDLE_THREADS
#include "glowish_threads.h"
#endif
#include <stdio.h>

enum { MOST_TIMES = 4096 };

static const uint8_t *weights;
/* The region of each variant: the cache lies elsewhere in each. */
static uint8_t **regions;
static uint8_t *arena;

static void fail(const char *what) {
  fprintf(stderr, "error: %s\n", what);
  exit(1);
}

static const uint8_t *read_weights(const char *path) {
  uint64_t size = network_variants.constantWeightVarsMemSize;
  char *bytes = allocate(size);
  FILE *file = fopen(path, "rb");
  if (!file || fread(bytes, 1, size, file) != size)
    fail("the weights can't be read");
  fclose(file);
  return (const uint8_t *)bytes;
}

/* The number of the variant that takes `count` tokens. */
static uint64_t find_variant(int64_t count) {
  uint64_t i;
  for (i = 0; i < network_variants.numVariants; ++i)
    if (network_variants.variants[i].values[0] == count)
      return i;
  fail("there is no program for so many tokens");
  return 0;
}

static const GlowishSymbol *find_symbol(uint64_t variant, const char *name) {
  const BundleConfig *config = &network_variants.variants[variant].config;
  uint64_t i;
  for (i = 0; i < config->numSymbols; ++i)
    if (strcmp(config->symbols[i].name, name) == 0)
      return &config->symbols[i];
  return NULL;
}

/* Writes value, value + 1, ... to an input of int32 or int64, if the model has
 * it. */
static void set_input(uint64_t variant, const char *name, int64_t value) {
  const GlowishSymbol *symbol = find_symbol(variant, name);
  uint64_t i;
  for (i = 0; symbol && i < symbol->size; ++i, ++value) {
    uint8_t *place = regions[variant] + symbol->offset;
    int32_t small = (int32_t)value;
    if (symbol->elementType == GLOWISH_INT64)
      memcpy(place + 8 * i, &value, sizeof value);
    else
      memcpy(place + 4 * i, &small, sizeof small);
  }
}

/* One call with `count` tokens behind `past`; its milliseconds. The tokens are
 * those of llm_ort_worker.mjs. */
static double append(int64_t past, int64_t count) {
  uint64_t variant = find_variant(count);
  int64_t *tokens =
      (int64_t *)(regions[variant] + find_symbol(variant, "input_ids")->offset);
  double start;
  int64_t i;
  for (i = 0; i < count; ++i)
    tokens[i] = (past + i) * 37 % 1000;
  set_input(variant, "position_ids", past);
  set_input(variant, "seqlens_k", past + count - 1);
  set_input(variant, "total_sequence_length", past + count);
  set_input(variant, PAST, past);
  start = now();
  if (network(count, weights, regions[variant], arena) != GLOWISH_SUCCESS)
    fail("the call failed");
  return 1e3 * (now() - start);
}

/* Copies the first `length` rows of each head of the cache to the region of
 * another variant. */
static void move_cache(uint64_t from, uint64_t to, uint64_t length) {
  const BundleConfig *config = &network_variants.variants[from].config;
  uint64_t i, head;
  for (i = 0; i < config->numSymbols; ++i) {
    const GlowishSymbol *source = &config->symbols[i], *target;
    uint64_t row;
    if (source->direction != (GLOWISH_INPUT | GLOWISH_OUTPUT))
      continue;
    target = find_symbol(to, source->name);
    row = sizeof(float) * source->dims[3];
    for (head = 0; head < source->dims[1]; ++head)
      memcpy(regions[to] + target->offset + head * target->dims[2] * row,
             regions[from] + source->offset + head * source->dims[2] * row,
             length * row);
  }
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void run(int64_t prompt, int64_t count) {
  static double times[MOST_TIMES];
  double first = append(0, prompt), start = now();
  int64_t i;
  if (count < 1 || count > MOST_TIMES)
    fail("too many tokens");
  move_cache(find_variant(prompt), find_variant(1), (uint64_t)prompt);
  first += 1e3 * (now() - start);
  for (i = 0; i < count; ++i)
    times[i] = append(prompt + i, 1);
  qsort(times, (size_t)count, sizeof *times, compare);
  printf("%.6f %.6f\n", first, times[count / 2]);
}

static void write_logits(int64_t prompt, const char *path) {
  uint64_t variant = find_variant(prompt);
  const GlowishSymbol *logits = find_symbol(variant, "logits");
  FILE *file = fopen(path, "wb");
  append(0, prompt);
  if (!file ||
      fwrite(regions[variant] + logits->offset +
                 ((uint64_t)prompt - 1) * logits->dims[2] * sizeof(float),
             sizeof(float), logits->dims[2], file) != logits->dims[2] ||
      fclose(file) != 0)
    fail("the logits can't be written");
  puts("written");
}

int main(int argc, char **argv) {
  char line[4096], path[4096];
  long long prompt, count;
  uint64_t i, number = network_variants.numVariants;
  if (argc != 2)
    fail("usage: llm_worker WEIGHTS.bin");
#ifdef BUNDLE_THREADS
  glowish_set_num_threads(BUNDLE_THREADS);
#endif
  weights = read_weights(argv[1]);
  arena = (uint8_t *)allocate(network_variants.activationsMemSize);
  regions = (uint8_t **)calloc(number, sizeof *regions);
  for (i = 0; i < number; ++i)
    regions[i] = (uint8_t *)allocate(
        network_variants.variants[i].config.mutableWeightVarsMemSize);
  puts("ready {}");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "run %lld %lld", &prompt, &count) == 2)
      run(prompt, count);
    else if (sscanf(line, "logits %lld %4095s", &prompt, path) == 2)
      write_logits(prompt, path);
    else
      fail("a line is neither 'run' nor 'logits'");
    fflush(stdout);
  }
  return 0;
}
