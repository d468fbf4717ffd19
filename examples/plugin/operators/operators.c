/* Operators in a library of its own: one with a kernel, one that is composed of
 * glowish's nodes. */

#include "median.h"
#include <glowish_operators.h>
#include <stdio.h>
#include <string.h>

static int fail(struct glowish_message *message, const char *text) {
  snprintf(message->text, message->size, "%s", text);
  return 1;
}

static const struct glowish_attribute *find(const struct glowish_call *call,
                                            const char *name) {
  for (int32_t i = 0; i < call->num_attributes; ++i)
    if (strcmp(call->attributes[i].name, name) == 0)
      return &call->attributes[i];
  return NULL;
}

/* Median: the median of `size` neighbours along the last dimension, of which
 * the first and last elements stand for those outside. */

static int infer_median(const struct glowish_call *call,
                        struct glowish_type *types,
                        struct glowish_message *message) {
  if (call->num_inputs != 1 || call->inputs[0].kind != GLOWISH_FLOAT ||
      call->inputs[0].rank < 1)
    return fail(message, "accepted: one input of floats with a dimension");
  if (call->inputs[0].rank > GLOWISH_MAX_RANK)
    return fail(message, "the input has too many dimensions");
  const struct glowish_attribute *size = find(call, "size");
  if (!size || size->type != GLOWISH_INTS || size->is_list ||
      size->ints[0] < 1 || size->ints[0] > MEDIAN_MOST ||
      size->ints[0] % 2 == 0)
    return fail(message, "accepted: an attribute size that is odd and at most "
                         "31");
  types[0].kind = GLOWISH_FLOAT;
  types[0].rank = call->inputs[0].rank;
  memcpy(types[0].extents, call->inputs[0].extents,
         (size_t)types[0].rank * sizeof(int64_t));
  return 0;
}

/* Without the kernel's ideas: each median by counting. */
static int median_reference(const struct glowish_call *call) {
  const struct glowish_tensor *input = &call->inputs[0];
  const float *in = input->data;
  float *out = call->outputs[0].data;
  int64_t size = find(call, "size")->ints[0];
  int64_t length = input->extents[input->rank - 1], rows = 1;
  for (int32_t d = 0; d + 1 < input->rank; ++d)
    rows *= input->extents[d];
  for (int64_t row = 0; row < rows; ++row, in += length, out += length)
    for (int64_t i = 0; i < length; ++i)
      for (int64_t k = 0; k < size; ++k) {
        float candidate = in[median_clamp(i + k - size / 2, length)];
        int64_t less = 0, equal = 0;
        for (int64_t other = 0; other < size; ++other) {
          float value = in[median_clamp(i + other - size / 2, length)];
          less += value < candidate;
          equal += value == candidate;
        }
        if (less <= size / 2 && size / 2 < less + equal)
          out[i] = candidate;
      }
  return 0;
}

/* Swish: x * sigmoid(beta * x). */

static const char *compose_swish(const struct glowish_call *call,
                                 struct glowish_message *message) {
  static char text[2048];
  char type[512] = "";
  if (call->num_inputs != 1 || call->inputs[0].kind != GLOWISH_FLOAT) {
    fail(message, "accepted: one input of floats");
    return NULL;
  }
  const struct glowish_attribute *beta = find(call, "beta");
  size_t length = (size_t)snprintf(type, sizeof(type), "float<");
  for (int32_t d = 0; d < call->inputs[0].rank && length < sizeof(type); ++d)
    length +=
        (size_t)snprintf(type + length, sizeof(type) - length, "%s%lld",
                         d ? "x" : "", (long long)call->inputs[0].extents[d]);
  if (length + 1 >= sizeof(type)) {
    fail(message, "the input has too many dimensions");
    return NULL;
  }
  strcat(type, ">");
  snprintf(text, sizeof(text),
           "constant %%beta : float<> = [%.9g]\n"
           "body \"swish\" (%%x : %s) -> (%%y : %s) {\n"
           "  %%scaled = Mul(%%x, %%beta) : %s\n"
           "  %%gate = Sigmoid(%%scaled) : %s\n"
           "  %%gated = Mul(%%x, %%gate) : %s\n"
           "  Save(%%gated, %%y)\n"
           "}\n",
           beta ? beta->floats[0] : 1.0, type, type, type, type, type);
  return text;
}

#ifdef MEDIAN_OBJECT
static const struct glowish_object median_objects[] = {
    {MEDIAN_TARGET, MEDIAN_OBJECT}};
#endif

static const struct glowish_operator all[] = {
    {
        .domain = "com.example",
        .name = "Median",
        .schema = "com_example::Median(Tensor x, int size=3) -> Tensor",
        .infer = infer_median,
        .reference = median_reference,
        .kernel = example_median,
        .function = "example_median",
#ifdef MEDIAN_OBJECT
        .objects = median_objects,
        .num_objects = 1,
#endif
    },
    {.domain = "com.example", .name = "Swish", .compose = compose_swish},
};

const struct glowish_operators *glowish_get_operators(void) {
  static const struct glowish_operators operators = {
      .version = GLOWISH_OPERATORS_VERSION,
      .num_operators = sizeof(all) / sizeof(all[0]),
      .operators = all,
  };
  return &operators;
}
