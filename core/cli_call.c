/* SPDX-License-Identifier: MIT */
/* cli_call.c -- lastro call TOOL: the same path as tools/call, from the shell. */
#include "cli.h"
#include "fail.h"
#include "render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: lastro call TOOL [KEY=VALUE…] [--args JSON] [--json]\n"
    "  KEY=VALUE   one argument; the tool's schema decides whether VALUE is a number, a text, a list (as JSON)…\n"
    "  --args JSON the arguments as one object; KEY=VALUE adds to it\n"
    "  --json      print the whole tool result (content, structuredContent, isError, _meta)\n"
    "exit status: 0 answered; 1 the tool answered with an error; 2 no such tool, or an unusable command line\n";

typedef struct {
    const char *tool, *args;
    char **pairs;
    int pair_count;
    bool json;
} request;

static int parse(int argc, char **argv, request *r) {
    *r = (request){.pairs = calloc((size_t)argc + 1, sizeof *r->pairs)};
    if (!r->pairs)
        return CLI_USAGE;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            r->json = true;
        } else if (strcmp(argv[i], "--args") == 0) {
            if (++i >= argc) {
                cli_error("--args needs a JSON object");
                return CLI_USAGE;
            }
            r->args = argv[i];
        } else if (strncmp(argv[i], "--", 2) == 0) {
            cli_error("there is no option \"%s\" here\n%s", argv[i], usage);
            return CLI_USAGE;
        } else if (!r->tool) {
            r->tool = argv[i];
        } else if (strchr(argv[i], '=') > argv[i]) {
            r->pairs[r->pair_count++] = argv[i];
        } else {
            cli_error("\"%s\" is no KEY=VALUE", argv[i]);
            return CLI_USAGE;
        }
    }
    if (!r->tool)
        fputs(usage, stderr);
    return r->tool ? -1 : CLI_USAGE;
}

/* The schema of that argument allows values of that JSON type. */
static bool allows(const json_value *rule, const char *type) {
    const json_value *t = json_member(rule, "type");
    for (json_iter it = json_iterate(t); json_is(t, JSON_ARRAY) && json_next(&it);)
        if (json_text_is(it.value, type))
            return true;
    return json_text_is(t, type);
}

/* A value is taken as JSON where the schema wants something else than a text and it reads as that (or as a quoted
 * text, which the shell was made to pass); else as a text, so that the validator can say what it should have been. */
static void write_argument(json_writer *w, lastro_call *c, const char *key, size_t key_len, const char *value) {
    const json_value *rule = json_member_n(json_member(c->tool->input_schema, "properties"), key, key_len);
    const json_value *v = json_read_copy(&c->mem, value, strlen(value), NULL, NULL);
    static const char *const names[] = {[JSON_NULL] = "null",   [JSON_BOOL] = "boolean", [JSON_NUMBER] = "number",
                                        [JSON_ARRAY] = "array", [JSON_OBJECT] = "object"};
    const char *name = v && !json_is(v, JSON_STRING) ? names[json_kind_of(v)] : NULL;
    bool as_json = name && (allows(rule, name) || (json_is(v, JSON_NUMBER) && allows(rule, "integer")));
    as_json = as_json || (json_is(v, JSON_STRING) && rule && !allows(rule, "string"));
    json_key_n(w, key, key_len);
    if (as_json)
        json_write_value(w, v);
    else
        json_write_string(w, value);
}

static bool overridden(const request *r, json_text key) {
    for (int i = 0; i < r->pair_count; i++)
        if (strncmp(r->pairs[i], key.at, key.len) == 0 && r->pairs[i][key.len] == '=')
            return true;
    return false;
}

static int read_arguments(lastro_call *c, const request *r) {
    json_error at;
    const json_value *base = NULL;
    if (r->args && !(base = json_read_copy(&c->mem, r->args, strlen(r->args), NULL, &at))) {
        cli_error("--args: %u:%u: %s", at.line, at.column, at.text);
        return CLI_USAGE;
    }
    if (base && !json_is(base, JSON_OBJECT)) {
        cli_error("--args must be a JSON object");
        return CLI_USAGE;
    }
    json_writer w;
    json_writer_init(&w, 0);
    json_begin_object(&w);
    for (json_iter it = json_iterate(base); json_next(&it);) {
        json_text key = json_text_of(it.key);
        if (overridden(r, key))
            continue;
        json_key_n(&w, key.at, key.len);
        json_write_value(&w, it.value);
    }
    for (int i = 0; i < r->pair_count; i++) {
        const char *eq = strchr(r->pairs[i], '=');
        write_argument(&w, c, r->pairs[i], (size_t)(eq - r->pairs[i]), eq + 1);
    }
    json_end_object(&w);
    bool ok = json_writer_finish(&w);
    c->args = ok ? json_read_copy(&c->mem, w.data, w.len, NULL, &at) : NULL;
    if (!c->args)
        cli_error("the arguments cannot be used: %s", ok ? at.text : json_fault_text(w.fault));
    json_writer_free(&w);
    return c->args ? -1 : CLI_USAGE;
}

static void print_json(lastro_call *c, run_outcome outcome, const char *text) {
    json_writer *w = &c->out;
    w->indent = 2;
    json_begin_object(w);
    call_write_result(c, w, outcome, text);
    json_key(w, "_meta");
    json_begin_object(w);
    call_write_meta(c, w, outcome == RUN_TOLD);
    json_end_object(w);
    json_end_object(w);
    if (json_writer_finish(w))
        fprintf(cli_out(), "%s\n", w->data);
    w->indent = 0;
}

static void print_readable(lastro_call *c) {
    if (c->tool->output_schema) {
        const json_value *v = json_read_copy(&c->mem, c->structured.data, c->structured.len, NULL, NULL);
        render_value(cli_out(), v);
    }
    for (call_writer *item = c->content; item; item = item->next) {
        const json_value *v = json_read_copy(&c->mem, item->w.data, item->w.len, NULL, NULL);
        const char *text = json_str(json_member(v, "text"));
        fprintf(cli_out(), "%s\n", text ? text : item->w.data);
    }
}

static int run(lastro_call *c, const request *r) {
    lastro_error err;
    run_outcome outcome = call_run_tool(c, &err);
    bool failed = outcome != RUN_RESULT;
    if (outcome == RUN_ASK)
        fail(&err, LASTRO_ECLIENT, "%s asks the user something, which the shell cannot answer", c->tool->name);
    if (r->json)
        print_json(c, failed ? RUN_TOLD : RUN_RESULT, err.text);
    else if (failed)
        cli_error("%s", err.text);
    else
        print_readable(c);
    return failed ? CLI_FAILED : CLI_OK;
}

static void say_unknown(const server *s, const char *name) {
    cli_error("there is no tool \"%s\"%s; served are:", name,
              registry_tool_is_disabled(s->reg, name, strlen(name)) ? " (the manifest does not enable it)" : "");
    for (size_t i = 0; i < s->reg->all.tools.count; i++)
        fprintf(stderr, "  %s\n", s->reg->all.tools.at[i].name);
    if (!s->reg->all.tools.count)
        fputs("  none\n", stderr);
}

static int with_server(server *s, const request *r) {
    const tool *t = registry_tool(s->reg, r->tool, strlen(r->tool));
    if (!t) {
        say_unknown(s, r->tool);
        return CLI_USAGE;
    }
    lastro_call *c = cli_begin_call(s);
    if (!c)
        return CLI_USAGE;
    c->tool = t;
    int status = read_arguments(c, r);
    if (status < 0)
        status = run(c, r);
    call_put(c);
    return status;
}

int cli_call(const server_options *opts, int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        fputs(usage, stdout);
        return CLI_OK;
    }
    request r;
    int status = parse(argc, argv, &r);
    server *s = status < 0 ? cli_open(opts) : NULL;
    if (status < 0)
        status = s ? with_server(s, &r) : CLI_USAGE;
    server_destroy(s);
    free(r.pairs);
    return status;
}
