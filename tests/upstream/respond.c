/* SPDX-License-Identifier: MIT */
#include "respond.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

enum { DRIPS_A_SECOND = 20, BLOCK = 16384 };

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool wait_ms(struct MHD_Connection *conn, int stop_fd, long ms) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct pollfd fds[] = {{.fd = stop_fd, .events = POLLIN},
                           {.fd = info ? info->connect_fd : -1, .events = POLLRDHUP}};
    for (int64_t left = ms, end = now_ms() + ms; left > 0; left = end - now_ms())
        if (poll(fds, 2, left > INT_MAX ? INT_MAX : (int)left) > 0)
            return false;
    return true;
}

static bool accepts_gzip(struct MHD_Connection *conn) {
    const char *accept = MHD_lookup_connection_value(conn, MHD_HEADER_KIND, "Accept-Encoding");
    return accept && strstr(accept, "gzip");
}

static bool compress_body(sim_text *body) {
    z_stream z = {0};
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    uLong room = deflateBound(&z, (uLong)body->len);
    char *packed = sim_alloc(room, 1);
    z.next_in = (Bytef *)body->at;
    z.avail_in = (uInt)body->len;
    z.next_out = (Bytef *)packed;
    z.avail_out = (uInt)room;
    bool done = deflate(&z, Z_FINISH) == Z_STREAM_END;
    size_t len = z.total_out;
    deflateEnd(&z);
    if (!done) {
        free(packed);
        return false;
    }
    free(body->at);
    *body = (sim_text){.at = packed, .len = len, .cap = room};
    return true;
}

/* A body that drips, or breaks off, or both. */
typedef struct {
    sim_text body;
    struct MHD_Connection *conn;
    int stop_fd;
    long slow; /* bytes a second, or FAULT_ABSENT */
    uint64_t end;
} drip;

static ssize_t drip_read(void *cls, uint64_t at, char *buf, size_t max) {
    drip *d = cls;
    if (at >= d->end)
        return MHD_CONTENT_READER_END_WITH_ERROR; /* before the promised length: MHD closes */
    size_t n = (size_t)(d->end - at) < max ? (size_t)(d->end - at) : max;
    if (d->slow != FAULT_ABSENT) {
        size_t most = d->slow < DRIPS_A_SECOND ? 1 : (size_t)(d->slow / DRIPS_A_SECOND);
        n = n < most ? n : most;
        if (!wait_ms(d->conn, d->stop_fd, (long)n * 1000 / d->slow))
            return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    memcpy(buf, d->body.at + at, n);
    return (ssize_t)n;
}

static void drip_free(void *cls) {
    drip *d = cls;
    text_free(&d->body);
    free(d);
}

static struct MHD_Response *make_response(struct MHD_Connection *conn, int stop_fd, sim_reply *reply,
                                          const sim_fault *fault) {
    sim_text body = reply->body;
    reply->body = (sim_text){0};
    if (fault->slow == FAULT_ABSENT && fault->cut == FAULT_ABSENT)
        return MHD_create_response_from_buffer(body.len, body.at, MHD_RESPMEM_MUST_FREE);
    drip *d = sim_alloc(1, sizeof *d);
    bool cut = fault->cut != FAULT_ABSENT && (size_t)fault->cut < body.len;
    *d = (drip){body, conn, stop_fd, fault->slow, cut ? (uint64_t)fault->cut : body.len};
    return MHD_create_response_from_callback(body.len, BLOCK, drip_read, d, drip_free);
}

static void add_header(struct MHD_Response *r, const char *name, const char *value) {
    if (value)
        MHD_add_response_header(r, name, value);
}

enum MHD_Result respond(struct MHD_Connection *conn, int stop_fd, sim_reply *reply, const sim_fault *fault) {
    bool packed = fault->gzip && reply->body.len && accepts_gzip(conn) && compress_body(&reply->body);
    struct MHD_Response *r = make_response(conn, stop_fd, reply, fault);
    if (!r)
        return MHD_NO;
    add_header(r, "Content-Type", fault->content_type ? fault->content_type : reply->type);
    add_header(r, "Content-Encoding", packed ? "gzip" : NULL);
    add_header(r, "X-Synthetic", reply->synthetic ? "1" : NULL);
    add_header(r, "Retry-After", fault->retry_after);
    add_header(r, "Location", fault->redirect);
    enum MHD_Result result = MHD_queue_response(conn, reply->status, r);
    MHD_destroy_response(r);
    return result;
}
