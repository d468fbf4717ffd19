/* glowish.h - the compiler as a library in C: models become bundles, or run in
 * this process. C99 and C++. docs/c-interface.md has examples.
 *
 * Handles are opaque. Functions that can fail return null, or an error that the
 * caller frees. Strings are UTF-8, end with a zero and belong to the handle
 * that they come from. A handle is for one thread at a time, unless stated
 * otherwise; different handles are independent, so that several threads may
 * compile and run at once. The library prints nothing, installs no handlers of
 * signals, and ends the process only where there is no memory, or where LLVM
 * has no instructions for what a target is to compute. It logs to a function of
 * the program that asks for it.
 *
 * The interface only grows: a program that was built with one release runs with
 * any later one of the same major version.
 */
#ifndef GLOWISH_H
#define GLOWISH_H

#include "glowish/Plugin/glowish_call.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when functions are added. */
#define GLOWISH_INTERFACE_VERSION 2

/* GLOWISH_INTERFACE_VERSION of the library that is loaded, and its release,
 * "0.1.0". */
int32_t glowish_interface_version(void);
const char *glowish_release(void);

/* --- Errors -------------------------------------------------------------- */

typedef struct glowish_error glowish_error;

/* A null pointer where none may be, or an index or name that there is not: a
 * mistake of the program. */
#define GLOWISH_ERROR_ARGUMENT 1
/* What the model, an option or the system does not allow; the message is the
 * one that the tools print. */
#define GLOWISH_ERROR_REFUSED 2
/* glowish_job_cancel() was called. */
#define GLOWISH_ERROR_CANCELLED 3

/* One of GLOWISH_ERROR_...; 0 for null. */
int32_t glowish_error_code(const glowish_error *error);
/* One line without its end, or several where there are several errors; "" for
 * null. */
const char *glowish_error_message(const glowish_error *error);
/* As all functions that free, accepts null. */
void glowish_error_free(glowish_error *error);

/* --- The log --------------------------------------------------------------
 * What the compiler decides and warns of, of all compilations in the process.
 */

#define GLOWISH_LOG_INFO 0
#define GLOWISH_LOG_WARNING 1

/* Called with `severity`, one of GLOWISH_LOG_..., the `verbosity` of a line of
 * GLOWISH_LOG_INFO, 1 to 3 (0 of others), and a line without its end, which is
 * gone after the call. By the thread that compiles, which may be one of the
 * library's; one call at a time. It may call functions of the library, and must
 * not wait for another thread that compiles. */
typedef void (*glowish_log_function)(void *context, int32_t severity,
                                     int32_t verbosity, const char *line);

/* Makes `function` the one that gets the log, with `context`; null ends it.
 * `verbosity`: 0 for warnings alone; 1 also for what is decided, and how large
 * it gets; 2 also for passes; 3 also for details. Any thread may call it at any
 * time: when it returns, the function before is not called any more, unless
 * that is the caller. Since version 2. */
void glowish_set_log(glowish_log_function function, void *context,
                     int32_t verbosity);

/* --- Options --------------------------------------------------------------
 * The options of model-compiler, by name, without the dash: "mcpu",
 * "quantize-weights". --help and docs/tools.md say what they do. */

typedef struct glowish_options glowish_options;

glowish_options *glowish_options_create(void);
void glowish_options_free(glowish_options *options);
/* `value` is what follows the equals sign on the command line; null or "" turns
 * a switch on. Setting one again replaces its value, or adds to a list. */
glowish_error *glowish_options_set(glowish_options *options, const char *name,
                                   const char *value);
/* Gives the dimension that the model calls `symbol` a value:
 * "define-symbol". */
glowish_error *glowish_options_bind_dimension(glowish_options *options,
                                              const char *symbol,
                                              int64_t value);
/* The options that there are: names and one-line descriptions; null from the
 * count on. */
size_t glowish_options_count(const glowish_options *options);
const char *glowish_options_name(const glowish_options *options, size_t index);
const char *glowish_options_description(const glowish_options *options,
                                        size_t index);

/* --- Models --------------------------------------------------------------- */

typedef struct glowish_model glowish_model;

/* The model at `path`, which is read when it is compiled: all that
 * model-compiler reads. */
glowish_error *glowish_model_open(const char *path, glowish_model **model);
/* The same of the contents of a file, which are copied; no temporary file is
 * written. `name` is the name that the file would have; where the bytes do not
 * say what they are, its end does: "net.onnx", "net.tflite", "net.pt2",
 * "net.pt", "predict_net.pb". Files beside it, such as external data, there are
 * none, and are an error. */
glowish_error *glowish_model_open_memory(const void *bytes, size_t size,
                                         const char *name,
                                         glowish_model **model);
/* Programs stay. */
void glowish_model_free(glowish_model *model);

/* --- Jobs -----------------------------------------------------------------
 * What watches and cancels a compilation. */

typedef struct glowish_job glowish_job;

/* Called by the thread that has called the function which compiles, with what
 * is done, "optimize", and an estimate of the share that is done, 0 to 1, which
 * never gets smaller. */
typedef void (*glowish_progress_function)(void *context, const char *step,
                                          double done);
/* Called by that thread with a line about what is ignored in a model, or
 * contradicts what is computed, or about a target that is not tested. */
typedef void (*glowish_warning_function)(void *context, const char *line);

glowish_job *glowish_job_create(void);
void glowish_job_free(glowish_job *job);
void glowish_job_on_progress(glowish_job *job,
                             glowish_progress_function function, void *context);
void glowish_job_on_warning(glowish_job *job, glowish_warning_function function,
                            void *context);
/* Ends compilations with the job, now and later, with
 * GLOWISH_ERROR_CANCELLED. Any thread may call it, and handlers of signals. The
 * function which compiles returns within a tenth of a second, and changes no
 * files after that; nothing half-written stays behind. A thread of the library
 * may go on for some tenths of a second more. */
void glowish_job_cancel(glowish_job *job);

/* --- Bundles -------------------------------------------------------------- */

/* Writes the bundle of `model` to `folder`, as model-compiler -emit-bundle
 * does: all of its files, or none. `options` and `job` may be null. */
glowish_error *glowish_compile_bundle(const glowish_model *model,
                                      glowish_options *options,
                                      const char *folder, glowish_job *job);

/* --- Programs in this process --------------------------------------------- */

typedef struct glowish_program glowish_program;

/* What a model has. Fields may be added at the end. */
typedef struct glowish_value {
  const char *name;
  /* GLOWISH_FLOAT, ... */
  int32_t kind;
  int32_t rank;
  /* The largest ones, where each run states or yields others. */
  const int64_t *extents;
  /* Of all elements, in row-major order without gaps. */
  size_t bytes;
} glowish_value;

/* Compiles `model` for this machine. Symbolic dimensions have one value or one
 * range each. `options` and `job` may be null. */
glowish_error *glowish_compile(const glowish_model *model,
                               glowish_options *options, glowish_job *job,
                               glowish_program **program);
/* Sessions stay. */
void glowish_program_free(glowish_program *program);
/* Inputs, outputs, and states, which are kept from run to run, in the model's
 * order; null from the count on. The program owns them. Any number of threads
 * may call these at once, and glowish_session_create(). */
size_t glowish_program_input_count(const glowish_program *program);
const glowish_value *glowish_program_input(const glowish_program *program,
                                           size_t index);
size_t glowish_program_output_count(const glowish_program *program);
const glowish_value *glowish_program_output(const glowish_program *program,
                                            size_t index);
size_t glowish_program_state_count(const glowish_program *program);
const glowish_value *glowish_program_state(const glowish_program *program,
                                           size_t index);

/* --- Sessions -------------------------------------------------------------
 * A program's inputs, outputs, states and activations; sessions of a program
 * share its code and weights. Everything is zero at first. */

typedef struct glowish_session glowish_session;

glowish_error *glowish_session_create(const glowish_program *program,
                                      glowish_session **session);
void glowish_session_free(glowish_session *session);
/* Copies an input from `data`. `extents` are those of this run, one for each
 * dimension; null: those of the value. */
glowish_error *glowish_session_set_input(glowish_session *session, size_t index,
                                         const void *data,
                                         const int64_t *extents);
/* Lets runs read an input from `data`, or write an output to it, without a
 * copy: memory of value.bytes, aligned to an element, that is there until the
 * next call for the value or the end of the session. Outputs overlap nothing
 * else. Null ends it. An error where the program must have the value itself:
 * with extents that each run states or yields, or with -io-in-activations. */
glowish_error *glowish_session_bind_input(glowish_session *session,
                                          size_t index, const void *data);
glowish_error *glowish_session_bind_output(glowish_session *session,
                                           size_t index, void *data);
/* Runs the program once. */
glowish_error *glowish_session_run(glowish_session *session);
/* What the last run left in an output: its elements, until the next run or
 * call for this output. `extents`, if not null, receives value.rank numbers. */
glowish_error *glowish_session_output(glowish_session *session, size_t index,
                                      const void **data, int64_t *extents);
/* A state's elements, to be read and written between runs. */
glowish_error *glowish_session_state(glowish_session *session, size_t index,
                                     void **data);

#ifdef __cplusplus
}
#endif

#endif
