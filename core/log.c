/* SPDX-License-Identifier: MIT */
#include "log.h"
#include "trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int32_t least = LASTRO_LOG_NOTICE;
static _Thread_local log_trace trace;

static const struct {
    const char *name;
    int32_t level;
} levels[] = {
    {"debug", LASTRO_LOG_DEBUG},     {"info", LASTRO_LOG_INFO},   {"notice", LASTRO_LOG_NOTICE},
    {"warning", LASTRO_LOG_WARNING}, {"error", LASTRO_LOG_ERROR}, {"critical", LASTRO_LOG_ERROR + 1},
    {"alert", LASTRO_LOG_ERROR + 1}, {"emergency", LASTRO_LOG_ERROR + 1}, /* nothing here is as bad as that */
};

int32_t log_level_of(const char *name) {
    for (size_t i = 0; name && i < sizeof levels / sizeof *levels; i++)
        if (strcmp(levels[i].name, name) == 0)
            return levels[i].level;
    return -1;
}

const char *log_level_name(int32_t level) {
    return levels[level < 0 || level > LASTRO_LOG_ERROR ? LASTRO_LOG_ERROR : level].name;
}

void log_init(void) {
    int32_t level = log_level_of(getenv("LASTRO_LOG"));
    if (level >= 0)
        least = level > LASTRO_LOG_ERROR ? LASTRO_LOG_ERROR : level;
}

bool log_wants(int32_t level) {
    return level >= least;
}

log_trace log_trace_begin(const char *traceparent) {
    log_trace before = trace;
    trace.id[0] = '\0';
    if (traceparent) {
        memcpy(trace.id, traceparent + TRACE_ID_AT, TRACE_ID);
        trace.id[TRACE_ID] = '\0';
    }
    return before;
}

void log_trace_end(log_trace before) {
    trace = before;
}

void log_line(int32_t level, const char *fmt, ...) {
    if (!log_wants(level))
        return;
    char line[2048], mark[64] = "";
    if (trace.id[0])
        snprintf(mark, sizeof mark, " [trace %s]", trace.id);
    int at = snprintf(line, sizeof line, "lastro: %s: ", log_level_name(level));
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line + at, sizeof line - (size_t)at - sizeof mark, fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    size_t len = (size_t)(stpcpy(line + strlen(line), mark) - line);
    for (size_t i = 0; i < len; i++) /* one event, one line, whatever the text holds */
        if ((unsigned char)line[i] < ' ')
            line[i] = ' ';
    line[len++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, len);
    (void)ignored;
}
