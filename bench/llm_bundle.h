/* A language model whose cache is a state of its bundle (network.h, dynamic
 * API): what bench/llm's programs do with it. Included with _DEFAULT_SOURCE
 * defined, after a function `static char *allocate(size_t)` for zeros.
 *
 * The bundle has one program for each number of tokens that a call takes, which
 * share the weights, or, with -DRANGE, one that each call tells this number.
 * Compiled with -DBUNDLE_THREADS=N for a bundle with threads. TOKENS, PAST: the
 * names of the inputs that state the lengths of the tokens and of the cache. */
#include "network.h"
#ifdef BUNDLE_THREADS
#include "glowish_threads.h"
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const BundleConfig *config;
  /* The cache lies elsewhere in each. */
  uint8_t *region;
  int64_t most; /* tokens that a call takes */
} Program;

static const uint8_t *weights;
static Program *programs;
static uint64_t num_programs;
static uint8_t *arena;
/* The one of the last call, which has the cache. */
static Program *last;

static void fail(const char *what) {
  fprintf(stderr, "error: %s\n", what);
  exit(1);
}

/* Null if the program has no such placeholder. */
static const GlowishSymbol *find_symbol(const Program *program,
                                        const char *name) {
  const BundleConfig *config = program->config;
  uint64_t i;
  for (i = 0; i < config->numSymbols; ++i)
    if (strcmp(config->symbols[i].name, name) == 0)
      return &config->symbols[i];
  return NULL;
}

static uint64_t get_weights_size(void) {
#ifdef RANGE
  return network_config.constantWeightVarsMemSize;
#else
  return network_variants.constantWeightVarsMemSize;
#endif
}

/* `bytes`: the weights, which stay. */
static void open_programs(const uint8_t *bytes) {
  uint64_t i;
#ifdef RANGE
  uint64_t arena_size = network_config.activationsMemSize;
  num_programs = 1;
#else
  uint64_t arena_size = network_variants.activationsMemSize;
  num_programs = network_variants.numVariants;
#endif
#ifdef BUNDLE_THREADS
  glowish_set_num_threads(BUNDLE_THREADS);
#endif
  weights = bytes;
  arena = (uint8_t *)allocate(arena_size);
  programs = (Program *)calloc(num_programs, sizeof *programs);
  for (i = 0; i < num_programs; ++i) {
    Program *program = &programs[i];
#ifdef RANGE
    program->config = &network_config;
#else
    program->config = &network_variants.variants[i].config;
#endif
    program->region =
        (uint8_t *)allocate(program->config->mutableWeightVarsMemSize);
    program->most = (int64_t)find_symbol(program, "input_ids")->dims[1];
  }
}

/* The program for calls with `count` tokens. */
static Program *find_program(int64_t count) {
  uint64_t i;
  for (i = 0; i < num_programs; ++i)
#ifdef RANGE
    if (programs[i].most >= count)
#else
    if (programs[i].most == count)
#endif
      return &programs[i];
  fail("there is no program for so many tokens");
  return NULL;
}

/* Writes value, value + 1, ... to an input of int32 or int64, if the model has
 * it. */
static void set_input(const Program *program, const char *name, int64_t value) {
  const GlowishSymbol *symbol = find_symbol(program, name);
  uint64_t i;
  for (i = 0; symbol && i < symbol->size; ++i, ++value) {
    uint8_t *place = program->region + symbol->offset;
    int32_t small = (int32_t)value;
    if (symbol->elementType == GLOWISH_INT64)
      memcpy(place + 8 * i, &value, sizeof value);
    else
      memcpy(place + 4 * i, &small, sizeof small);
  }
}

static int is_cache(const GlowishSymbol *symbol) {
  return symbol->direction == (GLOWISH_INPUT | GLOWISH_OUTPUT);
}

/* Copies the first `length` rows of each head of the cache from the program of
 * the last call to this one. */
static void enter(Program *program, int64_t length) {
  uint64_t i, head;
  for (i = 0; last && last != program && i < last->config->numSymbols; ++i) {
    const GlowishSymbol *source = &last->config->symbols[i], *target;
    uint64_t row;
    if (!is_cache(source))
      continue;
    target = find_symbol(program, source->name);
    row = sizeof(float) * source->dims[3];
    for (head = 0; head < source->dims[1]; ++head)
      memcpy(program->region + target->offset + head * target->dims[2] * row,
             last->region + source->offset + head * source->dims[2] * row,
             (uint64_t)length * row);
  }
  last = program;
}

/* One call with `count` ids behind a cache of `past`. */
static void append(const int64_t *ids, int64_t past, int64_t count) {
  Program *program = find_program(count);
  int status;
  enter(program, past);
  memcpy(program->region + find_symbol(program, "input_ids")->offset, ids,
         (uint64_t)count * sizeof *ids);
  set_input(program, "position_ids", past);
  set_input(program, "seqlens_k", past + count - 1);
  set_input(program, "total_sequence_length", past + count);
  set_input(program, TOKENS, count);
  set_input(program, PAST, past);
#ifdef RANGE
  status = network(weights, program->region, arena);
#else
  status = network(count, weights, program->region, arena);
#endif
  if (status != GLOWISH_SUCCESS)
    fail("the call failed");
}

static int64_t get_vocabulary(void) {
  return (int64_t)find_symbol(&programs[0], "logits")->dims[2];
}

/* The logits behind a token of the last call, or behind its last one where
 * there are no others. */
static const float *get_logits(int64_t token) {
  const GlowishSymbol *logits = find_symbol(last, "logits");
  const float *rows = (const float *)(last->region + logits->offset);
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
