/* Maps weights from a file beside the program. Needs Linux, Apple's systems or
 * Windows; elsewhere names must be absolute paths, and POSIX is needed. */
#ifdef _WIN32
#include <windows.h>
#else
#ifdef __linux__
#define _POSIX_C_SOURCE 200809L
#endif
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif
#endif
#include "glowish_weights.h"
#include <string.h>

enum { MAX_PATH_BYTES = 4096 };

#ifdef _WIN32
static int isSeparator(char c) { return c == '/' || c == '\\'; }

static int isAbsolute(const char *path) {
  return isSeparator(path[0]) || (path[0] && path[1] == ':');
}

static size_t readProgramPath(char *path) {
  DWORD length = GetModuleFileNameA(NULL, path, MAX_PATH_BYTES);
  return length < MAX_PATH_BYTES ? length : 0;
}

static const uint8_t *mapFile(const char *path, uint64_t size) {
  const uint8_t *bytes = NULL;
  LARGE_INTEGER actual;
  HANDLE file = CreateFileA(path, GENERIC_READ, FILE_SHARE_READ, NULL,
                            OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
  if (file == INVALID_HANDLE_VALUE)
    return NULL;
  if (GetFileSizeEx(file, &actual) && (uint64_t)actual.QuadPart == size) {
    HANDLE mapping = CreateFileMappingA(file, NULL, PAGE_READONLY, 0, 0, NULL);
    if (mapping) {
      bytes = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, (SIZE_T)size);
      CloseHandle(mapping);
    }
  }
  CloseHandle(file);
  return bytes;
}

void glowish_unmap_weights(const uint8_t *weights, uint64_t size) {
  (void)size;
  if (weights)
    UnmapViewOfFile(weights);
}

#else
static int isSeparator(char c) { return c == '/'; }

static int isAbsolute(const char *path) { return isSeparator(path[0]); }

/* The path of the program, without a null character at its end; returns its
 * length, or 0. */
static size_t readProgramPath(char *path) {
#if defined(__linux__)
  ssize_t length = readlink("/proc/self/exe", path, MAX_PATH_BYTES);
  return length > 0 && length < MAX_PATH_BYTES ? (size_t)length : 0;
#elif defined(__APPLE__)
  uint32_t capacity = MAX_PATH_BYTES;
  return _NSGetExecutablePath(path, &capacity) == 0 ? strlen(path) : 0;
#else
  (void)path;
  return 0;
#endif
}

static const uint8_t *mapFile(const char *path, uint64_t size) {
  struct stat status;
  void *bytes = MAP_FAILED;
  int file = open(path, O_RDONLY);
  if (file < 0)
    return NULL;
  if (fstat(file, &status) == 0 && (uint64_t)status.st_size == size)
    bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  return bytes == MAP_FAILED ? NULL : bytes;
}

void glowish_unmap_weights(const uint8_t *weights, uint64_t size) {
  if (weights)
    munmap((void *)(uintptr_t)weights, (size_t)size);
}
#endif

/* Maps FOLDER/NAME, a folder of `length` characters that end with a separator.
 */
static const uint8_t *mapIn(const char *folder, size_t length, const char *name,
                            uint64_t size) {
  char path[MAX_PATH_BYTES];
  if (length + strlen(name) >= sizeof(path))
    return NULL;
  memcpy(path, folder, length);
  strcpy(path + length, name);
  return mapFile(path, size);
}

const uint8_t *glowish_map_weights(const char *name, uint64_t size) {
  char folder[MAX_PATH_BYTES];
  const uint8_t *bytes;
  size_t length;
  if (isAbsolute(name))
    return mapFile(name, size);
  length = readProgramPath(folder);
  while (length && !isSeparator(folder[length - 1]))
    --length;
  bytes = length ? mapIn(folder, length, name, size) : NULL;
#ifdef GLOWISH_WEIGHTS_FOLDER
  if (!bytes) {
    static const char installed[] = GLOWISH_WEIGHTS_FOLDER "/";
    if (isAbsolute(installed))
      length = 0;
    if (length + sizeof(installed) > sizeof(folder))
      return NULL;
    memcpy(folder + length, installed, sizeof(installed));
    bytes = mapIn(folder, length + sizeof(installed) - 1, name, size);
  }
#endif
  return bytes;
}
