/* SPDX-License-Identifier: MIT */
/* log.h -- one line on standard error per event, written whole. Any thread.
 * LASTRO_LOG = debug, info, notice (default), warning, error chooses the least level that is written. */
#ifndef LASTRO_CORE_LOG_H
#define LASTRO_CORE_LOG_H

#include <lastro/abi.h>

void log_init(void);
bool log_wants(int32_t level);
__attribute__((format(printf, 2, 3))) void log_line(int32_t level, const char *fmt, ...);
/* From now on this thread's lines say that they belong to that trace (a W3C traceparent; NULL: to none), until
 * log_trace_end gets what this returned. */
typedef struct {
    char id[33]; /* "": none */
} log_trace;
log_trace log_trace_begin(const char *traceparent);
void log_trace_end(log_trace before);
#define LOG_LEVELS "debug, info, notice, warning, error, critical, alert, emergency"
/* "debug" … "emergency" of the protocol to LASTRO_LOG_*, or above them; -1: no such level. */
int32_t log_level_of(const char *name);
const char *log_level_name(int32_t level);

#define log_debug(...) log_line(LASTRO_LOG_DEBUG, __VA_ARGS__)
#define log_info(...) log_line(LASTRO_LOG_INFO, __VA_ARGS__)
#define log_notice(...) log_line(LASTRO_LOG_NOTICE, __VA_ARGS__)
#define log_warning(...) log_line(LASTRO_LOG_WARNING, __VA_ARGS__)
#define log_error(...) log_line(LASTRO_LOG_ERROR, __VA_ARGS__)

#endif
