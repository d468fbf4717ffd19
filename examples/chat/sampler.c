#include "sampler.h"
#include <math.h>
#include <stdlib.h>

/* In [0, 1): the same numbers on every machine. The counter goes around all
 * 2^64 states, and two multiplications spread it over the bits. */
static double drawNumber(uint64_t *state) {
  uint64_t bits = *state += UINT64_C(0x9E3779B97F4A7C15);
  bits = (bits ^ bits >> 32) * UINT64_C(0xD6E8FEB86659FD93);
  bits = (bits ^ bits >> 32) * UINT64_C(0xD6E8FEB86659FD93);
  return (double)((bits ^ bits >> 32) >> 11) / 9007199254740992.0;
}

static int compareCandidates(const void *a, const void *b) {
  const Candidate *x = a, *y = b;
  if (x->chance != y->chance)
    return x->chance < y->chance ? 1 : -1;
  return (x->id > y->id) - (x->id < y->id);
}

int32_t pickToken(Sampler *s, const float *scores, int32_t count) {
  int32_t best = 0;
  for (int32_t i = 1; i < count; ++i)
    best = scores[i] > scores[best] ? i : best;
  if (s->temperature == 0)
    return best;
  for (int32_t i = 0; i < count; ++i) {
    s->candidates[i].chance =
        exp(((double)scores[i] - scores[best]) / s->temperature);
    s->candidates[i].id = i;
  }
  qsort(s->candidates, (size_t)count, sizeof(Candidate), compareCandidates);
  if (s->topK > 0 && s->topK < count)
    count = (int32_t)s->topK;
  double all = 0, kept = 0;
  for (int32_t i = 0; i < count; ++i)
    all += s->candidates[i].chance;
  int32_t numKept = 0;
  do
    kept += s->candidates[numKept++].chance;
  while (numKept < count && kept < s->topP * all);
  double left = drawNumber(&s->state) * kept;
  int32_t i = 0;
  while (i + 1 < numKept && (left -= s->candidates[i].chance) >= 0)
    ++i;
  return s->candidates[i].id;
}
