/* SPDX-License-Identifier: MIT */
#include "cli_schema.h"

#include "file.h"
#include "schema_messages.h"

#include <dirent.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { EXIT_VALID = 0, EXIT_NOT = 1, EXIT_UNUSABLE = 2, FILE_MAX = 256 << 20, PATH_LIMIT = 4096 };

static const char help_text[] =
    "usage: lastro schema check [options] SCHEMA [INSTANCE...]\n"
    "       lastro schema test [options] SUITE...\n"
    "\n"
    "check   is the schema usable, and is each INSTANCE (a file, or - for standard input) valid?\n"
    "test    runs files in the JSON Schema Test Suite's form; a folder stands for its *.json files\n"
    "\n"
    "  --draft 7|2020-12   without it: the schema's $schema, for test else the folder's name, else 2020-12\n"
    "  --remotes DIR       documents for http://localhost:1234/ (nothing is ever fetched)\n"
    "  --format            assert formats instead of only noting them\n"
    "  --lang LANG         language of the sentences: en (default), pt-BR\n"
    "  --help\n"
    "\n"
    "exit: 0 all valid or passed, 1 not so, 2 the command line, a file or the schema is unusable\n";

/* ---- reading ---- */

static const json_value *read_json(arena *a, const char *path) {
    lastro_error why = {0};
    json_error at;
    size_t len;
    char *text = file_read(a, strcmp(path, "-") ? path : "/dev/stdin", FILE_MAX, &len, &why);
    if (!text) {
        fprintf(stderr, "lastro schema: %s\n", why.text);
        return NULL;
    }
    const json_value *v = json_read(a, text, len, NULL, &at);
    if (!v)
        fprintf(stderr, "%s:%u:%u: %s\n", path, at.line, at.column, at.text);
    return v;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

typedef struct {
    char **items;
    size_t count;
} name_list;

static void names_free(name_list *l) {
    for (size_t i = 0; i < l->count; i++)
        free(l->items[i]);
    free(l->items);
    *l = (name_list){0};
}

/* The names in a folder in order, without those that begin with a dot. */
static bool names_in(const char *folder, name_list *ret) {
    DIR *dir = opendir(folder);
    *ret = (name_list){0};
    if (!dir)
        return false;
    bool ok = true;
    for (struct dirent *d; ok && (d = readdir(dir));) {
        if (d->d_name[0] == '.')
            continue;
        char **items = realloc(ret->items, (ret->count + 1) * sizeof *items);
        char *name = items ? strdup(d->d_name) : NULL;
        ret->items = items ? items : ret->items;
        ok = name != NULL;
        if (ok)
            ret->items[ret->count++] = name;
    }
    closedir(dir);
    if (ret->count)
        qsort(ret->items, ret->count, sizeof *ret->items, by_name);
    return ok;
}

static bool is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool ends_in_json(const char *name) {
    size_t n = strlen(name);
    return n > 5 && !strcmp(name + n - 5, ".json");
}

/* ---- remotes ---- */

static bool add_remotes(arena *a, schema_set *set, const char *folder, const char *uri) {
    name_list names;
    bool ok = names_in(folder, &names);
    if (!ok)
        fprintf(stderr, "lastro schema: cannot read the folder %s\n", folder);
    for (size_t i = 0; ok && i < names.count; i++) {
        char path[PATH_LIMIT], address[PATH_LIMIT];
        if (snprintf(path, sizeof path, "%s/%s", folder, names.items[i]) >= PATH_LIMIT ||
            snprintf(address, sizeof address, "%s%s", uri, names.items[i]) >= PATH_LIMIT - 1)
            continue;
        if (is_folder(path)) {
            strcat(address, "/");
            ok = add_remotes(a, set, path, address);
        } else if (ends_in_json(path)) {
            const json_value *v = read_json(a, path);
            ok = v && schema_set_add(set, address, v);
        }
    }
    names_free(&names);
    return ok;
}

schema_set *schema_suite_remotes(arena *a, const char *folder) {
    schema_set *set = schema_set_create();
    if (set && add_remotes(a, set, folder, "http://localhost:1234/"))
        return set;
    schema_set_destroy(set);
    return NULL;
}

/* ---- suites ---- */

static schema_draft draft_of_path(const char *path) {
    const char *old = strstr(path, "draft7"), *new = strstr(path, "draft2020-12");
    return old && (!new || old > new) ? SCHEMA_DRAFT_7 : SCHEMA_DRAFT_2020_12;
}

static void count_test(schema_suite *s, bool ok, const char *path, const json_value *group,
                       const json_value *test, const char *found, FILE *out) {
    s->passed += ok;
    s->failed += !ok;
    json_text a = json_text_of(json_member(group, "description")),
              b = json_text_of(json_member(test, "description"));
    if (!ok && out)
        fprintf(out, "FAIL %s: %.*s: %.*s: %s\n", path, (int)a.len, a.at ? a.at : "", (int)b.len,
                b.at ? b.at : "", found);
}

static void run_group(schema_suite *s, const char *path, const json_value *group, arena *scratch, FILE *out) {
    schema_options options = {
        .draft = s->draft ? s->draft : draft_of_path(path), .assert_format = s->assert_format, .set = s->set};
    schema_error why = {0};
    schema *compiled = schema_compile(json_member(group, "schema"), &options, &why);
    static const char *const said[] = {"valid", "not valid", "undecided"};
    char text[512];
    for (json_iter it = json_iterate(json_member(group, "tests")); json_next(&it);) {
        const json_value *valid = json_member(it.value, "valid");
        if (!compiled) {
            snprintf(text, sizeof text, "the schema is unusable: %s", why.text);
            count_test(s, false, path, group, it.value, text, out);
            continue;
        }
        schema_verdict v = schema_validate(compiled, json_member(it.value, "data"), scratch, NULL);
        bool ok = v == (json_bool(valid) ? SCHEMA_VALID : SCHEMA_INVALID);
        count_test(s, ok, path, group, it.value, said[v], out);
        arena_reset(scratch);
    }
    schema_destroy(compiled);
}

static bool run_file(schema_suite *s, const char *path, FILE *out) {
    arena text, scratch;
    arena_init(&text, 0);
    arena_init(&scratch, 0);
    const json_value *groups = read_json(&text, path);
    bool ok = groups && json_is(groups, JSON_ARRAY);
    if (groups && !ok)
        fprintf(stderr, "lastro schema: %s is not a list of test groups\n", path);
    for (json_iter it = json_iterate(ok ? groups : NULL); json_next(&it);)
        run_group(s, path, it.value, &scratch, out);
    arena_free(&scratch);
    arena_free(&text);
    return ok;
}

bool schema_suite_run(schema_suite *s, const char *path, FILE *out) {
    if (!is_folder(path))
        return run_file(s, path, out);
    name_list names;
    bool ok = names_in(path, &names);
    if (!ok)
        fprintf(stderr, "lastro schema: cannot read the folder %s\n", path);
    for (size_t i = 0; ok && i < names.count; i++) {
        char file[PATH_LIMIT];
        if (ends_in_json(names.items[i]) &&
            snprintf(file, sizeof file, "%s/%s", path, names.items[i]) < PATH_LIMIT)
            ok = run_file(s, file, out);
    }
    names_free(&names);
    return ok;
}

/* ---- commands ---- */

typedef struct {
    schema_draft draft;
    bool assert_format;
    const char *remotes, *language;
    arena memory; /* remote documents */
    schema_set *set;
} settings;

static int run_suites(const settings *o, int argc, char **argv) {
    schema_suite s = {.draft = o->draft, .assert_format = o->assert_format, .set = o->set};
    bool ok = true;
    for (int i = 0; i < argc; i++)
        ok &= schema_suite_run(&s, argv[i], stdout);
    printf("%zu passed, %zu failed\n", s.passed, s.failed);
    return !ok ? EXIT_UNUSABLE : s.failed ? EXIT_NOT : EXIT_VALID;
}

static void print_failures(const char *path, schema_verdict verdict, const schema_report *report,
                           const schema_messages *m) {
    printf("%s: %s\n", path, verdict == SCHEMA_UNDECIDED ? "undecided" : "not valid");
    for (size_t i = 0; i < report->count; i++) {
        const schema_failure *f = &report->failures[i];
        char text[2048];
        schema_message_render(m, f, text, sizeof text);
        printf("  at \"%s\" by \"%s\": %s\n", f->instance_path, f->schema_path, text);
    }
    if (report->more)
        puts("  ... and more");
}

static int check_instance(const schema *s, const char *path, const schema_messages *m) {
    arena memory;
    arena_init(&memory, 0);
    schema_report report = {0};
    int status = EXIT_UNUSABLE;
    const json_value *v = read_json(&memory, path);
    if (v) {
        schema_verdict verdict = schema_validate(s, v, &memory, &report);
        status = verdict == SCHEMA_VALID ? EXIT_VALID : EXIT_NOT;
        if (verdict == SCHEMA_VALID)
            printf("%s: valid\n", path);
        else
            print_failures(path, verdict, &report, m);
    }
    arena_free(&memory);
    return status;
}

static int check_all(const settings *o, const schema *s, int argc, char **argv) {
    schema_messages *m = schema_messages_builtin(o->language);
    if (!m) {
        fputs("lastro schema: out of memory\n", stderr);
        return EXIT_UNUSABLE;
    }
    int status = EXIT_VALID;
    for (int i = 1; i < argc; i++) {
        int one = check_instance(s, argv[i], m);
        status = one > status ? one : status;
    }
    schema_messages_free(m);
    return status;
}

static int run_check(const settings *o, int argc, char **argv) {
    arena memory;
    arena_init(&memory, 0);
    schema_options options = {.draft = o->draft, .assert_format = o->assert_format, .set = o->set};
    schema_error why = {0};
    int status = EXIT_UNUSABLE;
    const json_value *root = read_json(&memory, argv[0]);
    schema *s = root ? schema_compile(root, &options, &why) : NULL;
    if (root && !s)
        fprintf(stderr, "%s: unusable at \"%s\": %s\n", argv[0], why.path, why.text);
    if (s && argc == 1)
        printf("%s: usable, %s, %zu subschemas\n", argv[0],
               schema_draft_of(s) == SCHEMA_DRAFT_7 ? "draft-07" : "2020-12", schema_subschemas(s));
    if (s)
        status = check_all(o, s, argc, argv);
    schema_destroy(s);
    arena_free(&memory);
    return status;
}

static bool read_draft(settings *o, const char *text) {
    bool old = !strcmp(text, "7") || !strcmp(text, "draft7") || !strcmp(text, "draft-07");
    bool new = !strcmp(text, "2020-12") || !strcmp(text, "draft2020-12");
    o->draft = old ? SCHEMA_DRAFT_7 : SCHEMA_DRAFT_2020_12;
    if (!old && !new)
        fprintf(stderr, "lastro schema: --draft is 7 or 2020-12, not '%s'\n", text);
    return old || new;
}

static bool read_language(settings *o, const char *text) {
    size_t len;
    o->language = text;
    if (schema_messages_text(text, &len))
        return true;
    fprintf(stderr, "lastro schema: no sentences in '%s'; there are en and pt-BR\n", text);
    return false;
}

/* -1: go on; else the exit status. */
static int read_options(settings *o, int argc, char **argv) {
    static const struct option options[] = {
        {"draft", required_argument, NULL, 'd'}, {"remotes", required_argument, NULL, 'r'},
        {"lang", required_argument, NULL, 'l'},  {"format", no_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},        {0}};
    optind = 0; /* may have been used before in this process */
    for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        bool ok = true;
        if (c == 'd')
            ok = read_draft(o, optarg);
        else if (c == 'r')
            o->remotes = optarg;
        else if (c == 'l')
            ok = read_language(o, optarg);
        else if (c == 'f')
            o->assert_format = true;
        else if (c == 'h')
            return fputs(help_text, stdout), EXIT_VALID;
        else
            ok = false;
        if (!ok)
            return EXIT_UNUSABLE;
    }
    if (o->remotes && !(o->set = schema_suite_remotes(&o->memory, o->remotes)))
        return EXIT_UNUSABLE;
    return -1;
}

static const struct {
    const char *name;
    int (*run)(const settings *o, int argc, char **argv);
} commands[] = {{"check", run_check}, {"test", run_suites}};

int cli_schema(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    if (!strcmp(name, "--help") || !strcmp(name, "-h"))
        return fputs(help_text, stdout), EXIT_VALID;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(name, commands[i].name) != 0)
            continue;
        settings o = {0};
        arena_init(&o.memory, 0);
        int status = read_options(&o, argc - 1, argv + 1);
        if (status < 0 && argc - 1 <= optind) {
            fputs(help_text, stderr);
            status = EXIT_UNUSABLE;
        } else if (status < 0) {
            status = commands[i].run(&o, argc - 1 - optind, argv + 1 + optind);
        }
        schema_set_destroy(o.set);
        arena_free(&o.memory);
        return status;
    }
    fputs(help_text, stderr);
    return EXIT_UNUSABLE;
}
