#include "tokenizer.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1, NUMBERS = 8 /* bytes of score and length */ };

static int comparePieces(const void *a, const void *b) {
  const Piece *x = a, *y = b;
  int32_t least = x->length < y->length ? x->length : y->length;
  int order = memcmp(x->bytes, y->bytes, (size_t)least);
  return order ? order : (x->length > y->length) - (x->length < y->length);
}

static int32_t findPiece(const Tokenizer *t, const void *bytes, size_t length) {
  Piece key = {.bytes = bytes, .length = (int32_t)length};
  const Piece *found =
      bsearch(&key, t->sorted, (size_t)t->count, sizeof(key), comparePieces);
  return found ? found->id : NONE;
}

/* Sorts the pieces, and finds those of bytes. */
static void indexPieces(Tokenizer *t) {
  memcpy(t->sorted, t->pieces, sizeof(Piece) * (size_t)t->count);
  qsort(t->sorted, (size_t)t->count, sizeof(Piece), comparePieces);
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    snprintf(name, sizeof(name), "<0x%02X>", (unsigned)byte);
    int32_t id = findPiece(t, name, strlen(name));
    t->ids[byte] = id == NONE ? 0 : id;
    if (id != NONE)
      t->pieces[id].byte = byte;
  }
}

const char *parseTokenizer(Tokenizer *t, const uint8_t *file, size_t size) {
  int32_t longest;
  if (size <= sizeof(longest) || size > INT32_MAX)
    return "it is too short or too long";
  memcpy(&longest, file, sizeof(longest));
  t->count = 0;
  t->pieces = malloc(sizeof(Piece) * (size / NUMBERS + 1));
  t->sorted = malloc(sizeof(Piece) * (size / NUMBERS + 1));
  if (!t->pieces || !t->sorted)
    return "there is no memory for it";
  for (size_t at = sizeof(longest); at < size;) {
    if (size - at < NUMBERS)
      return "it ends within a token";
    Piece *piece = &t->pieces[t->count];
    memcpy(&piece->score, file + at, sizeof(piece->score));
    memcpy(&piece->length, file + at + 4, sizeof(piece->length));
    at += NUMBERS;
    if (isnan(piece->score) || piece->length < 1 || piece->length > longest)
      return "a token has an impossible score or length";
    if ((size_t)piece->length > size - at)
      return "it ends within a token";
    piece->bytes = file + at;
    piece->byte = -1;
    piece->id = t->count++;
    at += (size_t)piece->length;
  }
  indexPieces(t);
  return NULL;
}

/* The ids of characters, or of their bytes where a character has no piece. */
static int32_t encodeCharacters(const Tokenizer *t, const uint8_t *text,
                                int32_t *ids) {
  int32_t count = 0;
  for (const uint8_t *end; *text; text = end) {
    /* In UTF-8, the bytes after a character's first one are 10xxxxxx. */
    for (end = text + 1; (*end & 0xC0) == 0x80 && end - text < 4;)
      ++end;
    int32_t id = findPiece(t, text, (size_t)(end - text));
    if (id != NONE)
      ids[count++] = id;
    else
      while (text < end)
        ids[count++] = t->ids[*text++];
  }
  return count;
}

/* The id of two pieces together, or NONE. */
static int32_t mergePair(const Tokenizer *t, const int32_t *pair) {
  uint8_t both[256];
  const Piece *a = &t->pieces[pair[0]], *b = &t->pieces[pair[1]];
  size_t first = (size_t)a->length, second = (size_t)b->length;
  if (first + second > sizeof(both))
    return NONE;
  memcpy(both, a->bytes, first);
  memcpy(both + first, b->bytes, second);
  return findPiece(t, both, first + second);
}

/* Merges the pair with the best score (the first one of several) until no two
 * neighbours are a piece. merged: space for as many ids. */
static int32_t mergeAll(const Tokenizer *t, int32_t *ids, int32_t count,
                        int32_t *merged) {
  for (int32_t i = 0; i + 1 < count; ++i)
    merged[i] = mergePair(t, ids + i);
  for (;; --count) {
    int32_t best = NONE;
    float score = 0;
    for (int32_t i = 0; i + 1 < count; ++i)
      if (merged[i] != NONE &&
          (best == NONE || t->pieces[merged[i]].score > score))
        score = t->pieces[merged[best = i]].score;
    if (best == NONE)
      return count;
    ids[best] = merged[best];
    size_t after = sizeof(*ids) * (size_t)(count - best - 2);
    memmove(ids + best + 1, ids + best + 2, after);
    memmove(merged + best, merged + best + 1, after);
    if (best > 0)
      merged[best - 1] = mergePair(t, ids + best - 1);
    if (best + 2 < count)
      merged[best] = mergePair(t, ids + best);
  }
}

int32_t encode(const Tokenizer *t, const char *text, int32_t *ids) {
  if (!*text)
    return 0;
  int32_t count = encodeCharacters(t, (const uint8_t *)" ", ids);
  count += encodeCharacters(t, (const uint8_t *)text, ids + count);
  return mergeAll(t, ids, count, ids + count);
}
