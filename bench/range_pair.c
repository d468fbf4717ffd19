/* Runs two bundles of a model in turns, one for fixed extents (fixed_model.h,
 * dynamic API) and one for a range of one of them (ranged_model.h), on the same
 * inputs; for bench/ranges.mjs.
 *
 *   range_pair FIXED.bin RANGED.bin SECONDS NAME=VALUE...
 *
 * NAME=VALUE: the extents that the second is told, which are inputs. Prints as
 * JSON the median milliseconds of both, the median of ranged / fixed within a
 * round, and whether all elements of all outputs have the same bits. */
#define _DEFAULT_SOURCE
#include "clock.h"
#include "fixed_model.h"
#include "huge_pages.h"
#include "median.h"
#include "ranged_model.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_ROUNDS = 9, MOST_ROUNDS = 2000 };
static const double LEAST_TURN_MS = 0.2;

typedef struct {
  const BundleConfig *config;
  int (*entry)(const uint8_t *weights, uint8_t *region, uint8_t *arena);
  uint8_t *weights, *region, *arena;
} Bundle;

static Bundle fixed = {&fixed_model_config, fixed_model, NULL, NULL, NULL};
static Bundle ranged = {&ranged_model_config, ranged_model, NULL, NULL, NULL};

static void fail(const char *what) {
  fprintf(stderr, "error: %s\n", what);
  exit(1);
}

static void open_bundle(Bundle *bundle, const char *path) {
  uint64_t size = bundle->config->constantWeightVarsMemSize;
  FILE *file = fopen(path, "rb");
  bundle->weights = (uint8_t *)allocate(size);
  bundle->region =
      (uint8_t *)allocate(bundle->config->mutableWeightVarsMemSize);
  bundle->arena = (uint8_t *)allocate(bundle->config->activationsMemSize);
  if (!file || fread(bundle->weights, 1, size, file) != size)
    fail("the weights can't be read");
  fclose(file);
}

static const GlowishSymbol *find(const Bundle *bundle, const char *name) {
  uint64_t i;
  for (i = 0; i < bundle->config->numSymbols; ++i)
    if (strcmp(bundle->config->symbols[i].name, name) == 0)
      return &bundle->config->symbols[i];
  fprintf(stderr, "error: there is no placeholder '%s'\n", name);
  exit(1);
}

static uint64_t count_elements(const GlowishSymbol *symbol) {
  uint64_t count = 1, d;
  for (d = 0; d < symbol->rank; ++d)
    count *= symbol->dims[d];
  return count;
}

static uint64_t get_element_bytes(const GlowishSymbol *symbol) {
  uint64_t count = count_elements(symbol);
  return count ? symbol->bytes / count : 0;
}

/* Where `bundle` has element number `i` of the extents of `of`, which are at
 * most its own. */
static uint8_t *get_element(const Bundle *bundle, const GlowishSymbol *symbol,
                            const GlowishSymbol *of, uint64_t i) {
  uint64_t index = 0, stride = 1, d;
  for (d = of->rank; d-- > 0;) {
    index += i % of->dims[d] * stride;
    i /= of->dims[d];
    stride *= symbol->dims[d];
  }
  return bundle->region + symbol->offset + index * get_element_bytes(symbol);
}

/* Small floats; 0 and 1 of other types, which are indices of any table. */
static void set_inputs(const GlowishSymbol *symbol) {
  const GlowishSymbol *other = find(&ranged, symbol->name);
  uint64_t count = count_elements(symbol), size = get_element_bytes(symbol), i;
  for (i = 0; i < count; ++i) {
    uint8_t *place = get_element(&fixed, symbol, symbol, i);
    float value = (float)(i * 29 % 64) / 64 - 0.5f;
    if (symbol->elementType == GLOWISH_FLOAT)
      memcpy(place, &value, sizeof value);
    else
      *place = (uint8_t)(i % 2);
    memcpy(get_element(&ranged, other, symbol, i), place, size);
  }
}

/* NAME=VALUE. */
static void state(char *text) {
  char *value = strchr(text, '=');
  const GlowishSymbol *symbol;
  int64_t number;
  if (!value)
    fail("the form of an extent is NAME=VALUE");
  *value++ = 0;
  symbol = find(&ranged, text);
  number = strtoll(value, NULL, 10);
  memcpy(ranged.region + symbol->offset, &number, sizeof number);
}

/* The milliseconds of one of `count` runs in a row. */
static double time_runs(const Bundle *bundle, int count) {
  double start = now();
  int i;
  for (i = 0; i < count; ++i)
    if (bundle->entry(bundle->weights, bundle->region, bundle->arena) !=
        GLOWISH_SUCCESS)
      fail("a run failed");
  return 1e3 * (now() - start) / count;
}

/* How many runs make a turn: a program that takes microseconds is to be timed
 * neither with the clock nor with the other one's data in the caches. */
static int count_runs(const Bundle *bundle) {
  return 1 + (int)(LEAST_TURN_MS / time_runs(bundle, 1));
}

static int are_equal(const GlowishSymbol *symbol) {
  const GlowishSymbol *other = find(&ranged, symbol->name);
  uint64_t count = count_elements(symbol), i;
  for (i = 0; i < count; ++i)
    if (memcmp(get_element(&fixed, symbol, symbol, i),
               get_element(&ranged, other, symbol, i),
               get_element_bytes(symbol)) != 0)
      return 0;
  return 1;
}

int main(int argc, char **argv) {
  static double times[2][MOST_ROUNDS], ratios[MOST_ROUNDS];
  int rounds = 0, equal = 1, count, i;
  uint64_t s;
  double end;
  if (argc < 4)
    fail("usage: range_pair FIXED.bin RANGED.bin SECONDS NAME=VALUE...");
  open_bundle(&fixed, argv[1]);
  open_bundle(&ranged, argv[2]);
  for (s = 0; s < fixed.config->numSymbols; ++s)
    if (fixed.config->symbols[s].direction & GLOWISH_INPUT)
      set_inputs(&fixed.config->symbols[s]);
  for (i = 4; i < argc; ++i)
    state(argv[i]);
  time_runs(&ranged, 1);
  time_runs(&fixed, 1);
  count = count_runs(&fixed);
  for (s = 0; s < fixed.config->numSymbols; ++s)
    if (fixed.config->symbols[s].direction & GLOWISH_OUTPUT)
      equal &= are_equal(&fixed.config->symbols[s]);
  end = now() + atof(argv[3]);
  for (; rounds < MOST_ROUNDS && (rounds < LEAST_ROUNDS || now() < end);
       ++rounds) {
    times[0][rounds] = time_runs(&fixed, count);
    times[1][rounds] = time_runs(&ranged, count);
    ratios[rounds] = times[1][rounds] / times[0][rounds];
  }
  printf("{\"fixed\": %.6f, \"ranged\": %.6f, \"ratio\": %.4f, \"rounds\": %d, "
         "\"equal\": %s}\n",
         median(times[0], (size_t)rounds), median(times[1], (size_t)rounds),
         median(ratios, (size_t)rounds), rounds, equal ? "true" : "false");
  return 0;
}
