/* Fails one call that changes files below a directory: the n-th of all processes that preload this. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Shared with the test, which sets the last two: 0 calls to fail let all pass. */
static struct plan {
    _Atomic long calls;
    long fails;
    long error;
} *plan;
static const char *below;

__attribute__((constructor)) static void begin(void) {
    const char *file = getenv("FAILING_PLAN");
    below = getenv("FAILING_BELOW");
    int fd = file && below ? open(file, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *shared = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    plan = shared == MAP_FAILED ? NULL : shared;
}

static int is_below(const char *path) {
    size_t length = strlen(below);
    return !strncmp(path, below, length) && (path[length] == '/' || !path[length]);
}

/* Whether the call of this file fails. */
static int fails(int fd, const char *path) {
    char link[64], full[2 * PATH_MAX] = "";
    if (!plan)
        return 0;
    if (path && *path == '/') {
        snprintf(full, sizeof full, "%s", path);
    } else {
        const char *form = fd == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d";
        snprintf(link, sizeof link, form, fd);
        if (readlink(link, full, PATH_MAX) < 0)
            return 0;
        if (path)
            snprintf(full + strlen(full), PATH_MAX, "/%s", path);
    }
    if (!is_below(full) || atomic_fetch_add(&plan->calls, 1) + 1 != plan->fails)
        return 0;
    errno = (int)plan->error;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define ON_FD(type, name, parameters, fd, arguments)                                               \
    type name parameters { return fails(fd, NULL) ? -1 : REAL(name) arguments; }

ON_FD(ssize_t, write, (int fd, const void *from, size_t count), fd, (fd, from, count))
ON_FD(ssize_t, writev, (int fd, const struct iovec *from, int count), fd, (fd, from, count))
ON_FD(ssize_t, pwrite, (int fd, const void *from, size_t n, off_t at), fd, (fd, from, n, at))
ON_FD(ssize_t, pwrite64, (int fd, const void *from, size_t n, off_t at), fd, (fd, from, n, at))
ON_FD(int, fsync, (int fd), fd, (fd))
ON_FD(int, fdatasync, (int fd), fd, (fd))
ON_FD(int, ftruncate, (int fd, off_t bytes), fd, (fd, bytes))
ON_FD(int, ftruncate64, (int fd, off_t bytes), fd, (fd, bytes))
ON_FD(int, fallocate, (int fd, int mode, off_t at, off_t n), fd, (fd, mode, at, n))
ON_FD(int, fallocate64, (int fd, int mode, off_t at, off_t n), fd, (fd, mode, at, n))
ON_FD(ssize_t, sendfile, (int to, int from, off_t *at, size_t n), to, (to, from, at, n))
ON_FD(ssize_t, sendfile64, (int to, int from, off_t *at, size_t n), to, (to, from, at, n))
ON_FD(ssize_t, copy_file_range,
      (int from, off_t *at, int to, off_t *there, size_t n, unsigned flags), to,
      (from, at, to, there, n, flags))

#define ON_PATH(type, name, parameters, fd, path, arguments)                                       \
    type name parameters { return fails(fd, path) ? -1 : REAL(name) arguments; }

ON_PATH(int, rename, (const char *from, const char *to), AT_FDCWD, to, (from, to))
ON_PATH(int, renameat, (int at, const char *from, int there, const char *to), there, to,
        (at, from, there, to))
ON_PATH(int, creat, (const char *path, mode_t mode), AT_FDCWD, path, (path, mode))
ON_PATH(int, creat64, (const char *path, mode_t mode), AT_FDCWD, path, (path, mode))

/* A folder that is there is none that is made. */
int mkdir(const char *path, mode_t mode) {
    return access(path, F_OK) && fails(AT_FDCWD, path) ? -1 : REAL(mkdir)(path, mode);
}

/* Opens for reading pass. */
#define OPEN(name, parameters, fd, path, ...)                                                      \
    int name parameters {                                                                          \
        mode_t mode = 0;                                                                           \
        if (flags & (O_CREAT | __O_TMPFILE)) {                                                     \
            va_list more;                                                                          \
            va_start(more, flags);                                                                 \
            mode = va_arg(more, mode_t);                                                           \
            va_end(more);                                                                          \
        }                                                                                          \
        return (flags & O_ACCMODE) != O_RDONLY && fails(fd, path) ? -1                             \
                                                                  : REAL(name)(__VA_ARGS__, mode); \
    }

OPEN(open, (const char *path, int flags, ...), AT_FDCWD, path, path, flags)
OPEN(open64, (const char *path, int flags, ...), AT_FDCWD, path, path, flags)
OPEN(openat, (int at, const char *path, int flags, ...), at, path, at, path, flags)
OPEN(openat64, (int at, const char *path, int flags, ...), at, path, at, path, flags)
