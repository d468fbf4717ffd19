/* How compiled networks call functions that they do not contain: operators that
 * glowish does not know, of a plug-in or of the application. C99 and C++. */
#ifndef GLOWISH_PLUGIN_GLOWISH_CALL_H
#define GLOWISH_PLUGIN_GLOWISH_CALL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element kinds, by the numbers that bundles have them by. float16 and bfloat16
 * are their bits, bool is a byte that is 0 or 1. Kinds of low precision, float8
 * and integers under 8 bits, have the numbers from 17 on that headers of
 * bundles state, and a byte for each element. */
#define GLOWISH_FLOAT 0
#define GLOWISH_FLOAT16 1
#define GLOWISH_BFLOAT16 2
#define GLOWISH_DOUBLE 3
#define GLOWISH_INT8 4
#define GLOWISH_UINT8 5
#define GLOWISH_INT16 6
#define GLOWISH_UINT16 7
#define GLOWISH_INT32 8
#define GLOWISH_UINT32 9
#define GLOWISH_INT64 10
#define GLOWISH_UINT64 11
#define GLOWISH_BOOL 12

/* The kind of an optional input that the operator does not have; its data are
 * null, its rank is 0. */
#define GLOWISH_ABSENT (-1)

struct glowish_tensor {
  /* The elements in row-major order, without gaps, aligned to their size. */
  void *data;
  const int64_t *extents;
  int32_t rank;
  int32_t kind;
};

/* What an attribute is a list of; a single value is a list of one with
 * is_list = 0. An empty list is one of integers. */
#define GLOWISH_INTS 0
#define GLOWISH_FLOATS 1
#define GLOWISH_STRINGS 2

struct glowish_attribute {
  const char *name;
  /* Of ints, floats and strings the one that `type` names; the others are
   * null. */
  const int64_t *ints;
  const double *floats;
  const char *const *strings;
  int64_t count;
  int32_t type;
  int32_t is_list;
};

struct glowish_call {
  const struct glowish_tensor *inputs;
  const struct glowish_tensor *outputs;
  const struct glowish_attribute *attributes;
  int32_t num_inputs;
  int32_t num_outputs;
  int32_t num_attributes;
};

/* Computes the outputs from the inputs, which do not overlap them, and returns
 * 0; with anything else the network's run ends with an error. It writes nothing
 * but the outputs' elements, keeps no pointer, and returns the same for the
 * same inputs. A network calls it from the thread that runs the network. */
typedef int glowish_function(const struct glowish_call *call);

#ifdef __cplusplus
}
#endif

#endif
