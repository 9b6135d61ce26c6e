/* SPDX-License-Identifier: MIT */
/* bcb-sim -- a stand-in for the Banco Central do Brasil's public data services. See README.md. */
#include "faults.h"
#include "http.h"
#include "sim.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { EXIT_USAGE = 2 };

static const char usage[] =
    "usage: bcb-sim --data DIR [--port N] [option…]\n"
    "  --port N                 on 127.0.0.1; 0 (default) takes a free one\n"
    "  --data DIR               recorded bodies (sgs/ focus/ ptax/ ckan/ errors/) or a snapshot (CODE.json)\n"
    "  --clock T                2026-08-21T10:00:00-03:00 or 2026-08-21; default: now\n"
    "  --seed N                 invent missing series, marked X-Synthetic: 1; default: they are unknown\n"
    "  --faults FILE            rules of misbehaviour (JSON, see README.md)\n"
    "  --html-delay MS          wait before the HTML page of an unknown code (30200, as measured)\n"
    "  --unfiltered-delay MS    wait of a Focus query without $filter and $top (40000)\n"
    "  --obs-delay-us US        time of a window for each observation (0; measured: 4000 to 8000)\n"
    "  --future-days N          how far past the clock series 432 goes (default: to its end)\n"
    "  --exact-windows          a window from a holiday does not bring the day before\n"
    "  --help\n";

typedef struct {
    unsigned port;
    const char *data, *faults;
} settings;

static bool take_number(const char *text, long most, long *ret) {
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (errno || end == text || *end || n < 0 || n > most)
        return false;
    *ret = n;
    return true;
}

static bool take_seed(const char *text, sim_world *w) {
    char *end;
    errno = 0;
    w->seed = strtoull(text, &end, 10);
    w->seeded = !errno && end != text && !*end && text[0] != '-';
    return w->seeded;
}

static bool take_option(int option, const char *text, settings *set, sim_world *w) {
    long n = 0;
    switch (option) {
    case 'p':
        if (!take_number(text, 65535, &n))
            return false;
        set->port = (unsigned)n;
        return true;
    case 'd':
        set->data = text;
        return true;
    case 'f':
        set->faults = text;
        return true;
    case 'c':
        return clock_parse(text, &w->clock);
    case 's':
        return take_seed(text, w);
    case 'h':
        return take_number(text, 3600000, &w->html_delay_ms);
    case 'u':
        return take_number(text, 3600000, &w->unfiltered_delay_ms);
    case 'o':
        return take_number(text, 1000000, &w->obs_delay_us);
    case 'n':
        return take_number(text, 100000, &w->future_days);
    case 'x':
        w->exact_windows = true;
        return true;
    default:
        return false;
    }
}

/* false: *ret_exit is the program's answer */
static bool take_options(int argc, char **argv, settings *set, sim_world *w, int *ret_exit) {
    static const struct option known[] = {{"port", 1, NULL, 'p'},
                                          {"data", 1, NULL, 'd'},
                                          {"clock", 1, NULL, 'c'},
                                          {"seed", 1, NULL, 's'},
                                          {"faults", 1, NULL, 'f'},
                                          {"html-delay", 1, NULL, 'h'},
                                          {"unfiltered-delay", 1, NULL, 'u'},
                                          {"obs-delay-us", 1, NULL, 'o'},
                                          {"future-days", 1, NULL, 'n'},
                                          {"exact-windows", 0, NULL, 'x'},
                                          {"help", 0, NULL, '?' + 256},
                                          {NULL, 0, NULL, 0}};
    int option, index = 0;
    *ret_exit = EXIT_USAGE;
    while ((option = getopt_long(argc, argv, "", known, &index)) != -1) {
        if (option == '?' + 256) {
            fputs(usage, stdout);
            *ret_exit = EXIT_SUCCESS;
            return false;
        }
        if (option == '?') {
            fputs(usage, stderr);
            return false;
        }
        if (!take_option(option, optarg, set, w)) {
            fprintf(stderr, "bcb-sim: --%s cannot be '%s'\n", known[index].name, optarg);
            return false;
        }
    }
    if (set->data && optind == argc)
        return true;
    fputs(usage, stderr);
    return false;
}

static bool load_faults(sim_faults *faults, const char *path) {
    char error[256];
    char *text = path ? file_read(path, NULL) : NULL;
    bool good = !path || (text && faults_load(faults, text, error, sizeof error));
    if (!good)
        fprintf(stderr, "bcb-sim: %s: %s\n", path, text ? error : "cannot be read");
    free(text);
    return good;
}

static bool world_load(sim_world *w, const char *data) {
    struct stat st;
    if (stat(data, &st) != 0 || !S_ISDIR(st.st_mode)) {
        fprintf(stderr, "bcb-sim: %s: no such folder\n", data);
        return false;
    }
    pages_load(&w->pages, data);
    store_load(&w->store, data);
    olinda_load(&w->olinda, data);
    ckan_load(w, data);
    return true;
}

static void world_free(sim_world *w) {
    pages_free(&w->pages);
    store_free(&w->store);
    olinda_free(&w->olinda);
    text_free(&w->package_list);
    free(w->ckan_folder);
}

static int serve(const sim_world *w, sim_faults *faults, unsigned port) {
    char error[128];
    sigset_t ends;
    int caught;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL); /* before the threads, which inherit it */
    signal(SIGPIPE, SIG_IGN);
    sim_server *server = server_start(w, faults, port, error, sizeof error);
    if (!server) {
        fprintf(stderr, "bcb-sim: %s\n", error);
        return EXIT_FAILURE;
    }
    printf("bcb-sim listening on http://127.0.0.1:%u\n", server_port(server));
    fflush(stdout);
    sigwait(&ends, &caught);
    server_stop(server);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
    settings set = {0};
    sim_world w = {.html_delay_ms = 30200, .unfiltered_delay_ms = 40000, .future_days = -1};
    int result;
    if (!take_options(argc, argv, &set, &w, &result))
        return result;
    sim_faults *faults = faults_create();
    result = EXIT_USAGE;
    if (load_faults(faults, set.faults) && world_load(&w, set.data))
        result = serve(&w, faults, set.port);
    world_free(&w);
    faults_destroy(faults);
    return result;
}
