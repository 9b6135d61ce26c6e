/* SPDX-License-Identifier: MIT */
/* The files of nst/JSONTestSuite against the reader, and both against docs/json-policy.md. They are not part
 * of this repository: $LASTRO_SHARED/data/json-parsing, or ../shared beside the source; without them it says
 * so. */
#include "json.h"
#include "unit.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static char folder[1024];
static char *policy; /* the page */

static char *load(const char *path, size_t *ret_len) {
    FILE *f = fopen(path, "rbe");
    if (!f)
        return NULL;
    size_t cap = 1 << 20;
    char *text = malloc(cap + 1);
    *ret_len = text ? fread(text, 1, cap, f) : 0;
    fclose(f);
    if (text)
        text[*ret_len] = '\0';
    return text;
}

static bool find_folder(void) {
    const char *shared = getenv("LASTRO_SHARED");
    snprintf(folder, sizeof folder, "%s/data/json-parsing",
             shared && *shared ? shared : LASTRO_SOURCE_DIR "/../shared");
    DIR *dir = opendir(folder);
    if (dir)
        closedir(dir);
    return dir != NULL;
}

static bool reads(const char *name) {
    char path[2048];
    size_t len;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *text = load(path, &len);
    if (!text) {
        unit_check(false, "cannot read %s", path);
        return false;
    }
    char *exact = malloc(len + 1); /* so that a sanitizer sees a step beyond */
    memcpy(exact, text, len);
    arena a;
    arena_init(&a, 0);
    json_error err = {0};
    json_limits wire = {.last_wins = true};
    const json_value *v = json_read(&a, exact, len, &wire, &err);
    unit_check(v || (err.text[0] && err.line && err.offset <= len), "%s: refused without a reason", name);
    bool read = v != NULL;
    arena_free(&a);
    free(exact);
    free(text);
    return read;
}

/* What the page says of the file: 1 accepted, 0 refused, -1 nothing. */
static int listed(const char *name) {
    char row[512];
    snprintf(row, sizeof row, "\n| %s | ", name);
    const char *at = strstr(policy, row);
    if (!at)
        return -1;
    at += strlen(row);
    return !strncmp(at, "accepted |", 10) ? 1 : !strncmp(at, "refused |", 9) ? 0 : -1;
}

static void suite__every_file_is_read_as_the_page_says(void) {
    DIR *dir = opendir(folder);
    static const char kinds[] = "yni";
    unsigned seen[3] = {0};
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        const char *name = e->d_name, *kind = strchr(kinds, name[0]);
        if (!*name || !kind || name[1] != '_')
            continue;
        seen[kind - kinds]++;
        bool read = reads(name);
        int said = listed(name);
        if (*kind == 'n')
            unit_check(!read, "%s was accepted", name);
        else if (*kind == 'i')
            unit_check(said == (int)read, "%s: %s, but the page says %d", name, read ? "accepted" : "refused",
                       said);
        else
            unit_check(read, "%s was refused", name);
    }
    if (dir)
        closedir(dir);
    printf("\n    %u y_, %u n_, %u i_ files ... ", seen[0], seen[1], seen[2]);
    CU_ASSERT(seen[0] == 95 && seen[1] == 188 && seen[2] == 35);
}

/* Each row of the page has its file, so the list cannot go stale. */
static void suite__every_row_of_the_page_has_its_file(void) {
    unsigned rows = 0;
    for (const char *at = policy; (at = strchr(at, '\n')); at++) {
        char name[256], path[2048];
        if ((strncmp(at, "\n| i_", 5) != 0 && strncmp(at, "\n| y_", 5) != 0) ||
            sscanf(at, "\n| %255[^ |]", name) != 1)
            continue;
        size_t len;
        snprintf(path, sizeof path, "%s/%s", folder, name);
        char *text = load(path, &len);
        unit_check(text != NULL, "no file %s", name);
        free(text);
        rows++;
    }
    CU_ASSERT_EQUAL(rows, 35);
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(suite__every_file_is_read_as_the_page_says),
        UNIT_TEST(suite__every_row_of_the_page_has_its_file),
    };
    if (!find_folder()) {
        printf("skipped: no folder %s (set LASTRO_SHARED)\n", folder);
        return 0;
    }
    size_t len;
    policy = load(LASTRO_SOURCE_DIR "/docs/json-policy.md", &len);
    if (!policy) {
        printf("no docs/json-policy.md\n");
        return 1;
    }
    int result = UNIT_RUN("json suite", tests);
    free(policy);
    return result;
}
