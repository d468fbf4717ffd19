/* The kernel of the operator Median: a sorted window that moves along each row.
 * It needs nothing but this file, so that its object runs anywhere. */

#include "median.h"

static int64_t find_size(const struct glowish_call *call) {
  for (int32_t i = 0; i < call->num_attributes; ++i) {
    const char *name = call->attributes[i].name;
    if (name[0] == 's' && name[1] == 'i' && name[2] == 'z' && name[3] == 'e' &&
        name[4] == '\0')
      return call->attributes[i].ints[0];
  }
  return 0;
}

static void insert(float *window, int64_t count, float value) {
  int64_t i = count;
  for (; i > 0 && window[i - 1] > value; --i)
    window[i] = window[i - 1];
  window[i] = value;
}

static void erase(float *window, int64_t count, float value) {
  int64_t i = 0;
  while (i + 1 < count && window[i] != value)
    ++i;
  for (; i + 1 < count; ++i)
    window[i] = window[i + 1];
}

int example_median(const struct glowish_call *call) {
  const struct glowish_tensor *input = &call->inputs[0];
  const float *in = input->data;
  float *out = call->outputs[0].data;
  int64_t size = find_size(call), length = input->extents[input->rank - 1];
  if (size < 1 || size > MEDIAN_MOST)
    return 1;
  int64_t rows = length ? 1 : 0;
  for (int32_t d = 0; d + 1 < input->rank; ++d)
    rows *= input->extents[d];
  for (int64_t row = 0; row < rows; ++row, in += length, out += length) {
    float window[MEDIAN_MOST];
    for (int64_t k = 0; k < size; ++k)
      insert(window, k, in[median_clamp(k - size / 2, length)]);
    for (int64_t i = 0; i < length; ++i) {
      out[i] = window[size / 2];
      erase(window, size, in[median_clamp(i - size / 2, length)]);
      insert(window, size - 1, in[median_clamp(i + 1 + size / 2, length)]);
    }
  }
  return 0;
}
