/* Picks the next token by the scores of all. */
#ifndef SAMPLER_H
#define SAMPLER_H

#include <stdint.h>

typedef struct {
  double chance;
  int32_t id;
} Candidate;

typedef struct {
  double temperature; /* 0: always the best token */
  double topK;        /* only the best K, 0: all */
  double topP;    /* of these, the best that have this share of the chance */
  uint64_t state; /* of the random numbers; at first the seed */
  Candidate *candidates; /* space for all tokens */
} Sampler;

int32_t pickToken(Sampler *sampler, const float *scores, int32_t count);

#endif
