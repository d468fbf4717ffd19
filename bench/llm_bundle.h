/* A language model whose cache is a state of its bundle (network.h, dynamic
 * API): what bench/llm's programs do with it. Included with _DEFAULT_SOURCE
 * defined, after a function `static char *allocate(size_t)` for zeros.
 *
 * Each call states how many tokens it takes and how many the cache has, inputs
 * with the names TOKENS and PAST. Compiled with -DBUNDLE_THREADS=N for a bundle
 * with threads. */
#include "network.h"
#ifdef BUNDLE_THREADS
#include "glowish_threads.h"
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const BundleConfig *const config = &network_config;
static const uint8_t *weights;
static uint8_t *region, *arena;

static void fail(const char *what) {
  fprintf(stderr, "error: %s\n", what);
  exit(1);
}

/* Null if the model has no such placeholder. */
static const GlowishSymbol *find_symbol(const char *name) {
  uint64_t i;
  for (i = 0; i < config->numSymbols; ++i)
    if (strcmp(config->symbols[i].name, name) == 0)
      return &config->symbols[i];
  return NULL;
}

/* `bytes`: the weights, which stay. */
static void open_bundle(const uint8_t *bytes) {
#ifdef BUNDLE_THREADS
  glowish_set_num_threads(BUNDLE_THREADS);
#endif
  weights = bytes;
  region = (uint8_t *)allocate(config->mutableWeightVarsMemSize);
  arena = (uint8_t *)allocate(config->activationsMemSize);
}

/* Writes value, value + 1, ... to the first `count` elements of an input of
 * int32 or int64, if the model has it. */
static void set_input(const char *name, int64_t value, int64_t count) {
  const GlowishSymbol *symbol = find_symbol(name);
  int64_t i;
  for (i = 0; symbol && i < count; ++i, ++value) {
    uint8_t *place = region + symbol->offset;
    int32_t small = (int32_t)value;
    if (symbol->elementType == GLOWISH_INT64)
      memcpy(place + 8 * i, &value, sizeof value);
    else
      memcpy(place + 4 * i, &small, sizeof small);
  }
}

/* One call with `count` ids behind a cache of `past`. */
static void append(const int64_t *ids, int64_t past, int64_t count) {
  const GlowishSymbol *tokens = find_symbol("input_ids");
  if (count > (int64_t)tokens->dims[1])
    fail("a call does not take so many tokens");
  memcpy(region + tokens->offset, ids, (uint64_t)count * sizeof *ids);
  set_input("position_ids", past, count);
  set_input("seqlens_k", past + count - 1, 1);
  set_input("total_sequence_length", past + count, 1);
  set_input(TOKENS, count, 1);
  set_input(PAST, past, 1);
  if (network(weights, region, arena) != GLOWISH_SUCCESS)
    fail("the call failed");
}

static int64_t get_vocabulary(void) {
  return (int64_t)find_symbol("logits")->dims[2];
}

/* The logits behind a token of the last call, or behind its last one where
 * there are no others. */
static const float *get_logits(int64_t token) {
  const GlowishSymbol *logits = find_symbol("logits");
  const float *rows = (const float *)(region + logits->offset);
  return rows + (logits->dims[1] > 1 ? token : 0) * (int64_t)logits->dims[2];
}

/* The likeliest token to follow one of the last call. */
static int64_t pick(int64_t token) {
  const float *row = get_logits(token);
  int64_t i, best = 0, words = get_vocabulary();
  for (i = 1; i < words; ++i)
    if (row[i] > row[best])
      best = i;
  return best;
}
