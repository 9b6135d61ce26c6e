/* SPDX-License-Identifier: MIT */
/* ckan.c -- the open data portal: the list of data sets and its recorded searches. */
#include "sim.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define HELP "\"help\":\"https://dadosabertos.bcb.gov.br/api/3/action/help_show?name="

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void ckan_load(sim_world *w, const char *data) {
    size_t count = w->store.entries;
    const char **slugs = sim_alloc(count, sizeof *slugs);
    for (size_t i = 0; i < count; i++)
        slugs[i] = w->store.entry[i].slug;
    qsort(slugs, count, sizeof *slugs, by_text); /* the portal sorts by name, not by code */
    text_adds(&w->package_list, "{" HELP "package_list\",\"success\":true,\"result\":[");
    for (size_t i = 0; i < count; i++) {
        text_adds(&w->package_list, i ? "," : "");
        text_add_json(&w->package_list, slugs[i]);
    }
    text_adds(&w->package_list, "]}");
    free(slugs);
    w->ckan_folder = path_join(data, "ckan");
}

/* codigo_sgs:20786 was recorded as package_search_codigo_sgs_20786.json */
static char *recorded_search(const sim_world *w, const char *query) {
    sim_text name = {0};
    text_adds(&name, "package_search_");
    for (const char *at = query; *at; at++)
        text_add(&name, isalnum((unsigned char)*at) ? at : "_", 1);
    text_adds(&name, ".json");
    char *path = path_join(w->ckan_folder, name.at), *text = file_read(path, NULL);
    free(path);
    text_free(&name);
    return text;
}

static void serve_search(const sim_world *w, const sim_request *req, sim_reply *ret) {
    const char *asked[] = {req->arg(req, "fq"), req->arg(req, "q")};
    char *found = NULL;
    for (size_t i = 0; i < 2 && !found; i++)
        if (asked[i] && *asked[i] && strlen(asked[i]) < 128)
            found = recorded_search(w, asked[i]);
    if (found)
        reply_text(ret, 200, TYPE_JSON, found);
    else
        reply_text(ret, 200, TYPE_JSON,
                   "{" HELP
                   "package_search\",\"success\":true,\"result\":{\"count\":0,\"sort\":\"score desc, "
                   "metadata_modified desc\",\"facets\":{},\"results\":[],\"search_facets\":{}}}");
    free(found);
}

bool ckan_handle(const sim_world *w, const sim_request *req, sim_reply *ret) {
    if (strcmp(req->path, "/api/3/action/package_list") == 0)
        reply_text(ret, 200, TYPE_JSON, w->package_list.at);
    else if (strcmp(req->path, "/api/3/action/package_search") == 0)
        serve_search(w, req, ret);
    else
        return false;
    return true;
}
