/* SPDX-License-Identifier: MIT */
/* What goes out is what each revision's own schema says. The schemas are not part of this repository:
 * $LASTRO_SHARED/data/mcp-schema, or ../shared beside the source; without them the test says so and checks nothing of it. */
#include "mcp_internal.h"
#include "test_talk.h"

static schema_set *set;
static arena mem;
static revision rev_now;
static peer_kind last_kind;

static const char *schema_file(revision rev) {
    static char path[2048];
    const char *shared = getenv("LASTRO_SHARED");
    snprintf(path, sizeof path, "%s/data/mcp-schema/%s.json", shared && *shared ? shared : LASTRO_SOURCE_DIR "/../shared", revision_name(rev));
    return path;
}

/* False: it is not there. */
static bool load(revision rev) {
    FILE *f = fopen(schema_file(rev), "rbe");
    char *text = f ? malloc(1 << 20) : NULL;
    json_error err = {0};
    if (!text)
        return false;
    size_t len = fread(text, 1, 1 << 20, f);
    fclose(f);
    const json_value *v = json_read_copy(&mem, text, len, NULL, &err);
    free(text);
    unit_check(v != NULL, "%s: %s", schema_file(rev), err.text);
    return v && schema_set_add(set, arena_printf(&mem, "urn:mcp:%s", revision_name(rev)), v);
}

static bool loaded(void) {
    static bool said;
    arena_init(&mem, 0);
    set = schema_set_create();
    bool ok = true;
    for (revision r = REV_2024_11_05; r < REV_COUNT; r++)
        ok = ok && load(r);
    if (!ok && !said)
        printf("\n    skipped: no schemas at %s", schema_file(REV_2026_07_28));
    said = said || !ok;
    return ok;
}
static void unload(void) {
    schema_set_destroy(set);
    arena_free(&mem);
}

/* v is what the present revision calls that. */
static void fits_at(int line, const json_value *v, const char *definition) {
    const char *place = rev_now >= REV_2025_11_25 ? "$defs" : "definitions";
    char *text = arena_printf(&mem, "{\"$ref\":\"urn:mcp:%s#/%s/%s\"}", revision_name(rev_now), place, definition);
    schema_options opts = {.set = set};
    schema_error err = {0};
    schema_report report = {0};
    schema *s = schema_compile(json_read_copy(&mem, text, strlen(text), NULL, NULL), &opts, &err);
    unit_check(s != NULL, "line %d: %s of %s: %s", line, definition, revision_name(rev_now), err.text);
    bool valid = s && schema_validate(s, v, &mem, &report) == SCHEMA_VALID;
    unit_check(valid, "line %d: no %s of %s: %s at \"%s\" in %s", line, definition, revision_name(rev_now),
               report.count ? report.failures[0].schema_path : "", report.count ? report.failures[0].instance_path : "", shown(v));
    schema_destroy(s);
}
#define FITS(v, definition) fits_at(__LINE__, (v), (definition))

static void keep_kind(peer *p, const char *json, size_t len, peer_kind kind) {
    last_kind = kind == PEER_ASIDE ? last_kind : kind;
    client_send(p, json, len, kind);
}
static void start_wire(void) {
    start();
    peer_.base.send = keep_kind;
}

static const char *claim(void) {
    return rev_now == REV_2026_07_28 ? ",'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/logLevel':'debug',"
                                       "'progressToken':1,'io.modelcontextprotocol/clientCapabilities':{'elicitation':{},'sampling':{},'roots':{}}}"
                                     : ",'_meta':{'progressToken':'p'}";
}
static const char *error_name(void) {
    return rev_now >= REV_2025_11_25 ? "JSONRPCErrorResponse" : "JSONRPCError";
}

/* What both eras have. */
static void same_methods(void) {
    static const struct {
        const char *method, *params, *definition;
        revision since;
    } rows[] = {
        {"tools/list", "'x':0", "ListToolsResult", REV_2024_11_05},
        {"resources/list", "'x':0", "ListResourcesResult", REV_2024_11_05},
        {"resources/templates/list", "'x':0", "ListResourceTemplatesResult", REV_2024_11_05},
        {"prompts/list", "'x':0", "ListPromptsResult", REV_2024_11_05},
        {"tools/call", "'name':'echo','arguments':{'text':'x'}", "CallToolResult", REV_2024_11_05},
        {"tools/call", "'name':'echo','arguments':{'text':5}", "CallToolResult", REV_2024_11_05},
        {"tools/call", "'name':'origin'", "CallToolResult", REV_2024_11_05},
        {"resources/read", "'uri':'inner://one'", "ReadResourceResult", REV_2024_11_05},
        {"prompts/get", "'name':'greet','arguments':{'who':'me'}", "GetPromptResult", REV_2024_11_05},
        {"completion/complete", "'ref':{'type':'ref/prompt','name':'greet'},'argument':{'name':'few','value':'a'}", "CompleteResult", REV_2024_11_05},
        {"tools/call", "'name':'nobody'", NULL, REV_2024_11_05},
        {"tools/call", "'name':'bad'", NULL, REV_2024_11_05},
        {"resources/read", "'uri':'inner://nowhere'", NULL, REV_2024_11_05},
        {"prompts/get", "'name':'nobody'", NULL, REV_2024_11_05},
        {"tools/list", "'cursor':'x'", NULL, REV_2024_11_05},
        {"no/such", "'x':0", NULL, REV_2024_11_05},
    };
    for (size_t i = 0; i < LASTRO_COUNT(rows); i++) {
        say("{'jsonrpc':'2.0','id':7,'method':'%s','params':{%s%s}}", rows[i].method, rows[i].params, claim());
        const json_value *v = hear();
        FITS(v, "JSONRPCMessage");
        FITS(rows[i].definition ? AT(v, "result") : v, rows[i].definition ? rows[i].definition : error_name());
    }
}

static void talking(void) {
    say("{'jsonrpc':'2.0','id':8,'method':'tools/call','params':{'name':'talk'%s}}", claim());
    size_t progress = 0, lines = 0;
    for (;;) {
        const json_value *v = hear();
        if (!v || AT(v, "result"))
            break;
        bool is_progress = json_text_is(AT(v, "method"), "notifications/progress");
        progress += is_progress;
        lines += !is_progress;
        FITS(v, is_progress ? "ProgressNotification" : "LoggingMessageNotification");
    }
    CU_ASSERT(progress == 3 && lines == 5);
}

static void legacy_questions(void) {
    static const struct {
        const char *method, *definition;
        revision since;
    } asks[] = {{"elicitation/create", "ElicitRequest", REV_2025_06_18}, {"sampling/createMessage", "CreateMessageRequest", REV_2024_11_05},
                {"roots/list", "ListRootsRequest", REV_2024_11_05}};
    for (size_t i = 0; i < LASTRO_COUNT(asks); i++) {
        if (rev_now < asks[i].since)
            continue;
        say("{'jsonrpc':'2.0','id':9,'method':'tools/call','params':{'name':'ask','arguments':{'method':'%s'}}}", asks[i].method);
        const json_value *q = hear();
        FITS(q, "JSONRPCRequest");
        FITS(q, asks[i].definition);
        say("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':9}}");
        FITS(hear(), "CancelledNotification");
        silence();
    }
}

static void test_mcp_wire__legacy_messages_are_what_their_revision_says(void) {
    bool ok = loaded();
    for (rev_now = REV_2024_11_05; ok && rev_now < REV_2026_07_28; rev_now++) {
        start_wire();
        say("{'jsonrpc':'2.0','id':'i','method':'initialize','params':{'protocolVersion':'%s','capabilities':{'elicitation':{},'sampling':{},"
            "'roots':{}},'clientInfo':{'name':'t','version':'0'}}}", revision_name(rev_now));
        FITS(RESULT("'i'"), "InitializeResult");
        say("{'jsonrpc':'2.0','id':1,'method':'ping'}");
        FITS(RESULT("1"), "EmptyResult");
        say("{'jsonrpc':'2.0','id':2,'method':'logging/setLevel','params':{'level':'debug'}}");
        FITS(RESULT("2"), "EmptyResult");
        same_methods();
        talking();
        legacy_questions();
        finish();
    }
    unload();
}

static void refused(const char *id, int code, const char *definition, peer_kind kind) {
    const json_value *v = ERROR_IS(id, code);
    bool whole = code > -32100; /* of JSON-RPC's own codes the error alone is described */
    FITS(whole ? v : AT(v, "error"), definition);
    unit_check(last_kind == kind, "%d went out as %d", code, (int)last_kind);
}

static void test_mcp_wire__modern_messages_are_what_their_revision_says(void) {
    bool ok = loaded();
    rev_now = REV_2026_07_28;
    if (ok) {
        start_wire();
        say("{'jsonrpc':'2.0','id':1,'method':'server/discover','params':{'x':0%s}}", claim());
        FITS(RESULT("1"), "DiscoverResult");
        same_methods();
        talking();
        static const char *const asks[] = {"elicitation/create", "sampling/createMessage", "roots/list"};
        for (size_t i = 0; i < LASTRO_COUNT(asks); i++) {
            say("{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'ask','arguments':{'method':'%s'}%s}}", asks[i], claim());
            const json_value *r = RESULT("2");
            FITS(r, "InputRequiredResult");
            FITS(AT(r, "inputRequests"), "InputRequests");
        }
        say("{'jsonrpc':'2.0','id':3,'method':'subscriptions/listen','params':{'notifications':{'toolsListChanged':true}%s}}", claim());
        FITS(hear(), "SubscriptionsAcknowledgedNotification");
        mcp_end_listeners(ses, true);
        FITS(RESULT("3"), "SubscriptionsListenResult");
        finish();
    }
    unload();
}

static void test_mcp_wire__the_modern_codes_carry_their_data_and_are_400(void) {
    bool ok = loaded();
    rev_now = REV_2026_07_28;
    if (ok) {
        start_wire();
        say("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'ask'," CLAIM "}}");
        refused("1", -32021, "MissingRequiredClientCapabilityError", PEER_REFUSED);
        say("{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'ask','arguments':{'method':'roots/list'}," CLAIM "}}");
        refused("2", -32021, "MissingRequiredClientCapabilityError", PEER_REFUSED);
        say("{'jsonrpc':'2.0','id':3,'method':'resources/read','params':{'uri':'inner://item/ask'," CLAIM "}}");
        refused("3", -32021, "MissingRequiredClientCapabilityError", PEER_REFUSED);
        say("{'jsonrpc':'2.0','id':4,'method':'tools/list','params':{'_meta':{'io.modelcontextprotocol/protocolVersion':'v999.0.0',"
            "'io.modelcontextprotocol/clientCapabilities':{}}}}");
        refused("4", -32022, "UnsupportedProtocolVersionError", PEER_REFUSED);
        lastro_call *c = mcp_begin(ses, &peer_.base); /* as a transport refuses headers */
        c->rev = REV_2026_07_28;
        mcp_error(c, RPC_HEADER, NULL, "The header Mcp-Name says something else than params.name.");
        refused(NULL, -32020, "HeaderMismatchError", PEER_REFUSED);
        say("{'jsonrpc':'2.0','id':5,'method':'no/such','params':{" CLAIM "}}");
        refused("5", -32601, "MethodNotFoundError", PEER_NO_METHOD);
        say("{'jsonrpc':'2.0','id':6,'method':'tools/call','params':{" CLAIM "}}");
        refused("6", -32602, "InvalidParamsError", PEER_ANSWER);
        say("{'jsonrpc':'2.0','id':7,'method':'tools/call','params':{'name':'ask','requestState':'x'," CLAIM "}}");
        refused("7", -32602, "InvalidParamsError", PEER_ANSWER);
        say("{'jsonrpc':'2.0','id':8,'method':'tools/list','params':{'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}}}");
        refused("8", -32602, "InvalidParamsError", PEER_REFUSED);
        finish();
    }
    unload();
}

static void test_mcp_wire__caching_hints_are_on_what_may_be_kept(void) {
    static const struct {
        const char *method, *params;
        bool cacheable;
    } rows[] = {
        {"server/discover", "", true},
        {"tools/list", "", true},
        {"resources/list", "", true},
        {"resources/templates/list", "", true},
        {"prompts/list", "", true},
        {"resources/read", "'uri':'inner://one',", true},
        {"resources/read", "'uri':'inner://item/ask',", false}, /* input_required */
        {"tools/call", "'name':'echo','arguments':{'text':'x'},", false},
        {"tools/call", "'name':'ask',", false},
        {"prompts/get", "'name':'greet','arguments':{'who':'me'},", false},
        {"completion/complete", "'ref':{'type':'ref/prompt','name':'greet'},'argument':{'name':'few','value':'a'},", false},
    };
    start();
    for (size_t i = 0; i < LASTRO_COUNT(rows); i++) {
        say("{'jsonrpc':'2.0','id':1,'method':'%s','params':{%s" CLAIM_ASKS "}}", rows[i].method, rows[i].params);
        const json_value *r = RESULT("1"), *ttl = AT(r, "ttlMs"), *scope = AT(r, "cacheScope");
        int64_t ms = -1;
        bool both = json_int64(ttl, &ms) && ms >= 0 && (json_text_is(scope, "private") || json_text_is(scope, "public"));
        unit_check(rows[i].cacheable ? both : !ttl && !scope, "%s %s: %s", rows[i].method, rows[i].params, shown(r));
        CU_ASSERT(json_is(AT(r, "resultType"), JSON_STRING));
    }
    greet("2025-11-25");
    for (size_t i = 1; i < LASTRO_COUNT(rows); i++) {
        if (!rows[i].cacheable)
            continue;
        say("{'jsonrpc':'2.0','id':1,'method':'%s','params':{%s'x':0}}", rows[i].method, rows[i].params);
        const json_value *r = RESULT("1");
        unit_check(!AT(r, "ttlMs") && !AT(r, "cacheScope") && !AT(r, "resultType"), "%s in a legacy era: %s", rows[i].method, shown(r));
    }
    finish();
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_mcp_wire__legacy_messages_are_what_their_revision_says),
        UNIT_TEST(test_mcp_wire__modern_messages_are_what_their_revision_says),
        UNIT_TEST(test_mcp_wire__the_modern_codes_carry_their_data_and_are_400),
        UNIT_TEST(test_mcp_wire__caching_hints_are_on_what_may_be_kept),
    };
    return UNIT_RUN("mcp_wire", tests);
}
