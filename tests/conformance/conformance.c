/* SPDX-License-Identifier: MIT */
/* conformance.c -- the fixture: a plugin with everything that the official conformance suite asks a server for, and a few
 * things that it does not ask. It is written as a third party would, against the SDK alone. The literal texts of its
 * answers are those that the suite's scenarios describe. */
#include "conformance.h"

#define TOOL_ROW(tool_name, tool_flags) \
    {.size = sizeof(lastro_tool), .flags = (tool_flags), .contract = embedded_##tool_name, .run = tool_name},
static const lastro_tool tools[] = {TOOLS(TOOL_ROW)};

static lastro_status add_tools(lastro_registrar *r, lastro_error *err) {
    lastro_status s = LASTRO_OK;
    for (size_t i = 0; !s && i < LASTRO_COUNT(tools); i++)
        s = lastro->add_tool(r, &tools[i], err);
    return s;
}

static lastro_status add_rest(lastro_registrar *r, lastro_error *err) {
    lastro_status s = LASTRO_OK;
    for (size_t i = 0; !s && fixture_resources[i]; i++)
        s = lastro->add_resource(r, fixture_resources[i], err);
    for (size_t i = 0; !s && fixture_templates[i]; i++)
        s = lastro->add_template(r, fixture_templates[i], err);
    for (size_t i = 0; !s && fixture_prompts[i]; i++)
        s = lastro->add_prompt(r, fixture_prompts[i], err);
    return s;
}

static lastro_status conformance_init(const lastro_host *host, lastro_registrar *r, void **ret_self, lastro_error *err) {
    *ret_self = NULL;
    if (host->size < sizeof(lastro_host))
        return lastro_fail(err, LASTRO_EABI, "the host's table has %u bytes, this plugin needs %zu: it is older than the SDK",
                           host->size, sizeof(lastro_host));
    lastro_status s = add_tools(r, err);
    return s ? s : add_rest(r, err);
}

static const lastro_plugin conformance = {LASTRO_PLUGIN_HEAD, .name = "conformance", .version = "1.0.0",
    .description = "Everything the protocol's conformance suite asks for", .init = conformance_init};
LASTRO_PLUGIN(conformance)
