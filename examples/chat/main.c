/* Talks with the language model of the bundle 'model', whose cache of keys and
 * values is a state: each call reads some tokens and appends to it. */
#include "model.h"
#include "sampler.h"
#include "tokenizer.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  START = 1, /* these ids are the same in all tokenizers of this format */
  END = 2,
  TOKENS = MODEL_logits_SIZE / MODEL_input_ids_SIZE,
  CONTEXT = MODEL_P_MOST + 1, /* tokens of a conversation */
  MOST_BYTES = 1 << 20        /* of a line; of a file, read at a time */
};

typedef struct {
  Tokenizer tokenizer;
  Sampler sampler;
  const uint8_t *weights;
  double count, chunk, seed; /* what the options say */
  int isContinuing;
  int64_t length;     /* of the cache: tokens that were read */
  int32_t *ids, last; /* to be read; written last, and not read */
  const float *next;  /* scores of the token to come */
  long numRead, numWritten;
  double readTime, writeTime;
} Chat;

static const char usage[] =
    "usage: chat [OPTIONS] WEIGHTS TOKENIZER\n"
    "  -p PROMPT       answer this and end; else: all lines of the input\n"
    "  -continue       go on with the text of a line, do not answer it\n"
    "  -temperature T  0.5; 0: always the token with the best score\n"
    "  -top-k K        pick from the K best tokens; 0, the default: from all\n"
    "  -top-p P        0.9: from the best that have this share of the chance\n"
    "  -seed N         1: of the random numbers\n"
    "  -count N        write at most N tokens; 0, the default: no limit\n"
    "  -chunk N        read at most N tokens of a prompt at a time\n";

GLOWISH_MEM_ALIGN(MODEL_MEM_ALIGN)
static uint8_t placeholders[MODEL_MUTABLE_MEM_SIZE];
GLOWISH_MEM_ALIGN(MODEL_MEM_ALIGN)
static uint8_t activations[MODEL_ACTIVATIONS_MEM_SIZE];

#define FAIL(...)                                                              \
  (fprintf(stderr, "chat: " __VA_ARGS__), fputs("\n", stderr), exit(1))

static void *allocate(size_t size) {
  size_t whole = (size / MODEL_MEM_ALIGN + 1) * MODEL_MEM_ALIGN;
  void *memory = aligned_alloc(MODEL_MEM_ALIGN, whole);
  if (!memory)
    FAIL("there is no memory for %zu bytes", size);
  return memory;
}

static double getSeconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint8_t *readFile(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  long end = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  if (end < 0 || end == LONG_MAX || fseek(file, 0, SEEK_SET) != 0)
    FAIL("cannot read %s", path);
  *size = (size_t)end;
  uint8_t *bytes = allocate(*size);
  for (size_t done = 0; done < *size;) {
    size_t count = *size - done < MOST_BYTES ? *size - done : MOST_BYTES;
    if (fread(bytes + done, 1, count, file) != count)
      FAIL("cannot read %s", path);
    done += count;
    fprintf(stderr, "\rreading %s: %3.0f %%", path,
            100.0 * (double)done / (double)*size);
  }
  fputs("\n", stderr);
  fclose(file);
  return bytes;
}

static void load(Chat *chat, const char *weights, const char *tokenizer) {
  size_t size;
  const uint8_t *file = readFile(tokenizer, &size);
  const char *wrong = parseTokenizer(&chat->tokenizer, file, size);
  if (wrong)
    FAIL("%s is not a tokenizer: %s", tokenizer, wrong);
  if (chat->tokenizer.count != TOKENS)
    FAIL("%s has %d tokens, but the model %d", tokenizer, chat->tokenizer.count,
         TOKENS);
  chat->weights = readFile(weights, &size);
  if (model_check_weights(chat->weights, size) != GLOWISH_SUCCESS)
    FAIL("%s does not have the weights of this model", weights);
  chat->sampler.candidates = allocate(sizeof(Candidate) * TOKENS);
}

/* Has the network read count tokens, at most MODEL_S_MOST. */
static void readTokens(Chat *chat, const int32_t *ids, int64_t count) {
  int64_t *tokens = (int64_t *)(placeholders + MODEL_input_ids);
  int64_t *positions = (int64_t *)(placeholders + MODEL_position_ids);
  for (int64_t i = 0; i < count; ++i) {
    tokens[i] = ids[i];
    positions[i] = chat->length + i;
  }
  memcpy(placeholders + MODEL_S, &count, sizeof(count));
  memcpy(placeholders + MODEL_P, &chat->length, sizeof(chat->length));
  int status = model(chat->weights, placeholders, activations);
  if (status != GLOWISH_SUCCESS)
    FAIL("the network returned error %d", status);
  chat->length += count;
  chat->next =
      (const float *)(placeholders + MODEL_logits) + (count - 1) * TOKENS;
}

/* A text as the next tokens of the conversation; returns how many. */
static int64_t makeIds(Chat *chat, const char *text) {
  int64_t count = 1;
  chat->ids[0] = chat->length == 0 ? START : chat->last;
  /* An answer that was too long ends here. */
  if (!chat->isContinuing && chat->length > 0 && chat->last != END)
    chat->ids[count++] = END;
  count += encode(&chat->tokenizer, text, chat->ids + count);
  if (!chat->isContinuing)
    chat->ids[count++] = chat->tokenizer.ids['\n'];
  return count;
}

static void readPrompt(Chat *chat, const char *text) {
  int64_t count = makeIds(chat, text);
  if (chat->length > 0 && chat->length + count > CONTEXT) {
    fputs("[the context is full: a new conversation begins]\n", stderr);
    chat->length = 0;
    count = makeIds(chat, text);
  }
  if (count > CONTEXT)
    FAIL("the prompt has %lld tokens, but the context %d", (long long)count,
         CONTEXT);
  double start = getSeconds();
  for (int64_t done = 0, step; done < count; done += step) {
    step = (int64_t)chat->chunk;
    step = step == 0 || step > MODEL_S_MOST ? MODEL_S_MOST : step;
    step = step > count - done ? count - done : step;
    readTokens(chat, chat->ids + done, step);
  }
  chat->numRead += count;
  chat->readTime += getSeconds() - start;
}

/* Of the first token of a text, the space before the word is left away. */
static void printToken(const Chat *chat, int32_t id, int isFirst) {
  const Piece *piece = &chat->tokenizer.pieces[id];
  int isSpace = isFirst && piece->byte == -1 && piece->bytes[0] == ' ';
  if (piece->byte == -1)
    fwrite(piece->bytes + isSpace, 1, (size_t)(piece->length - isSpace),
           stdout);
  else if (piece->byte >= ' ' || piece->byte == '\n' || piece->byte == '\t')
    putchar(piece->byte); /* others could be commands to a terminal */
  fflush(stdout);
}

/* Prints what the model says after a text. */
static void answer(Chat *chat, const char *text) {
  int isFirst = !chat->isContinuing || !*text;
  readPrompt(chat, text);
  if (chat->isContinuing)
    printf("%s", text);
  double start = getSeconds();
  for (long i = 1;; ++i) {
    chat->last = pickToken(&chat->sampler, chat->next, TOKENS);
    if (chat->last == START || chat->last == END)
      break;
    printToken(chat, chat->last, isFirst);
    isFirst = 0;
    ++chat->numWritten;
    if ((double)i == chat->count || chat->length == CONTEXT)
      break;
    readTokens(chat, &chat->last, 1);
  }
  chat->writeTime += getSeconds() - start;
  puts("");
  if (chat->length == CONTEXT)
    fprintf(stderr, "[the context of %d tokens is full]\n", CONTEXT);
}

/* Answers the lines of the input. */
static void talk(Chat *chat) {
  static char line[MOST_BYTES];
  while (fputs("> ", stderr), fgets(line, sizeof(line), stdin)) {
    size_t length = strcspn(line, "\r\n");
    if (length + 1 == sizeof(line))
      FAIL("a line has more than %d bytes", MOST_BYTES - 2);
    line[length] = 0;
    if (strcmp(line, "/new") == 0)
      chat->length = 0;
    else if (length > 0)
      answer(chat, line);
  }
  fputs("\n", stderr);
}

/* Takes an option; returns how many arguments it had, 0 for none. */
static int parseOption(char **arguments, Chat *chat, const char **prompt) {
  Sampler *sampler = &chat->sampler;
  const struct {
    const char *name;
    double *value;
    double most;
    int isInteger;
  } numbers[] = {{"-temperature", &sampler->temperature, 100, 0},
                 {"-top-k", &sampler->topK, TOKENS, 1},
                 {"-top-p", &sampler->topP, 1, 0},
                 {"-seed", &chat->seed, 1e15, 1},
                 {"-count", &chat->count, 1e9, 1},
                 {"-chunk", &chat->chunk, 1e9, 1}};
  if (strcmp(arguments[0], "-continue") == 0)
    return chat->isContinuing = 1;
  if (!arguments[1])
    return 0;
  if (strcmp(arguments[0], "-p") == 0)
    return *prompt = arguments[1], 2;
  for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); ++i) {
    if (strcmp(arguments[0], numbers[i].name) != 0)
      continue;
    char *end;
    double value = strtod(arguments[1], &end);
    if (end == arguments[1] || *end || !(value >= 0) ||
        value > numbers[i].most ||
        (numbers[i].isInteger && fmod(value, 1) != 0))
      FAIL("%s takes a number from 0 to %g", arguments[0], numbers[i].most);
    *numbers[i].value = value;
    return 2;
  }
  return 0;
}

int main(int argc, char **argv) {
  Chat chat = {.sampler = {.temperature = 0.5, .topP = 0.9}, .seed = 1};
  const char *prompt = NULL;
  int i = 1, taken;
  while (i < argc && (taken = parseOption(argv + i, &chat, &prompt)))
    i += taken;
  if (argc - i != 2 || argv[i][0] == '-')
    return fputs(usage, stderr), 1;
  chat.sampler.state = (uint64_t)chat.seed;
  load(&chat, argv[i], argv[i + 1]);
  /* encode() and what a turn begins and ends with. */
  size_t length = prompt ? strlen(prompt) : MOST_BYTES;
  chat.ids = allocate(sizeof(int32_t) * (2 * length + 8));
  if (prompt)
    answer(&chat, prompt);
  else
    talk(&chat);
  fprintf(stderr,
          "[read %ld tokens, %.0f a second; wrote %ld, %.0f a second]\n",
          chat.numRead, (double)chat.numRead / (chat.readTime + 1e-9),
          chat.numWritten, (double)chat.numWritten / (chat.writeTime + 1e-9));
  return 0;
}
