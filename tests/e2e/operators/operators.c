/* Operators of a plug-in that the test of plug-ins uses: such as tell what they
 * are called with, and such as do what they must not. */

#include <assert.h>
#include <glowish_operators.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef VERSION
#define VERSION GLOWISH_OPERATORS_VERSION
#endif

/* Describe: all that a call has, as doubles: the numbers of inputs, outputs and
 * attributes; kind, rank and extents of each input, and the sum of its bytes;
 * of each attribute the sum of its name's characters, type, is_list and count,
 * and its elements, of strings the sums of characters. The second output is the
 * number of them. */

#define MOST 64

static double sum_bytes(const void *data, size_t size) {
  const unsigned char *bytes = data;
  double sum = 0;
  for (size_t i = 0; i < size; ++i)
    sum += bytes[i];
  return sum;
}

static size_t get_size(const struct glowish_tensor *tensor) {
  static const size_t sizes[] = {4, 2, 2, 8, 1, 1, 2, 2, 4, 4, 8, 8, 1};
  size_t size = sizes[tensor->kind];
  for (int32_t d = 0; d < tensor->rank; ++d)
    size *= (size_t)tensor->extents[d];
  return size;
}

static int describe(const struct glowish_call *call) {
  double *out = call->outputs[0].data;
  int64_t count = 0;
  memset(out, 0, MOST * sizeof(double));
  out[count++] = call->num_inputs;
  out[count++] = call->num_outputs;
  out[count++] = call->num_attributes;
  for (int32_t i = 0; i < call->num_inputs; ++i) {
    const struct glowish_tensor *input = &call->inputs[i];
    out[count++] = input->kind;
    if (input->kind == GLOWISH_ABSENT) {
      if (input->data || input->rank)
        return 1;
      continue;
    }
    out[count++] = input->rank;
    for (int32_t d = 0; d < input->rank; ++d)
      out[count++] = (double)input->extents[d];
    out[count++] = sum_bytes(input->data, get_size(input));
  }
  for (int32_t i = 0; i < call->num_attributes; ++i) {
    const struct glowish_attribute *attribute = &call->attributes[i];
    out[count++] = sum_bytes(attribute->name, strlen(attribute->name));
    out[count++] = attribute->type;
    out[count++] = attribute->is_list;
    out[count++] = (double)attribute->count;
    for (int64_t k = 0; k < attribute->count; ++k)
      out[count++] =
          attribute->type == GLOWISH_INTS ? (double)attribute->ints[k]
          : attribute->type == GLOWISH_FLOATS
              ? attribute->floats[k]
              : sum_bytes(attribute->strings[k], strlen(attribute->strings[k]));
  }
  if (call->num_outputs > 1)
    *(int64_t *)call->outputs[1].data = count;
  return 0;
}

static int infer_describe(const struct glowish_call *call,
                          struct glowish_type *types,
                          struct glowish_message *message) {
  (void)message;
  types[0] = (struct glowish_type){GLOWISH_DOUBLE, 1, {MOST}};
  if (call->num_outputs > 1)
    types[1] = (struct glowish_type){GLOWISH_INT64, 0, {0}};
  return 0;
}

/* Repeat: the first input, repeated as often as the constant second one says.
 */

static int infer_repeat(const struct glowish_call *call,
                        struct glowish_type *types,
                        struct glowish_message *message) {
  if (!call->inputs[1].data) {
    snprintf(message->text, message->size, "accepted: a constant number");
    return 1;
  }
  types[0].kind = call->inputs[0].kind;
  types[0].rank = 1;
  types[0].extents[0] =
      *(const int64_t *)call->inputs[1].data * call->inputs[0].extents[0];
  return 0;
}

static int repeat(const struct glowish_call *call) {
  size_t size = get_size(&call->inputs[0]);
  for (int64_t i = 0; i < *(const int64_t *)call->inputs[1].data; ++i)
    memcpy((char *)call->outputs[0].data + (size_t)i * size,
           call->inputs[0].data, size);
  return 0;
}

/* Positive: the input, which must be positive. The kernel adds 1000, so that it
 * shows which of the two ran. */

static int infer_same(const struct glowish_call *call,
                      struct glowish_type *types,
                      struct glowish_message *message) {
  (void)message;
  types[0].kind = call->inputs[0].kind;
  types[0].rank = call->inputs[0].rank;
  for (int32_t d = 0; d < call->inputs[0].rank; ++d)
    types[0].extents[d] = call->inputs[0].extents[d];
  return 0;
}

static int copy_positive(const struct glowish_call *call, float plus) {
  const float *in = call->inputs[0].data;
  float *out = call->outputs[0].data;
  size_t count = get_size(&call->inputs[0]) / sizeof(float);
  for (size_t i = 0; i < count; ++i) {
    if (!(in[i] > 0))
      return 7;
    out[i] = in[i] + plus;
  }
  return 0;
}
static int positive(const struct glowish_call *call) {
  return copy_positive(call, 0);
}
static int positive_kernel(const struct glowish_call *call) {
  return copy_positive(call, 1000);
}

/* Scale: the input, which a program gives it to be written, times a factor.
 * Collect: twice the first input; and what becomes of the others, to which it
 * is added. Grow: writes what the argument has no space for. */

static int scale(const struct glowish_call *call) {
  const float *in = call->inputs[0].data;
  float *out = call->outputs[0].data;
  size_t count = get_size(&call->inputs[0]) / sizeof(float);
  for (size_t i = 0; i < count; ++i)
    out[i] = in[i] * (float)call->attributes[0].floats[0];
  return 0;
}

static int infer_collect(const struct glowish_call *call,
                         struct glowish_type *types,
                         struct glowish_message *message) {
  if (call->num_outputs != call->num_inputs) {
    snprintf(message->text, message->size, "%d outputs", call->num_outputs);
    return 1;
  }
  for (int32_t k = 0; k < call->num_outputs; ++k) {
    types[k].kind = GLOWISH_FLOAT;
    types[k].rank = call->inputs[k].rank;
    for (int32_t d = 0; d < call->inputs[k].rank; ++d)
      types[k].extents[d] = call->inputs[k].extents[d];
  }
  return 0;
}

static int collect(const struct glowish_call *call) {
  const float *x = call->inputs[0].data;
  size_t count = get_size(&call->inputs[0]) / sizeof(float);
  for (int32_t k = 0; k < call->num_outputs; ++k)
    for (size_t i = 0; i < count; ++i)
      ((float *)call->outputs[k].data)[i] =
          ((const float *)call->inputs[k].data)[i] + x[i];
  return 0;
}

static int infer_grow(const struct glowish_call *call,
                      struct glowish_type *types,
                      struct glowish_message *message) {
  (void)call, (void)message;
  types[0] = (struct glowish_type){GLOWISH_FLOAT, 1, {99}};
  return 0;
}

/* Those that fail. */

#define INFER(NAME, ...)                                                       \
  static int infer_##NAME(const struct glowish_call *call,                     \
                          struct glowish_type *types,                          \
                          struct glowish_message *message) {                   \
    (void)call, (void)types, (void)message;                                    \
    __VA_ARGS__                                                                \
    return 0;                                                                  \
  }
INFER(segfault, *(volatile int *)0 = 0;)
INFER(assertion, assert(call->num_inputs == 99);)
INFER(exit, exit(0);)
INFER(forever, for (;;) pause();)
INFER(silent, return 1;)
INFER(long_message, memset(message->text, 'x', message->size); return 1;)
INFER(kind, types[0].kind = 99;)
INFER(quantized, types[0].kind = 13;)
INFER(rank, types[0].rank = 17;)
INFER(negative, types[0].rank = 1; types[0].extents[0] = -1;)
INFER(huge, types[0].rank = 2;
      types[0].extents[0] = types[0].extents[1] = (int64_t)1 << 40;)

#define COMPOSE(NAME, TEXT)                                                    \
  static const char *compose_##NAME(const struct glowish_call *call,           \
                                    struct glowish_message *message) {         \
    (void)call, (void)message;                                                 \
    return TEXT;                                                               \
  }
COMPOSE(null, NULL)
COMPOSE(syntax, "body \"b\" (%x : float<2>) -> (%y : float<2>) {\n  Bogus")
COMPOSE(node, "body \"b\" (%x : float<2>) -> (%y : float<2>) {\n"
              "  %z = Add(%x) : float<2>\n  Save(%z, %y)\n}")
COMPOSE(parameters, "body \"b\" (%x : float<3>) -> (%y : float<3>) {\n"
                    "  Save(%x, %y)\n}")
COMPOSE(save, "body \"b\" (%x : float<2>) -> (%y : float<2>) {\n}")
COMPOSE(crash, (abort(), NULL))
/* The names are those of the model. */
COMPOSE(twice, "constant %w : float<2> = [10.0, 20.0]\n"
               "body \"x\" (%x : float<2>) -> (%y : float<2>) {\n"
               "  %z = Add(%x, %w) : float<2>\n  Save(%z, %y)\n}")

#define FAILING(NAME)                                                          \
  {.domain = "test",                                                           \
   .name = #NAME,                                                              \
   .infer = infer_##NAME,                                                      \
   .reference = positive,                                                      \
   .function = "test_" #NAME}
#define COMPOSED(NAME)                                                         \
  {.domain = "test", .name = "compose_" #NAME, .compose = compose_##NAME}

static const struct glowish_operator all[] = {
    {.domain = "test",
     .name = "Describe",
     .infer = infer_describe,
     .reference = describe,
     .schema = "test::Describe(Tensor a, Tensor? b=None, int n=4, float[] "
               "f=[], str s='x', bool flag=True) -> Tensor"},
    {.domain = "caffe2",
     .name = "Describe",
     .infer = infer_describe,
     .reference = describe},
    {.domain = "tflite",
     .name = "Describe",
     .infer = infer_describe,
     .reference = describe},
    {.domain = "test",
     .name = "Repeat",
     .infer = infer_repeat,
     .reference = repeat},
    {.domain = "test",
     .name = "Positive",
     .first_opset = 2,
     .last_opset = 3,
     .infer = infer_same,
     .reference = positive,
     .kernel = positive_kernel},
    {.domain = "writing",
     .name = "scale_",
     .infer = infer_same,
     .reference = scale,
     .schema = "writing::scale_(Tensor(a!) x, float factor=2.0) -> Tensor(a!)"},
    {.domain = "writing",
     .name = "collect",
     .infer = infer_collect,
     .reference = collect,
     .schema =
         "writing::collect(Tensor x, Tensor(a!) total, Tensor(b!)[] all) -> "
         "Tensor"},
    {.domain = "writing",
     .name = "note_",
     .infer = infer_same,
     .reference = scale,
     .schema = "writing::note_(Tensor(a!) x, float factor=2.0) -> ()"},
    {.domain = "writing",
     .name = "grow_",
     .infer = infer_grow,
     .reference = positive,
     .schema = "writing::grow_(Tensor(a!) x) -> Tensor(a!)"},
    {.domain = "writing",
     .name = "view",
     .infer = infer_same,
     .reference = positive,
     .schema = "writing::view(Tensor(a) x) -> Tensor(a)"},
    {.domain = "writing",
     .name = "part_",
     .infer = infer_same,
     .reference = positive,
     .schema = "writing::part_(Tensor(a!) x) -> Tensor(a)"},
    FAILING(segfault),
    FAILING(assertion),
    FAILING(exit),
    FAILING(forever),
    FAILING(silent),
    FAILING(long_message),
    FAILING(kind),
    FAILING(quantized),
    FAILING(rank),
    FAILING(negative),
    FAILING(huge),
    COMPOSED(null),
    COMPOSED(syntax),
    COMPOSED(node),
    COMPOSED(parameters),
    COMPOSED(save),
    COMPOSED(crash),
    COMPOSED(twice),
#ifdef NO_REFERENCE
    {.domain = "test", .name = "NoReference", .infer = infer_same},
#endif
#ifdef TWICE
    {.domain = "test",
     .name = "Repeat",
     .infer = infer_repeat,
     .reference = repeat,
     .function = "another"},
#endif
#ifdef SAME_FUNCTION
    {.domain = "test",
     .name = "Another",
     .infer = infer_repeat,
     .reference = repeat,
     .function = "test_Repeat"},
#endif
};

const struct glowish_operators *glowish_get_operators(void) {
#ifdef NULL_LIST
  return NULL;
#endif
  static const struct glowish_operators operators = {
      .version = VERSION,
      .num_operators = sizeof(all) / sizeof(all[0]),
      .operators = all,
  };
  return &operators;
}
