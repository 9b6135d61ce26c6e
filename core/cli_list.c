/* SPDX-License-Identifier: MIT */
/* cli_list.c -- lastro list, and lastro run. */
#include "cli.h"
#include "fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: lastro list [tools|resources|prompts|plugins] [--json]\n"
    "  without a word: tools. --json prints what clients of protocol 2025-11-25 get.\n";

static void list_tools(const registry *reg) {
    for (size_t i = 0; i < reg->all.tools.count; i++) {
        const tool *t = &reg->all.tools.at[i];
        fprintf(cli_out(), "%-28s %-10s %s\n", t->name, t->owner->entry->name, t->title ? t->title : "");
    }
}

static void list_resources(const registry *reg) {
    for (size_t i = 0; i < reg->all.resources.count; i++)
        fprintf(cli_out(), "%-40s %s\n", reg->all.resources.at[i].def->uri,
                reg->all.resources.at[i].def->name);
    for (size_t i = 0; i < reg->all.templates.count; i++)
        fprintf(cli_out(), "%-40s %s (template)\n", reg->all.templates.at[i].def->uri,
                reg->all.templates.at[i].def->name);
}

static void list_prompts(const registry *reg) {
    for (size_t i = 0; i < reg->all.prompts.count; i++) {
        const lastro_prompt *p = reg->all.prompts.at[i].def;
        fprintf(cli_out(), "%-28s %s\n", p->name, p->title ? p->title : "");
    }
}

static void list_plugins(const registry *reg) {
    for (size_t i = 0; i < reg->plugin_count; i++) {
        const plugin *p = &reg->plugins[i];
        if (p->active)
            fprintf(cli_out(), "%-16s %-8s loaded, %zu tool%s: %s\n", p->entry->name,
                    p->desc->version ? p->desc->version : "?", p->offer.tools.count, p->offer.tools.count == 1 ? "" : "s",
                    p->desc->description ? p->desc->description : "");
        else
            fprintf(cli_out(), "%-16s %-8s not loaded: %s\n", p->entry->name, "-", p->reason);
    }
}

static const struct {
    const char *name;
    void (*print)(const registry *reg);
    int kind; /* list_kind; -1: there is no such list on the wire */
} lists[] = {
    {"tools", list_tools, LIST_TOOLS},
    {"resources", list_resources, LIST_RESOURCES},
    {"prompts", list_prompts, LIST_PROMPTS},
    {"plugins", list_plugins, -1},
};

static void print_plugins_json(const registry *reg) {
    json_writer w;
    json_writer_init(&w, 0);
    json_begin_object(&w);
    json_key(&w, "plugins");
    json_begin_array(&w);
    for (size_t i = 0; i < reg->plugin_count; i++) {
        const plugin *p = &reg->plugins[i];
        json_begin_object(&w);
        json_key(&w, "name");
        json_write_string(&w, p->entry->name);
        json_key(&w, "version");
        json_write_string(&w, p->active ? p->desc->version : NULL);
        json_key(&w, "loaded");
        json_write_bool(&w, p->active);
        json_key(&w, "reason");
        json_write_string(&w, p->active ? NULL : p->reason);
        json_key(&w, "tools");
        json_begin_array(&w);
        for (size_t t = 0; p->active && t < p->offer.tools.count; t++)
            if (registry_tool_enabled(p, p->offer.tools.at[t].name))
                json_write_string(&w, p->offer.tools.at[t].name);
        json_end_array(&w);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
    if (json_writer_finish(&w))
        fprintf(cli_out(), "%s\n", w.data);
    json_writer_free(&w);
}

static void print_json(server *s, int kind) {
    if (kind < 0) {
        print_plugins_json(s->reg);
        return;
    }
    surface_text *text = surface_take(s->surface, (list_kind)kind, REV_2025_11_25);
    fprintf(cli_out(), "%s\n", text ? text->data : "");
    surface_release(text);
}

int cli_list(const server_options *opts, int argc, char **argv) {
    const char *what = "tools";
    bool json = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            return CLI_OK;
        }
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        else
            what = argv[i];
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (strcmp(lists[i].name, what) != 0)
            continue;
        server *s = cli_open(opts);
        if (!s)
            return CLI_USAGE;
        if (json)
            print_json(s, lists[i].kind);
        else
            lists[i].print(s->reg);
        server_destroy(s);
        return CLI_OK;
    }
    cli_error("list knows tools, resources, prompts and plugins; it got \"%s\"", what);
    return CLI_USAGE;
}

/* ---- lastro run ---- */

static void print_commands(FILE *out, const registry *reg, const char *plugin_name) {
    for (size_t i = 0; i < reg->all.commands.count; i++) {
        const command *k = &reg->all.commands.at[i];
        if (!plugin_name || strcmp(k->owner->entry->name, plugin_name) == 0)
            fprintf(out, "  lastro run %s %s — %s\n", k->owner->entry->name, k->def->name,
                    k->def->summary ? k->def->summary : "");
    }
}

static const command *find_command(const registry *reg, const char *plugin_name, const char *name) {
    for (size_t i = 0; i < reg->all.commands.count; i++) {
        const command *k = &reg->all.commands.at[i];
        if (strcmp(k->owner->entry->name, plugin_name) == 0 && strcmp(k->def->name, name) == 0)
            return k;
    }
    return NULL;
}

static int run_command(server *s, const command *k, int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        fprintf(cli_out(), "usage: lastro run %s %s %s\n", k->owner->entry->name, k->def->name,
                k->def->usage ? k->def->usage : "");
        return CLI_OK;
    }
    lastro_call *c = cli_begin_call(s);
    if (!c)
        return CLI_USAGE;
    c->owner = k->owner;
    c->method = k->def->name;
    int status = k->def->run(k->owner->self, c, argc, (const char *const *)argv);
    call_put(c);
    return status;
}

int cli_run(const server_options *opts, int argc, char **argv) {
    bool help = argc < 2 || strcmp(argv[1], "--help") == 0;
    server *s = cli_open(opts);
    if (!s)
        return CLI_USAGE;
    int status = help && argc > 1 ? CLI_OK : CLI_USAGE;
    const command *k = !help && argc > 2 ? find_command(s->reg, argv[1], argv[2]) : NULL;
    if (k) {
        fflush(cli_out());
        status = run_command(s, k, argc - 2, argv + 2);
    } else {
        FILE *out = status == CLI_OK ? cli_out() : stderr;
        if (!help)
            cli_error("there is no command \"%s\" of a loaded plugin \"%s\"", argc > 2 ? argv[2] : "",
                      argv[1]);
        fputs("usage: lastro run PLUGIN COMMAND …\n", out);
        print_commands(out, s->reg, NULL);
    }
    server_destroy(s);
    return status;
}
