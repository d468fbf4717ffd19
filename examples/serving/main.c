/* A network behind HTTP: POST /shape with an image (PPM of 32 by 32 pixels, or
 * the input as raw floats) is answered in JSON. All threads share the weights;
 * each has memory of its own for inputs, outputs and activations. SIGTERM and
 * SIGINT end the program when all requests that have begun are answered. */
#define _POSIX_C_SOURCE 200809L
#include "shapes.h"
#include <arpa/inet.h>
#include <math.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PIXELS = 32 * 32, MOST = SHAPES_image_BYTES };
#define ERROR(text) "{\"error\": \"" text "\"}\n"

static const char *const names[] = {"checks", "circle", "cross",   "ring",
                                    "square", "star",   "stripes", "triangle"};

typedef struct {
  size_t size; /* what has arrived; more than MOST if it is too much */
  char body[MOST + 1];
} Request;

typedef struct MHD_Connection Connection;

GLOWISH_MEM_ALIGN(SHAPES_MEM_ALIGN)
static _Thread_local uint8_t mutableWeight[SHAPES_MUTABLE_MEM_SIZE];
GLOWISH_MEM_ALIGN(SHAPES_MEM_ALIGN)
static _Thread_local uint8_t activations[SHAPES_ACTIVATIONS_MEM_SIZE];
static atomic_int numRequests;

static enum MHD_Result reply(Connection *c, unsigned status, const char *json) {
  struct MHD_Response *response = MHD_create_response_from_buffer(
      strlen(json), (void *)(uintptr_t)json, MHD_RESPMEM_MUST_COPY);
  MHD_add_response_header(response, "Content-Type", "application/json");
  if (status == 405)
    MHD_add_response_header(response, "Allow", "POST");
  enum MHD_Result result = MHD_queue_response(c, status, response);
  MHD_destroy_response(response);
  return result;
}

/* Fills the input; returns 0 where the body is no image of the right size. */
static int readImage(const Request *request, float *input) {
  const uint8_t *pixels = (const uint8_t *)request->body;
  int width, height, head = 0;
  if (request->size == SHAPES_image_BYTES)
    return memcpy(input, request->body, SHAPES_image_BYTES) != NULL;
  sscanf(request->body, "P6 %4d %4d 255%n", &width, &height, &head);
  if (!head || width != 32 || height != 32 ||
      request->size != (size_t)head + 1 + 3 * PIXELS)
    return 0;
  for (int i = 0; i < 3 * PIXELS; ++i)
    input[i % 3 * PIXELS + i / 3] = pixels[head + 1 + i] / 255.0f;
  return 1;
}

static enum MHD_Result classify(Connection *c, const Request *request) {
  const float *scores = (const float *)(mutableWeight + SHAPES_scores);
  float sum = 0;
  char json[128];
  unsigned best = 0;
  if (!readImage(request, (float *)(mutableWeight + SHAPES_image)))
    return reply(c, 400,
                 ERROR("neither a PPM of 32x32 pixels nor 3072 floats"));
  if (shapes(shapes_weights, mutableWeight, activations) != GLOWISH_SUCCESS)
    return reply(c, 500, ERROR("the network failed"));
  for (unsigned i = 1; i < SHAPES_scores_SIZE; ++i)
    best = scores[i] > scores[best] ? i : best;
  for (unsigned i = 0; i < SHAPES_scores_SIZE; ++i)
    sum += expf(scores[i] - scores[best]);
  snprintf(json, sizeof(json), "{\"shape\": \"%s\", \"chance\": %.4f}\n",
           names[best], 1 / sum);
  return reply(c, 200, json);
}

/* Called when the head of a request is there, for each part of its body, and at
 * its end. */
static enum MHD_Result handle(void *unused, Connection *c, const char *url,
                              const char *method, const char *version,
                              const char *part, size_t *size, void **state) {
  Request *request = *state;
  (void)unused, (void)version;
  if (!request) {
    const char *length =
        MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Content-Length");
    if (strcmp(url, "/health") == 0 && strcmp(method, "GET") == 0)
      return reply(c, 200, "{\"status\": \"ok\"}\n");
    if (strcmp(url, "/shape") != 0)
      return reply(c, 404, ERROR("there are POST /shape and GET /health"));
    if (strcmp(method, "POST") != 0)
      return reply(c, 405, ERROR("POST an image"));
    if (length && strtoull(length, NULL, 10) > MOST)
      return reply(c, 413, ERROR("more than 12288 bytes"));
    *state = calloc(1, sizeof(Request));
    atomic_fetch_add(&numRequests, *state != NULL);
    return *state ? MHD_YES : MHD_NO;
  }
  if (*size == 0)
    return request->size > MOST ? reply(c, 413, ERROR("more than 12288 bytes"))
                                : classify(c, request);
  if (request->size + *size <= MOST)
    memcpy(request->body + request->size, part, *size);
  request->size += *size;
  *size = 0;
  return MHD_YES;
}

static void complete(void *unused, Connection *c, void **state,
                     enum MHD_RequestTerminationCode code) {
  (void)unused, (void)c, (void)code;
  atomic_fetch_sub(&numRequests, *state != NULL);
  free(*state);
}

int main(int argc, char **argv) {
  int port = argc > 1 ? atoi(argv[1]) : 8080, signal;
  int threads = argc > 2 ? atoi(argv[2]) : (int)sysconf(_SC_NPROCESSORS_ONLN);
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port)};
  sigset_t ends;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, NULL);
  struct MHD_Daemon *daemon = MHD_start_daemon(
      MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL, handle, NULL,
      MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_THREAD_POOL_SIZE, threads,
      MHD_OPTION_CONNECTION_TIMEOUT, 30u, MHD_OPTION_NOTIFY_COMPLETED, complete,
      NULL, MHD_OPTION_END);
  if (!daemon)
    return fprintf(stderr, "serve: cannot listen on port %d\n", port), 1;
  fprintf(stderr, "serve: http://localhost:%d/shape, %d threads\n", port,
          threads);
  sigwait(&ends, &signal);
  int listener = MHD_quiesce_daemon(daemon);
  shutdown(listener, SHUT_RD); /* new connections are refused */
  for (int waits = 0; atomic_load(&numRequests) && waits < 500; ++waits)
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
  MHD_stop_daemon(daemon);
  close(listener);
  return 0;
}
