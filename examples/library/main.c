/* Compiles a model and runs it in this process, by glowish.h.
 *
 *   main MODEL */
#include <glowish.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program with the compiler's line if there is an error. */
static void check(glowish_error *error) {
  if (!error)
    return;
  fprintf(stderr, "error: %s\n", glowish_error_message(error));
  exit(1);
}

static void show_progress(void *context, const char *step, double done) {
  (void)context;
  fprintf(stderr, "%3.0f %% %s\n", 100 * done, step);
}

static void print_value(const char *what, const glowish_value *value) {
  printf("%s %s:", what, value->name);
  for (int32_t i = 0; i < value->rank; ++i)
    printf(" %lld", (long long)value->extents[i]);
  printf("\n");
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: main MODEL\n");
    return 2;
  }
  glowish_model *model;
  check(glowish_model_open(argv[1], &model));
  glowish_options *options = glowish_options_create();
  check(glowish_options_set(options, "threads", "1"));
  check(glowish_options_bind_dimension(options, "N", 2));
  glowish_job *job = glowish_job_create();
  glowish_job_on_progress(job, show_progress, NULL);
  glowish_program *program;
  check(glowish_compile(model, options, job, &program));
  print_value("input", glowish_program_input(program, 0));
  print_value("output", glowish_program_output(program, 0));

  glowish_session *session;
  check(glowish_session_create(program, &session));
  /* The program reads the input here, and writes the output there. */
  const float x[6] = {0, 1, 2, 3, 2, 1};
  float y[4];
  check(glowish_session_bind_input(session, 0, x));
  check(glowish_session_bind_output(session, 0, y));
  check(glowish_session_run(session));
  printf("%.4f %.4f\n%.4f %.4f\n", y[0], y[1], y[2], y[3]);

  glowish_session_free(session);
  glowish_program_free(program);
  glowish_job_free(job);
  glowish_options_free(options);
  glowish_model_free(model);
  return 0;
}
