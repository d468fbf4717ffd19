/* generate.c: greedy text of a language model whose cache is a state of its
 * bundle (network.h, static API). Two conversations share the weights; the
 * first ids are the prompt, which is given in pieces.
 *
 *   generate COUNT PIECE... -- ID...
 *
 * prints COUNT ids: those given, then what the model says. PIECE: how many ids
 * the calls take until the prompt is used up, again and again; the second
 * conversation takes one at a time. LENGTH, PAST, LENGTH_MOST, PAST_MOST: the
 * macros of the inputs that state the lengths of the tokens and of the cache.
 */
#include "network.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_IDS = 4096, GUARD = 64 };

typedef struct {
  uint8_t *state;
  int64_t ids[MOST_IDS];
  int64_t length; /* of the cache */
} Conversation;

static uint8_t *allocate(size_t size) {
  /* What the cache and the arena hold at first must not matter: NaN. */
  size_t whole = (size + GUARD + NETWORK_MEM_ALIGN - 1) / NETWORK_MEM_ALIGN *
                 NETWORK_MEM_ALIGN;
  uint8_t *bytes = aligned_alloc(NETWORK_MEM_ALIGN, whole);
  if (!bytes)
    exit(1);
  memset(bytes, 0xff, whole);
  return bytes;
}

static int isGuarded(const uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < GUARD; ++i)
    if (bytes[size + i] != 0xff)
      return 0;
  return 1;
}

/* Appends ids length ... length + count - 1; returns the status. */
static int append(Conversation *c, uint8_t *arena, int64_t count) {
  int64_t *tokens = (int64_t *)(c->state + NETWORK_input_ids);
  for (int64_t i = 0; i < count; ++i)
    tokens[i] = c->ids[c->length + i];
#ifdef NETWORK_position_ids
  int64_t *positions = (int64_t *)(c->state + NETWORK_position_ids);
  for (int64_t i = 0; i < count; ++i)
    positions[i] = c->length + i;
#endif
  memcpy(c->state + LENGTH, &count, sizeof(count));
  memcpy(c->state + PAST, &c->length, sizeof(c->length));
  int status = network(network_weights, c->state, arena);
  if (status == GLOWISH_SUCCESS)
    c->length += count;
  return status;
}

static int64_t pickBest(const Conversation *c, int64_t count) {
  static const uint32_t dims[] = NETWORK_logits_DIMS;
  const float *logits = (const float *)(c->state + NETWORK_logits) +
                        (count - 1) * (int64_t)dims[2];
  int64_t best = 0;
  for (int64_t i = 1; i < (int64_t)dims[2]; ++i)
    if (logits[i] > logits[best])
      best = i;
  return best;
}

/* Extents out of their ranges: an error, and nothing is written. `before`: for
 * a copy of the state; new memory in each call would take most of the time. */
static int refuses(Conversation *c, uint8_t *before, uint8_t *arena) {
  static const int64_t wrong[][2] = {
      {1, PAST_MOST + 1}, {1, -1},       {1, INT64_MAX},
      {1, INT64_MIN},     {0, 0},        {LENGTH_MOST + 1, 0},
      {-1, PAST_MOST},    {INT64_MAX, 1}};
  int isRefused = 1;
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
    memcpy(c->state + LENGTH, &wrong[i][0], sizeof(int64_t));
    memcpy(c->state + PAST, &wrong[i][1], sizeof(int64_t));
    memcpy(before, c->state, NETWORK_MUTABLE_MEM_SIZE);
    isRefused &=
        network(network_weights, c->state, arena) == GLOWISH_ERROR_DIMENSION &&
        memcmp(before, c->state, NETWORK_MUTABLE_MEM_SIZE) == 0;
  }
  return isRefused;
}

/* A cache of NaNs, and ids that no token has: the call returns, and writes
 * nothing outside of its memory. */
static int survives(uint8_t *arena) {
  Conversation corrupt = {.state = allocate(NETWORK_MUTABLE_MEM_SIZE),
                          .length = PAST_MOST};
  corrupt.ids[PAST_MOST] = INT64_MIN;
  int isRight = append(&corrupt, arena, 1) == GLOWISH_SUCCESS &&
                isGuarded(corrupt.state, NETWORK_MUTABLE_MEM_SIZE);
  free(corrupt.state);
  return isRight;
}

int main(int argc, char **argv) {
  static Conversation first, second;
  Conversation *both[2];
  int64_t pieces[64], numPieces = 0, numIds = 0, count = atoll(argv[1]);
  int i = 2;
  for (; strcmp(argv[i], "--") != 0; ++i)
    pieces[numPieces++] = atoll(argv[i]);
  for (++i; i < argc; ++i, ++numIds)
    first.ids[numIds] = second.ids[numIds] = atoll(argv[i]);
  uint8_t *arena = allocate(NETWORK_ACTIVATIONS_MEM_SIZE);
  uint8_t *before = allocate(NETWORK_MUTABLE_MEM_SIZE);
  both[0] = &first, both[1] = &second;
  for (i = 0; i < 2; ++i)
    both[i]->state = allocate(NETWORK_MUTABLE_MEM_SIZE);
  for (int64_t turn = 0; first.length < count - 1; ++turn)
    for (i = 0; i < 2; ++i) {
      Conversation *c = both[i];
      int64_t left = numIds - c->length;
      int64_t piece = i == 0 ? pieces[turn % numPieces] : 1;
      piece = left < 1 ? 1 : piece < left ? piece : left;
      if (c->length >= count - 1)
        continue;
      if (!refuses(c, before, arena) ||
          append(c, arena, piece) != GLOWISH_SUCCESS)
        return 1;
      if (c->length >= numIds)
        c->ids[c->length] = pickBest(c, piece);
    }
  while (second.length < count - 1) {
    if (append(&second, arena, 1) != GLOWISH_SUCCESS)
      return 2;
    if (second.length >= numIds)
      second.ids[second.length] = pickBest(&second, 1);
  }
  if (memcmp(first.ids, second.ids, (size_t)count * sizeof(int64_t)) != 0 ||
      !isGuarded(arena, NETWORK_ACTIVATIONS_MEM_SIZE) ||
      !isGuarded(first.state, NETWORK_MUTABLE_MEM_SIZE) ||
      !isGuarded(second.state, NETWORK_MUTABLE_MEM_SIZE))
    return 3;
  if (!survives(arena) || !isGuarded(arena, NETWORK_ACTIVATIONS_MEM_SIZE))
    return 4;
  for (i = 0; i < count; ++i)
    printf("%lld\n", (long long)first.ids[i]);
  free(arena);
  free(before);
  free(first.state);
  free(second.state);
  return 0;
}
