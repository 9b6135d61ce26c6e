/* SPDX-License-Identifier: MIT */
#include "provenance.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static const lastro_source source_a = {.size = sizeof source_a, .name = "a", .title = "Source A", .base_url = "https://a.example",
                                       .license = "CC0-1.0", .citation = "{detail}. Read {date}. {license}. {url}",
                                       .utc_offset_min = -180};
static const lastro_source source_b = {.size = sizeof source_b, .name = "b", .title = "Source B", .utc_offset_min = 0};
static fetch_source a = {.source = &source_a}, b = {.source = &source_b};

static arena mem;
static provenance prov;
static json_writer text; /* the last block written */

enum { T1 = 1787317200 }; /* 2026-08-21T10:00:00-03:00 */
#define MS(seconds) ((int64_t)(seconds)*1000)

static void begin(void) {
    arena_reset(&mem);
    prov_init(&prov, &mem);
    a.base = NULL;
}
static uint32_t fetched(provenance *p, const fetch_source *s, const char *url, int64_t at, uint32_t attempts) {
    fetch_access f = {.source = s, .url = url, .retrieved_at = at, .attempts = attempts, .from_cache = !attempts};
    return prov_add_fetch(p, &f);
}
static const char *write_as(bool list, const char *language) {
    json_writer_reset(&text);
    prov_write(&prov, &text, list, language);
    CU_ASSERT_FATAL(json_writer_finish(&text));
    return text.data;
}
static const json_value *written(const char *language) {
    write_as(false, language);
    return json_read_copy(&mem, text.data, text.len, NULL, NULL);
}
static const json_value *in(const json_value *v, const char *name) {
    return json_member(v, name);
}
static void is(const json_value *v, const char *json) {
    const json_value *expected = json_read_copy(&mem, json, strlen(json), NULL, NULL);
    json_writer w;
    json_writer_init(&w, 0);
    if (v)
        json_write_value(&w, v);
    json_writer_finish(&w);
    unit_check(expected && v && json_equal(v, expected), "%s instead of %s", v ? w.data : "nothing", json);
    json_writer_free(&w);
}
static void attribution_is(const char *json) {
    json_writer w;
    json_writer_init(&w, 0);
    prov_write_attribution(&prov, &w);
    CU_ASSERT_FATAL(json_writer_finish(&w));
    unit_check(strcmp(w.data, json) == 0, "%s instead of %s", w.data, json);
    json_writer_free(&w);
}

static void test_provenance__the_keys_have_their_order(void) {
    begin();
    uint32_t n = fetched(&prov, &a, "https://a.example/1", MS(T1), 1);
    lastro_field_source f = {.size = sizeof f, .fields = (const char *const[]){"x", "y", NULL}, .access = n, .dataset_id = "d1"};
    lastro_block k = {.size = sizeof k, .source = "a", .data_vintage = "2026-08", .detail = "series 1",
                      .fields = (const lastro_field_source *const[]){&f, NULL}, .notices = (const char *const[]){"note", NULL},
                      .revision = "provisional", .revision_note = "may change"};
    prov_add_block(&prov, &a, &k);
    prov_add_mark(&prov, "engine 1", "mean of x");
    CU_ASSERT_STRING_EQUAL(write_as(false, "en"),
        "{\"source\":\"Source A\",\"source_url\":\"https://a.example/1\",\"data_vintage\":\"2026-08\","
        "\"retrieved_at\":\"2026-08-21T10:00:00-03:00\",\"retrieval\":{\"requests\":1,\"attempts\":1,\"anomalies\":[],"
        "\"unstable\":false},\"citation\":\"series 1. Read 21/08/2026. CC0-1.0. https://a.example/1\",\"license\":\"CC0-1.0\","
        "\"field_sources\":[{\"fields\":[\"x\",\"y\"],\"source_url\":\"https://a.example/1\",\"dataset_id\":\"d1\","
        "\"data_vintage\":null,\"retrieved_at\":\"2026-08-21T10:00:00-03:00\",\"served_from_cache\":false}],"
        "\"notices\":[\"note\"],\"derived\":true,\"derivation_note\":\"engine 1: mean of x\","
        "\"revision\":{\"status\":\"provisional\",\"note\":\"may change\"}}");
}

static void test_provenance__retrieved_at_is_the_oldest_usable_read(void) {
    begin();
    fetched(&prov, &a, "u2", MS(T1 + 60), 1);
    fetched(&prov, &a, "u1", MS(T1), 0);
    fetched(&prov, &b, "other", MS(T1 - 3600), 1); /* of another source */
    fetch_access failed = {.source = &a, .url = "u3", .retrieved_at = MS(T1 - 60), .outcome = LASTRO_FETCH_TIMEOUT, .attempts = 3};
    prov_add_fetch(&prov, &failed);
    lastro_access unknown = {.size = sizeof unknown, .source = "a", .url = "local"};
    prov_add_access(&prov, &a, &unknown); /* its instant is not known: it says nothing */
    prov_add_block(&prov, &a, &(lastro_block){.size = sizeof(lastro_block), .source = "a"});
    is(in(written("en"), "retrieved_at"), "\"2026-08-21T10:00:00-03:00\"");
    is(in(written("en"), "source_url"), "\"u2\"");
    begin();
    prov_add_access(&prov, &a, &unknown);
    prov_add_block(&prov, &a, &(lastro_block){.size = sizeof(lastro_block), .source = "a"});
    is(in(written("en"), "retrieved_at"), "null");
}

static void test_provenance__counts_requests_attempts_and_anomalies(void) {
    begin();
    fetch_access f[] = {
        {.source = &a, .url = "u", .retrieved_at = MS(T1), .attempts = 3, .anomalies = {[LASTRO_ANOMALY_TIMEOUT] = 1, [LASTRO_ANOMALY_BODY] = 1}},
        {.source = &a, .url = "v", .retrieved_at = MS(T1), .attempts = 1},
        {.source = &a, .url = "w", .retrieved_at = MS(T1), .attempts = 2, .anomalies = {[LASTRO_ANOMALY_BODY] = 1}},
        {.source = &a, .url = "x", .retrieved_at = MS(T1), .from_cache = true, .anomalies = {[LASTRO_ANOMALY_5XX] = 9}},
        {.source = &a, .url = "y", .attempts = 2, .outcome = LASTRO_FETCH_SERVER, .anomalies = {[LASTRO_ANOMALY_5XX] = 2}},
    };
    for (size_t i = 0; i < sizeof f / sizeof *f; i++)
        CU_ASSERT_EQUAL(prov_add_fetch(&prov, &f[i]), i + 1);
    prov_add_block(&prov, &a, &(lastro_block){.size = sizeof(lastro_block), .source = "a"});
    is(in(written("en"), "retrieval"),
       "{\"requests\":4,\"attempts\":8,\"anomalies\":[{\"kind\":\"timeout\",\"count\":1},{\"kind\":\"http_5xx\",\"count\":2},"
       "{\"kind\":\"malformed_body\",\"count\":2}],\"unstable\":true}");
    begin(); /* more attempts than requests is unstable, whatever was counted */
    fetched(&prov, &a, "u", MS(T1), 2);
    prov_add_block(&prov, &a, &(lastro_block){.size = sizeof(lastro_block), .source = "a"});
    is(in(written("en"), "retrieval"), "{\"requests\":1,\"attempts\":2,\"anomalies\":[],\"unstable\":true}");
    CU_ASSERT_PTR_NULL(in(written("en"), "served_from_cache"));
}

static void test_provenance__says_when_all_came_from_the_cache(void) {
    begin();
    fetched(&prov, &a, "u", MS(T1), 0);
    fetched(&prov, &a, "v", MS(T1), 0);
    prov_add_block(&prov, &a, &(lastro_block){.size = sizeof(lastro_block), .source = "a"});
    is(in(written("en"), "served_from_cache"), "true");
    is(in(written("en"), "retrieval"), "null");
    fetch_access failed = {.source = &a, .url = "w", .outcome = LASTRO_FETCH_TIMEOUT, .attempts = 1};
    prov_add_fetch(&prov, &failed); /* what failed served nothing */
    is(in(written("en"), "served_from_cache"), "true");
    fetched(&prov, &a, "x", MS(T1), 1);
    CU_ASSERT_PTR_NULL(in(written("en"), "served_from_cache"));
    begin(); /* nothing was read at all */
    prov_add_block(&prov, &a, &(lastro_block){.size = sizeof(lastro_block), .source = "a"});
    CU_ASSERT_PTR_NULL(in(written("en"), "served_from_cache"));
    is(in(written("en"), "source_url"), "null");
}

static void test_provenance__a_notice_is_said_once(void) {
    begin();
    lastro_access l = {.size = sizeof l, .source = "a", .url = "s", .notice = "a snapshot"};
    prov_add_access(&prov, &a, &l);
    prov_add_access(&prov, &a, &l);
    l.notice = "another";
    prov_add_access(&prov, &a, &l);
    prov_add_access(&prov, &b, &(lastro_access){.size = sizeof l, .source = "b", .notice = "not here"});
    prov_add_block(&prov, &a, &(lastro_block){.size = sizeof(lastro_block), .source = "a", .notices = (const char *const[]){"first", "another", NULL}});
    is(in(written("en"), "notices"), "[\"first\",\"another\",\"a snapshot\"]");
    begin();
    prov_add_block(&prov, &a, &(lastro_block){.size = sizeof(lastro_block), .source = "a"});
    CU_ASSERT_PTR_NULL(in(written("en"), "notices"));
}

static void test_provenance__a_failed_attempt_at_another_base_read_nothing_there(void) {
    begin();
    a.base = "http://127.0.0.1:1";
    fetch_access f = {.source = &a, .url = "https://a.example/1", .read_from = "http://127.0.0.1:1/1", .outcome = LASTRO_FETCH_NETWORK, .attempts = 3};
    prov_add_fetch(&prov, &f);
    lastro_access local = {.size = sizeof local, .source = "a", .url = "https://a.example/1", .retrieved_at = MS(T1), .notice = "a snapshot"};
    prov_add_access(&prov, &a, &local);
    prov_add_block(&prov, &a, &(lastro_block){.size = sizeof(lastro_block), .source = "a"});
    is(in(written("en"), "notices"), "[\"a snapshot\"]");
}

static void test_provenance__an_override_is_told_in_the_call_s_language(void) {
    begin();
    a.base = "http://127.0.0.1:1";
    fetch_access f = {.source = &a, .url = "https://a.example/1", .read_from = "http://127.0.0.1:1/1", .retrieved_at = MS(T1), .attempts = 1};
    prov_add_fetch(&prov, &f);
    prov_add_fetch(&prov, &f);
    prov_add_block(&prov, &a, &(lastro_block){.size = sizeof(lastro_block), .source = "a"});
    is(in(written("en"), "notices"), "[\"Read from http://127.0.0.1:1, which the configuration puts in the place of "
                                     "https://a.example; source_url is the public address of the same query.\"]");
    is(in(written("pt-BR"), "notices"), "[\"Lido de http://127.0.0.1:1, que a configura\xc3\xa7\xc3\xa3o p\xc3\xb5" "e no lugar de "
                                        "https://a.example; source_url \xc3\xa9 o endere\xc3\xa7o p\xc3\xba" "blico da mesma consulta.\"]");
    is(in(written("en"), "source_url"), "\"https://a.example/1\"");
}

static void test_provenance__citations_fill_each_placeholder_as_often_as_it_stands(void) {
    static const struct {
        const char *template, *expected;
    } cases[] = {
        {"{detail}{detail}{detail}{detail}|{url}", "\xc3\xa7\xe2\x82\xac\xc3\xa7\xe2\x82\xac\xc3\xa7\xe2\x82\xac\xc3\xa7\xe2\x82\xac|u"},
        {"{detail} {nothing} { {} {date", "\xc3\xa7\xe2\x82\xac {nothing} { {} {date"},
        {"", ""},
        {"plain", "plain"},
        {"{license}/{date}", "CC0-1.0/n.d."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lastro_source s = source_a;
        fetch_source f = {.source = &s};
        char expected[200];
        s.citation = cases[i].template;
        begin();
        prov_add_block(&prov, &f, &(lastro_block){.size = sizeof(lastro_block), .source = "a", .detail = "\xc3\xa7\xe2\x82\xac", .source_url = "u"});
        snprintf(expected, sizeof expected, "\"%s\"", cases[i].expected);
        is(in(written("en"), "citation"), expected);
    }
    begin();
    prov_add_block(&prov, &b, &(lastro_block){.size = sizeof(lastro_block), .source = "b"});
    is(in(written("en"), "citation"), "\"Source B\""); /* no template: the title */
    is(in(written("en"), "license"), "null");
    enum { LONG = 3 << 20 }; /* larger than a block of the arena, so that the sanitizer sees what does not fit */
    lastro_source s = source_a;
    fetch_source f = {.source = &s};
    char *detail = malloc(LONG + 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(detail);
    memset(detail, 'd', LONG);
    detail[LONG] = '\0';
    s.citation = "{detail}{detail}";
    begin();
    prov_add_block(&prov, &f, &(lastro_block){.size = sizeof(lastro_block), .source = "a", .detail = detail});
    CU_ASSERT_EQUAL(json_text_of(in(written("en"), "citation")).len, 2 * LONG);
    free(detail);
    s.citation = "{date}";
    begin();
    prov_add_block(&prov, &f, &(lastro_block){.size = sizeof(lastro_block), .source = "a"});
    is(in(written("pt-BR"), "citation"), "\"s/d\"");
}

static void test_provenance__marks_add_up_to_one_note(void) {
    begin();
    prov_add_block(&prov, &a, &(lastro_block){.size = sizeof(lastro_block), .source = "a"});
    CU_ASSERT_PTR_NULL(in(written("en"), "derived"));
    prov_add_mark(&prov, "engine", "one.");
    prov_add_mark(&prov, NULL, "two.");
    prov_add_mark(&prov, "three", NULL);
    is(in(written("en"), "derived"), "true");
    is(in(written("en"), "derivation_note"), "\"engine: one. two. three\"");
}

static void test_provenance__takes_over_what_a_part_recorded(void) {
    arena part_mem;
    provenance part;
    begin();
    arena_init(&part_mem, 0);
    prov_init(&part, &part_mem);
    CU_ASSERT_EQUAL(fetched(&prov, &a, "u1", MS(T1 + 5), 1), 1);
    CU_ASSERT_EQUAL(fetched(&part, &a, "u2", MS(T1), 1), 1);
    CU_ASSERT_EQUAL(fetched(&part, &b, "w1", MS(T1), 0), 2);
    lastro_field_source f = {.size = sizeof f, .fields = (const char *const[]){"x", NULL}, .access = 2};
    prov_add_block(&part, &b, &(lastro_block){.size = sizeof(lastro_block), .source = "b", .fields = (const lastro_field_source *const[]){&f, NULL}});
    prov_add_mark(&part, NULL, "in the part");
    prov_add_block(&prov, &a, &(lastro_block){.size = sizeof(lastro_block), .source = "a"});
    prov_absorb(&prov, &part);
    CU_ASSERT(!part.accesses && !part.blocks && !part.marks);
    CU_ASSERT_EQUAL(fetched(&prov, &a, "u3", MS(T1 + 9), 1), 4); /* numbers go on after the part's */
    prov_add_mark(&prov, NULL, "after it");
    is(in(written("en"), "retrieved_at"), "\"2026-08-21T10:00:00-03:00\"");
    is(in(in(written("en"), "retrieval"), "requests"), "3");
    is(in(written("en"), "derivation_note"), "\"in the part after it\"");
    write_as(true, "en");
    const json_value *list = json_read_copy(&mem, text.data, text.len, NULL, NULL);
    CU_ASSERT_EQUAL(json_count(list), 2);
    is(in(json_at(list, 1), "source"), "\"Source B\"");
    is(in(json_at(in(json_at(list, 1), "field_sources"), 0), "source_url"), "\"w1\""); /* still the access it meant */
    prov_absorb(&prov, &part); /* of nothing */
    CU_ASSERT_EQUAL(fetched(&prov, &a, "u4", MS(T1), 1), 5);
    part.failed = true;
    prov_absorb(&prov, &part);
    CU_ASSERT(prov.failed);
    arena_free(&part_mem);
}

static void test_provenance__attribution_is_distinct_and_ordered(void) {
    begin();
    attribution_is("[]");
    lastro_field_source f1 = {.size = sizeof f1, .fields = (const char *const[]){"x", NULL}, .source_url = "u2"};
    lastro_field_source f2 = {.size = sizeof f2, .fields = (const char *const[]){"y", NULL}, .source_url = "u1"};
    lastro_field_source f3 = {.size = sizeof f3, .fields = (const char *const[]){"z", NULL}};
    lastro_field_source f4 = {.size = sizeof f4, .fields = (const char *const[]){"z", NULL}, .source_url = "u2"};
    prov_add_block(&prov, &a, &(lastro_block){.size = sizeof(lastro_block), .source = "a", .source_url = "u1",
                                              .fields = (const lastro_field_source *const[]){&f1, &f2, &f3, &f4, NULL}});
    prov_add_block(&prov, &b, &(lastro_block){.size = sizeof(lastro_block), .source = "b", .source_url = "u2"});
    prov_add_block(&prov, &b, &(lastro_block){.size = sizeof(lastro_block), .source = "b", .source_url = "u3"});
    prov_add_block(&prov, &b, &(lastro_block){.size = sizeof(lastro_block), .source = "b"}); /* no address: nothing to name */
    attribution_is("[\"u1\",\"u2\",\"u3\"]");
}

static void test_provenance__without_memory_it_says_so(void) {
    arena small;
    provenance p;
    static char url[1000];
    memset(url, 'u', sizeof url - 1);
    arena_init(&small, 400);
    prov_init(&p, &small);
    CU_ASSERT_EQUAL(fetched(&p, &a, "short", MS(T1), 1), 1);
    CU_ASSERT(!p.failed);
    CU_ASSERT_EQUAL(fetched(&p, &a, url, MS(T1), 1), 2); /* there is room for the entry, not for its address */
    CU_ASSERT(p.failed);
    arena_free(&small);
    arena_init(&small, 16);
    prov_init(&p, &small);
    CU_ASSERT_EQUAL(fetched(&p, &a, "short", MS(T1), 1), 0);
    CU_ASSERT(p.failed);
    arena_free(&small);
    CU_ASSERT_STRING_EQUAL((begin(), write_as(false, "en")), "null");
    CU_ASSERT_STRING_EQUAL(write_as(true, "en"), "[]");
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_provenance__the_keys_have_their_order),
        UNIT_TEST(test_provenance__retrieved_at_is_the_oldest_usable_read),
        UNIT_TEST(test_provenance__counts_requests_attempts_and_anomalies),
        UNIT_TEST(test_provenance__says_when_all_came_from_the_cache),
        UNIT_TEST(test_provenance__a_notice_is_said_once),
        UNIT_TEST(test_provenance__a_failed_attempt_at_another_base_read_nothing_there),
        UNIT_TEST(test_provenance__an_override_is_told_in_the_call_s_language),
        UNIT_TEST(test_provenance__citations_fill_each_placeholder_as_often_as_it_stands),
        UNIT_TEST(test_provenance__marks_add_up_to_one_note),
        UNIT_TEST(test_provenance__takes_over_what_a_part_recorded),
        UNIT_TEST(test_provenance__attribution_is_distinct_and_ordered),
        UNIT_TEST(test_provenance__without_memory_it_says_so),
    };
    arena_init(&mem, 0);
    json_writer_init(&text, 0);
    int failed = UNIT_RUN("provenance", tests);
    json_writer_free(&text);
    arena_free(&mem);
    return failed;
}
