/* SPDX-License-Identifier: MIT */
/* template.c -- a whole plugin to copy: one of each thing a plugin registers, none of it
 * needing the network. What a call can do besides (ask, progress, task, changed) is in the guide, sdk/README.md.
 *
 *   1. Copy this folder, e.g. to myplugin/, and rename template.c to myplugin.c.
 *   2. In CMakeLists.txt change the three names at its top; in manifest.json, name and library.
 *   3. Here change the name in the descriptor at the end ("template"), and "interest://".
 *   4. Throw away what you do not need: each add_* line in init goes with the struct and the function above it.
 *   5. Write your contract file (compound_interest.json shows its form); it is all that describes a tool.
 *   6. cmake -S . -B build -DLASTRO_SDK=path/to/sdk && cmake --build build
 *      lastro call compound_interest principal=1000 rate=1 periods=12 --manifest build/myplugin/manifest.json
 *
 * Rules that bite: nothing on standard output (use lastro->log, or print in a shell command); handlers run on many
 * threads at once, so what init set up stays as it is; never keep a value, a text or a call beyond its handler.
 */
#include <lastro/lastro.h>

#include "embedded.h" /* made by the build: contract_compound_interest */

#include <math.h>
#include <stdlib.h>

enum { PERIODS_MAX = 1200 };

/* What the manifest's "config" says. Filled by init, read-only afterwards. */
typedef struct settings {
    char currency[8];
} settings;

static const char *const common_rates[] = {"0.5", "1", "1.5", "2", "5", "10", NULL};

/* ---- the arithmetic: plain C, so that a test can include it without a host ---- */

static long double growth(long double rate_pct, int64_t periods) {
    return powl(1 + rate_pct / 100, (long double)periods);
}

/* Cents, half away from zero. */
static double cents(long double amount) {
    return (double)(roundl(amount * 100) / 100);
}

/* ---- a tool: args passed the contract's inputSchema, what is written must pass its outputSchema ---- */

/* From the digits as the caller wrote them: lastro->number would round 0.1 to a double first. */
static long double digits(lastro_call *call, const lastro_value *number) {
    char *text = lastro_copy(call, lastro->text(number));
    return text ? strtold(text, NULL) : 0;
}

static lastro_status compound_interest(void *self, lastro_call *call, const lastro_value *args, lastro_writer *out,
                                       lastro_error *err) {
    const settings *set = self;
    long double principal = digits(call, lastro_get(args, "principal")), rate = digits(call, lastro_get(args, "rate"));
    int64_t periods = lastro_get_int(args, "periods", 1);
    long double amount = principal * growth(rate, periods);
    if (!(amount < 1e12L)) /* beyond, the last cent would be noise: say so, never answer with noise */
        return lastro_fail(err, LASTRO_EARGS, "the amount passes 1 trillion, where cents are no longer sure; use a smaller "
                                              "principal, rate or number of periods");
    lastro->begin_object(out);
    lastro_put_value(out, "principal", lastro_get(args, "principal")); /* the caller's digits, untouched */
    lastro_put_value(out, "rate", lastro_get(args, "rate"));
    lastro_put_int(out, "periods", periods);
    lastro_put_double(out, "amount", cents(amount));
    lastro_put_double(out, "interest", cents(amount - principal));
    lastro_put_text(out, "currency", set->currency);
    lastro_put_text(out, "convention", "amount = principal * (1 + rate/100) ^ periods; rounded once, to cents, half away "
                                       "from zero");
    lastro->end_object(out);
    return LASTRO_OK;
}
static const lastro_tool tool = {
    .size = sizeof(lastro_tool), .flags = LASTRO_TOOL_QUICK, .contract = contract_compound_interest, .run = compound_interest};

/* ---- a resource: fixed content under a fixed address ---- */

static lastro_status read_conventions(void *self, lastro_call *call, lastro_text uri, lastro_writer *contents,
                                      lastro_error *err) {
    static const char text[] = "Interest is added to the principal at the end of each period. No rounding in between.";
    (void)self, (void)call, (void)err;
    lastro_resource_text(contents, uri, "text/plain", (lastro_text){text, sizeof text - 1});
    return LASTRO_OK;
}
static const lastro_resource conventions = {.size = sizeof(lastro_resource), .uri = "interest://conventions",
    .name = "conventions", .title = "Conventions", .description = "How interest is compounded here.",
    .mime_type = "text/plain", .read = read_conventions};

/* ---- a template resource: a family of addresses, with completion of its variable ---- */

static lastro_status read_growth(void *self, lastro_call *call, lastro_text uri, lastro_writer *contents, lastro_error *err) {
    char *text = lastro_copy(call, uri), *end;
    (void)self;
    if (!text)
        return lastro_fail(err, LASTRO_ENOMEM, "out of memory");
    const char *rate = text + strlen("interest://growth/"); /* the host only calls with addresses of the template */
    long double pct = strtold(rate, &end);
    if (end == rate || *end || !(pct > -100 && pct <= 100))
        return lastro_fail(err, LASTRO_ENOTFOUND, "'%s' is no rate: a number of percent, above -100 and up to 100", rate);
    char list[512] = "[";
    size_t len = 1;
    for (int periods = 1; periods <= 12; periods++)
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%.6Lf", periods > 1 ? "," : "", growth(pct, periods));
    snprintf(list + len, sizeof list - len, "]");
    lastro_resource_text(contents, uri, "application/json", (lastro_text){list, len + 1});
    return LASTRO_OK;
}
/* The same function completes the template's variable and the prompt's argument. */
static lastro_status complete_rate(void *self, lastro_call *call, lastro_text variable, lastro_text prefix,
                                   lastro_writer *values, lastro_error *err) {
    (void)self, (void)call, (void)err;
    if (lastro_text_is(variable, "rate"))
        for (size_t i = 0; common_rates[i]; i++)
            if (strncmp(common_rates[i], prefix.at ? prefix.at : "", prefix.len) == 0)
                lastro_add_text(values, common_rates[i]);
    return LASTRO_OK;
}
static const lastro_resource growth_table = {.size = sizeof(lastro_resource), .uri = "interest://growth/{rate}",
    .name = "growth", .title = "Growth of 1", .description = "What 1 grows to after 1 to 12 periods at {rate} percent each.",
    .mime_type = "application/json", .read = read_growth, .complete = complete_rate};

/* ---- a prompt ---- */

static lastro_status get_compare(void *self, lastro_call *call, const lastro_value *arguments, lastro_writer *messages,
                                 lastro_error *err) {
    char *rate = lastro_copy(call, lastro_get_text(arguments, "rate", "1"));
    const char *text = lastro_format(call, "Compare 1,000 held for 12 periods at %s percent with twice that rate. Use "
                                           "compound_interest for both and quote its amounts as they are.", rate ? rate : "1");
    (void)self;
    if (!text)
        return lastro_fail(err, LASTRO_ENOMEM, "out of memory");
    lastro_message_text(messages, "user", text);
    return LASTRO_OK;
}
static const lastro_prompt_argument rate_argument = {.size = sizeof(lastro_prompt_argument), .name = "rate", .title = "Rate",
    .description = "Percent per period", .required = true};
static const lastro_prompt compare = {.size = sizeof(lastro_prompt), .name = "compare_rates", .title = "Compare two rates",
    .description = "Twelve periods at a rate and at twice that rate.",
    .arguments = (const lastro_prompt_argument *const[]){&rate_argument, NULL},
    .tools = (const char *const[]){"compound_interest", NULL}, /* switched off there, the prompt goes too */
    .get = get_compare, .complete = complete_rate};

/* ---- a shell command: lastro run template table RATE [PERIODS] ---- */

static int32_t run_table(void *self, lastro_call *call, int32_t argc, const char *const *argv) {
    (void)self; /* argv[0] is the command's own name, as in main */
    long double rate = argc > 1 ? strtold(argv[1], NULL) : 0;
    int64_t periods = argc > 2 ? atoll(argv[2]) : 12;
    if (argc < 2 || argc > 3 || periods < 1 || periods > PERIODS_MAX) {
        lastro->log(call, LASTRO_LOG_ERROR, "usage: lastro run template table RATE [PERIODS]");
        return 2;
    }
    for (int64_t n = 1; n <= periods; n++) {
        const char *line = lastro_format(call, "%lld\t%.6Lf\n", (long long)n, growth(rate, n));
        if (line)
            lastro->print(call, line, strlen(line));
    }
    return 0;
}
static const lastro_command table = {.size = sizeof(lastro_command), .name = "table", .summary = "growth of 1, period by period",
    .usage = "RATE [PERIODS]", .run = run_table};

/* ---- loading ---- */

static lastro_status template_init(const lastro_host *host, lastro_registrar *r, void **ret_self, lastro_error *err) {
    lastro = host; /* before anything else */
    settings *set = calloc(1, sizeof *set);
    if (!set)
        return lastro_fail(err, LASTRO_ENOMEM, "out of memory");
    lastro_text currency = lastro_get_text(lastro->config(r), "currency", "USD");
    snprintf(set->currency, sizeof set->currency, "%.*s", (int)currency.len, currency.at);
    lastro_status s = LASTRO_OK;
    if ((s = lastro->add_tool(r, &tool, err)) || (s = lastro->add_resource(r, &conventions, err)) ||
        (s = lastro->add_template(r, &growth_table, err)) || (s = lastro->add_prompt(r, &compare, err)) ||
        (s = lastro->add_command(r, &table, err)) ||
        (s = lastro->add_instructions(r, "compound_interest", "Growth at a fixed rate: compound_interest.", err))) {
        free(set); /* init failed: shutdown will not be called */
        return s;
    }
    *ret_self = set;
    return LASTRO_OK;
}

static void template_shutdown(void *self) {
    free(self);
}

static const lastro_plugin template_plugin = {LASTRO_PLUGIN_HEAD, .name = "template", .version = "0.1.0",
    .description = "Compound interest: the plugin to copy", .init = template_init, .shutdown = template_shutdown};
LASTRO_PLUGIN(template_plugin)
