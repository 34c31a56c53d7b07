/* Stands between a program and libc: the clock is shifted by CLOCK_SHIFT_S seconds, and from the FAIL_AT-th call on that
 * changes a file below FAIL_BELOW, FAIL_COUNT calls of this process fail with EIO; with FAIL_ERRNO only renames do, by
 * that number. Each process notes in COUNTED how many such calls it made. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static long number(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int code = REAL(clock_gettime)(clock, now);
    if (!code && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += number("CLOCK_SHIFT_S");
    return code;
}

time_t time(time_t *into) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (into) *into = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int code = REAL(gettimeofday)(now, zone);
    if (!code) now->tv_sec += number("CLOCK_SHIFT_S");
    return code;
}

static int is_rename;

static long calls;

__attribute__((destructor)) static void note(void) {
    const char *path = getenv("COUNTED");
    FILE *file = path && calls ? fopen(path, "a") : NULL;
    if (file) fprintf(file, "%ld\n", calls), fclose(file);
}

static int refused(const char *path) {
    if (getenv("FAIL_ERRNO") && !is_rename) return 0;
    const char *below = getenv("FAIL_BELOW");
    if (!below || !path || strncmp(path, below, strlen(below))) return 0;
    long call = __sync_add_and_fetch(&calls, 1), first = number("FAIL_AT");
    if (call < first || call >= first + number("FAIL_COUNT")) return 0;
    errno = getenv("FAIL_ERRNO") ? number("FAIL_ERRNO") : EIO;
    return 1;
}

static int refused_at(int folder, const char *path) {
    char link[64], place[PATH_MAX];
    if (path && path[0] == '/') return refused(path);
    if (folder == AT_FDCWD) return getcwd(place, sizeof place) ? refused(place) : 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, place, sizeof place - 1);
    if (length < 0) return 0;
    place[length] = 0;
    return refused(place);
}

#define CHANGES(flags) ((flags) & (O_WRONLY | O_RDWR | O_CREAT))
#define OPENS(name) \
    int name(const char *path, int flags, ...) { \
        va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \
        if (CHANGES(flags) && refused_at(AT_FDCWD, path)) return -1; \
        return REAL(name)(path, flags, mode); \
    }
#define OPENS_AT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \
        if (CHANGES(flags) && refused_at(folder, path)) return -1; \
        return REAL(name)(folder, path, flags, mode); \
    }
OPENS(open)
OPENS(open64)
OPENS_AT(openat)
OPENS_AT(openat64)

ssize_t write(int file, const void *data, size_t size) {
    return refused_at(file, "") ? -1 : REAL(write)(file, data, size);
}
int fsync(int file) { return refused_at(file, "") ? -1 : REAL(fsync)(file); }
int fdatasync(int file) { return refused_at(file, "") ? -1 : REAL(fdatasync)(file); }
int renameat(int a, const char *from, int b, const char *to) {
    is_rename = 1;
    int code = refused_at(b, to) ? -1 : REAL(renameat)(a, from, b, to);
    is_rename = 0;
    return code;
}
int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }
int mkdir(const char *path, mode_t mode) { return refused_at(AT_FDCWD, path) ? -1 : REAL(mkdir)(path, mode); }
int mkdirat(int folder, const char *path, mode_t mode) {
    return refused_at(folder, path) ? -1 : REAL(mkdirat)(folder, path, mode);
}
int unlink(const char *path) { return refused_at(AT_FDCWD, path) ? -1 : REAL(unlink)(path); }
int unlinkat(int folder, const char *path, int flags) {
    return refused_at(folder, path) ? -1 : REAL(unlinkat)(folder, path, flags);
}
