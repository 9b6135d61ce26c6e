/* SPDX-License-Identifier: MIT */
#include "file.h"
#include "fail.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void close_fd(int *fd) {
    if (*fd >= 0)
        close(*fd);
}

char *file_read(arena *a, const char *path, size_t max, size_t *ret_len, lastro_error *err) {
    __attribute__((cleanup(close_fd))) int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        fail(err, LASTRO_EARGS, "cannot open %s: %s", path, strerror(errno));
        return NULL;
    }
    if (!S_ISREG(st.st_mode) || (size_t)st.st_size > max) {
        fail(err, LASTRO_EARGS, "%s: %s", path, S_ISREG(st.st_mode) ? "too large" : "not a regular file");
        return NULL;
    }
    size_t size = (size_t)st.st_size, len = 0;
    char *text = arena_alloc(a, size + 1);
    if (!text) {
        fail(err, LASTRO_ENOMEM, "out of memory reading %s", path);
        return NULL;
    }
    while (len < size) {
        ssize_t n = read(fd, text + len, size - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            fail(err, LASTRO_EARGS, "cannot read %s: %s", path, strerror(errno));
            return NULL;
        }
        if (n == 0)
            break;
        len += (size_t)n;
    }
    text[len] = '\0';
    *ret_len = len;
    return text;
}

static bool write_all(int fd, const char *data, size_t len) {
    while (len) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        data += n;
        len -= (size_t)n;
    }
    return true;
}

lastro_status file_replace(const char *path, const char *data, size_t len, lastro_error *err) {
    char temp[PATH_MAX];
    if (snprintf(temp, sizeof temp, "%s.XXXXXX", path) >= (int)sizeof temp)
        return fail(err, LASTRO_EARGS, "%s: the path is too long", path);
    __attribute__((cleanup(close_fd))) int fd = mkostemp(temp, O_CLOEXEC);
    if (fd < 0)
        return fail(err, LASTRO_EARGS, "cannot write beside %s: %s", path, strerror(errno));
    if (!write_all(fd, data, len) || fchmod(fd, 0644) != 0 || rename(temp, path) != 0) {
        lastro_status s = fail(err, LASTRO_EARGS, "cannot write %s: %s", path, strerror(errno));
        unlink(temp);
        return s;
    }
    return LASTRO_OK;
}

bool file_exe_dir(char *buf, size_t size) {
    ssize_t n = readlink("/proc/self/exe", buf, size - 1);
    if (n <= 0)
        return false;
    buf[n] = '\0';
    char *slash = strrchr(buf, '/');
    if (slash)
        *slash = '\0';
    return slash != NULL;
}
