/* SPDX-License-Identifier: MIT */
/* outlet.h -- the way out of the stdio transport: lines are queued by any thread and written without ever blocking one
 * that reads. What the pipe does not take waits here. */
#ifndef LASTRO_CORE_OUTLET_H
#define LASTRO_CORE_OUTLET_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
    pthread_mutex_t lock;
    int fd;
    bool socket;      /* written with send(MSG_DONTWAIT) */
    bool blocking;    /* a file or terminal: writing may block, briefly */
    bool broken;      /* the reader is gone */
    bool hold;        /* more input is at hand: gather, and write once */
    char *data;
    size_t from, len, cap;
    int wake;         /* eventfd: told when something waits for room */
} outlet;

/* Takes over fd (a pipe is opened anew so that its non-blocking mode is ours alone). wake is borrowed. */
void outlet_init(outlet *o, int fd, int wake);
void outlet_destroy(outlet *o);
/* One line and its newline. Any thread. */
void outlet_line(outlet *o, const char *text, size_t len);
/* While on, lines are gathered; turning it off writes them. */
void outlet_hold(outlet *o, bool on);
/* Writes what can be written now. Returns the bytes that wait. For the thread that sleeps on wake. */
size_t outlet_flush(outlet *o);
bool outlet_broken(outlet *o);

#endif
