/* The interface of shared libraries that bring operators (-operators=FILE). It
 * is C: any compiler and language will do, and nothing of glowish is linked. A
 * library has one function with C linkage:
 *
 *   const struct glowish_operators *glowish_get_operators(void);
 *
 * What it returns stays valid as long as the library is loaded. */
#ifndef GLOWISH_PLUGIN_GLOWISH_OPERATORS_H
#define GLOWISH_PLUGIN_GLOWISH_OPERATORS_H

#include "glowish_call.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever one of the structures here or in glowish_call.h does. */
#define GLOWISH_OPERATORS_VERSION 1

#define GLOWISH_MAX_RANK 16

/* The type of a result. */
struct glowish_type {
  int32_t kind;
  int32_t rank;
  int64_t extents[GLOWISH_MAX_RANK];
};

/* Where a function explains in one line why it can't do its work. */
struct glowish_message {
  char *text;
  size_t size;
};

/* An object file that defines an operator's function for a target. */
struct glowish_object {
  /* As -target has it: "x86_64-unknown-linux-gnu". Architecture, system and
   * environment must be the target's. */
  const char *target;
  /* A relative path begins at the folder of the library. */
  const char *path;
};

/* An operator. Functions that state types or compose nodes run in a process of
 * their own: what they change is lost. There the data of inputs are null unless
 * they are constant, and those of outputs are null. */
struct glowish_operator {
  /* "com.example" and "Foo": an ONNX node Foo of the domain com.example,
   * PyTorch's operator foo of the namespace mylib, and Foo of "caffe2". */
  const char *domain;
  const char *name;
  /* The first and the last opset of the domain; 0: any. */
  int32_t first_opset;
  int32_t last_opset;
  /* In PyTorch's notation, "mylib::foo(Tensor x, int axis=0) -> Tensor": what
   * TorchScript needs to read a program with it. Null if there is none. */
  const char *schema;

  /* Writes the type of each output. 0, or else a message. */
  int (*infer)(const struct glowish_call *call, struct glowish_type *types,
               struct glowish_message *message);
  /* Returns the operator composed of glowish's nodes: constants and a body in
   * the text form of the graph (docs/text-forms.md), with a parameter for each
   * input that the operator has, and a result for each output:
   *
   *   constant %half : float<> = [0.5]
   *   body "halve" (%x : float<2x3>) -> (%y : float<2x3>) {
   *     %mul = Mul(%x, %half) : float<2x3>
   *     Save(%mul, %y)
   *   }
   *
   * The operator is compiled like those that glowish knows then, and the other
   * functions are not needed. Null, with a message, if it can't. */
  const char *(*compose)(const struct glowish_call *call,
                         struct glowish_message *message);

  /* Plain code that the others are checked against: the interpreter calls it.
   */
  glowish_function *reference;
  /* What the network calls when it is compiled to be run at once. Null:
   * `reference`. */
  glowish_function *kernel;
  /* The name in C of the glowish_function that bundles call, which is in an
   * object of the list or in the application. Null: domain and name, joined and
   * made a name in C: "com_example_Foo". */
  const char *function;
  const struct glowish_object *objects;
  int32_t num_objects;
};

struct glowish_operators {
  /* GLOWISH_OPERATORS_VERSION. */
  uint32_t version;
  int32_t num_operators;
  const struct glowish_operator *operators;
};

typedef const struct glowish_operators *glowish_get_operators_function(void);

#ifdef __cplusplus
}
#endif

#endif
