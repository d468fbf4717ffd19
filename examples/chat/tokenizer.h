/* Text as tokens: numbers ("ids") that stand for pieces of text. */
#ifndef TOKENIZER_H
#define TOKENIZER_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
  const uint8_t *bytes;
  int32_t length, id;
  int32_t byte; /* that it stands for, or -1 */
  float score;  /* the pair of pieces that makes the best one is merged first */
} Piece;

typedef struct {
  int32_t count;
  Piece *pieces, *sorted; /* by ids, by bytes */
  int32_t ids[256];       /* of each byte */
} Tokenizer;

/* The pieces of a file, which stays in memory:
 *   int32 length of the longest piece
 *   for each id from 0: float score, int32 length, the bytes
 * all little-endian, as the machines that bundles are for. Pieces "<0x00>" ...
 * "<0xFF>" stand for bytes; id 0 for a byte that has none. Returns NULL, or
 * what is wrong with the file. */
const char *parseTokenizer(Tokenizer *tokenizer, const uint8_t *file,
                           size_t size);

/* Writes the ids of a text, which begins as a word after a space does, and
 * returns how many there are: at most one more than the text has bytes. ids has
 * space for twice as many. */
int32_t encode(const Tokenizer *tokenizer, const char *text, int32_t *ids);

#endif
