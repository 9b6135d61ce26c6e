/* SPDX-License-Identifier: MIT */
/* A plugin with one tool that says who it is, and, by a definition each, what can be wrong with one. It writes the
 * descriptor and the note by hand where LASTRO_PLUGIN would get them right. */
#include <lastro/lastro.h>

#ifndef ODD_ABI
#define ODD_ABI LASTRO_ABI
#endif
#ifndef ODD_NOTE_ABI
#define ODD_NOTE_ABI ODD_ABI
#endif
#ifndef ODD_MAGIC
#define ODD_MAGIC LASTRO_MAGIC
#endif
#ifndef ODD_SAYS
#define ODD_SAYS ODD_NAME
#endif
#ifdef ODD_LONG_TOOL
#define TEN "0123456789"
#define ODD_TOOL "odd_" TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#endif
#ifndef ODD_TOOL
#define ODD_TOOL "odd_" ODD_NAME
#endif

typedef struct {
    lastro_plugin base;
#ifdef ODD_LONGER /* a later SDK's descriptor of the same ABI */
    void *later[4];
#endif
} odd_plugin;
#ifndef ODD_SIZE
#define ODD_SIZE sizeof(odd_plugin)
#endif

__attribute__((visibility("hidden"))) const lastro_host *lastro;

/* Exported under one name by all variants: each must reach its own. */
__attribute__((visibility("default"))) const char *odd_identity(void);
const char *odd_identity(void) {
    return ODD_NAME;
}

#ifdef ODD_UNDEFINED
int lastro_host_function_of_the_future(void);
#endif

static lastro_status say_who(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out, lastro_error *err) {
    (void)self, (void)call, (void)args, (void)err;
    lastro->begin_object(out);
    lastro_put_text(out, "who", odd_identity());
    lastro->end_object(out);
    return LASTRO_OK;
}

#define OUTPUT "\"outputSchema\":{\"type\":\"object\",\"required\":[\"who\"],\"properties\":{\"who\":{\"type\":\"string\"}}}"
#ifdef ODD_REMOTE_REF
#define INPUT "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"http://169.254.169.254/x\"}}}"
#else
#define INPUT "\"inputSchema\":{\"type\":\"object\",\"additionalProperties\":false}"
#endif
#ifdef ODD_BAD_CONTRACT
#define CONTRACT(name) "{\"name\":\"" name "\",\"description\":\"not closed\""
#else
#define CONTRACT(name) "{\"name\":\"" name "\",\"description\":\"Says which library it came from.\"," INPUT "," OUTPUT "}"
#endif

static const lastro_tool tools[] = {
    {.size = sizeof(lastro_tool), .contract = CONTRACT(ODD_TOOL), .run = say_who},
    {.size = sizeof(lastro_tool), .contract = CONTRACT(ODD_TOOL "_2"), .run = say_who},
    {.size = sizeof(lastro_tool), .contract = CONTRACT(ODD_TOOL "_3"), .run = say_who},
};

static lastro_status init(const lastro_host *host, lastro_registrar *r, void **ret_self, lastro_error *err) {
    lastro = host;
    *ret_self = NULL;
#ifdef ODD_UNDEFINED
    if (lastro_host_function_of_the_future())
        return lastro_fail(err, LASTRO_EINTERNAL, "never reached");
#endif
    lastro_status s = lastro->add_tool(r, &tools[0], err);
#ifdef ODD_FAIL_AFTER_TWO
    if (!s)
        s = lastro->add_tool(r, &tools[1], err);
    if (!s)
        s = lastro_fail(err, LASTRO_EINTERNAL, "the third of three would not come");
#endif
    return s;
}

#ifdef ODD_NEEDS
static const lastro_need needs[] = {{ODD_NEEDS, 1}, {NULL, 0}};
#define NEEDS .needs = needs,
#else
#define NEEDS
#endif

static const odd_plugin descriptor = {
    .base = {.magic = ODD_MAGIC, .abi = ODD_ABI, .size = (uint32_t)(ODD_SIZE), .name = ODD_SAYS, .version = "1.0.0",
             .description = "One odd plugin", NEEDS.init = init}};

#ifndef ODD_NO_NOTE
__attribute__((section(".note.lastro"), used, aligned(4))) static const struct lastro_note note = {
    7, 8, LASTRO_NOTE_TYPE, LASTRO_NOTE_NAME, ODD_NOTE_ABI, (uint32_t)(ODD_SIZE)};
#endif

#ifdef ODD_NO_ENTRY
#define lastro_plugin_entry lastro_plugin_entree
#endif
__attribute__((visibility("default"))) const lastro_plugin *lastro_plugin_entry(void);
const lastro_plugin *lastro_plugin_entry(void) {
#ifdef ODD_NULL_ENTRY
    (void)descriptor;
    return NULL;
#else
    return &descriptor.base;
#endif
}
