/* SPDX-License-Identifier: MIT */
/* The sentences: both tables are whole, and each failure reads as it should. */
#include "schema_messages.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static const char *const languages[] = {"pt-BR", "en"};
enum { LANGUAGES = 2 };

static const json_value *read(arena *a, const char *text) {
    json_error at;
    const json_value *v = json_read_copy(a, text, strlen(text), NULL, &at);
    unit_check(v != NULL, "%s: %s", at.text, text);
    return v;
}

/* The first sentence about instance, in the language. */
static void expect_sentence(const char *language, const char *schema_text, const char *instance,
                            const char *want) {
    arena a;
    arena_init(&a, 0);
    schema_options opts = {.assert_format = true};
    schema_error why;
    schema *s = schema_compile(read(&a, schema_text), &opts, &why);
    schema_messages *m = schema_messages_builtin(language);
    schema_report r = {0};
    unit_check(s != NULL, "%s: %s", schema_text, why.text);
    if (s && schema_validate(s, read(&a, instance), &a, &r) != SCHEMA_VALID && r.count) {
        char text[1024];
        size_t n = schema_message_render(m, &r.failures[0], text, sizeof text);
        unit_check(!strcmp(text, want), "%s\n         not %s", text, want);
        unit_check(n == strlen(text), "length of %s", text);
    } else {
        unit_check(0, "%s with %s: nothing failed", schema_text, instance);
    }
    schema_messages_free(m);
    schema_destroy(s);
    arena_free(&a);
}

#define ARGUMENTS                                                                                            \
    "{\"type\":\"object\",\"properties\":{\"codigo\":{\"type\":\"integer\",\"minimum\":1},\"dataInicial\":{" \
    "\"type\":\"string\","                                                                                   \
    "\"pattern\":\"^\\\\d{4}-\\\\d{2}-\\\\d{2}$\",\"examples\":[\"2024-01-31\"]},\"formato\":{\"enum\":["    \
    "\"json\",\"csv\",\"tabela\"]},"                                                                         \
    "\"codigos\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"uniqueItems\":true,\"maxItems\":3}," \
    "\"nome\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":5},\"periodo\":{\"type\":\"object\","       \
    "\"required\":[\"inicio\"],"                                                                             \
    "\"properties\":{\"inicio\":{\"type\":\"string\"}},\"additionalProperties\":false}},\"required\":["      \
    "\"codigo\"],"                                                                                           \
    "\"additionalProperties\":false}"

static void arguments_are_explained(void) {
    static const struct {
        const char *instance, *want[LANGUAGES];
    } rows[] = {
        {"{\"codigo\":\"433\"}",
         {"«codigo» deve ser um número inteiro, mas veio o texto \"433\". Envie 433, sem aspas.",
          "«codigo» must be an integer, but got the text \"433\". Send 433, without quotes."}},
        {"{\"codigo\":433.5}",
         {"«codigo» deve ser um número inteiro, mas veio o número 433.5.",
          "«codigo» must be an integer, but got the number 433.5."}},
        {"{\"codigo\":null}",
         {"«codigo» deve ser um número inteiro, mas veio null. Envie um valor ou, se o membro for opcional, "
          "omita-o.",
          "«codigo» must be an integer, but got null. Send a value or, if the member is optional, leave it "
          "out."}},
        {"{\"codigo\":0}",
         {"«codigo» deve ser maior ou igual a 1, mas veio o número 0.",
          "«codigo» must be 1 or more, but got the number 0."}},
        {"{}",
         {"Falta o membro obrigatório «codigo»: envie um número inteiro.",
          "The required member «codigo» is missing: send an integer."}},
        {"[]",
         {"O valor deve ser um objeto, mas veio uma lista com 0 itens.",
          "The value must be an object, but got a list of 0 items."}},
        {"\"{\\\"codigo\\\":1}\"",
         {"O valor deve ser um objeto, mas veio um texto que contém JSON. Envie o próprio JSON, sem aspas em "
          "volta.",
          "The value must be an object, but got a text that contains JSON. Send that JSON itself, without "
          "quotes around it."}},
        {"{\"codigo\":1,\"data_inicial\":\"2024-01-01\"}",
         {"«data_inicial» não é um membro conhecido; você quis dizer «dataInicial»? Membros válidos: "
          "«codigo», «dataInicial», "
          "«formato», «codigos», «nome» ou «periodo».",
          "«data_inicial» is not a known member; did you mean «dataInicial»? Valid members: «codigo», "
          "«dataInicial», "
          "«formato», «codigos», «nome» or «periodo»."}},
        {"{\"codigo\":1,\"periodo\":{\"inicio\":\"a\",\"xyz\":1}}",
         {"«xyz» não é um membro de «periodo». Membros válidos: «inicio».",
          "«xyz» is not a member of «periodo». Valid members: «inicio»."}},
        {"{\"codigo\":1,\"periodo\":{}}",
         {"Falta «inicio» em «periodo»: envie um texto.",
          "«inicio» is missing from «periodo»: send a text."}},
        {"{\"codigo\":1,\"dataInicial\":\"31/01/2024\"}",
         {"«dataInicial» deve seguir o padrão ^\\d{4}-\\d{2}-\\d{2}$, mas veio o texto \"31/01/2024\". Um "
          "exemplo válido: "
          "\"2024-01-31\".",
          "«dataInicial» must match the pattern ^\\d{4}-\\d{2}-\\d{2}$, but got the text \"31/01/2024\". A "
          "valid example: "
          "\"2024-01-31\"."}},
        {"{\"codigo\":1,\"dataInicial\":20240131}",
         {"«dataInicial» deve ser um texto, mas veio o número 20240131. Envie \"20240131\", entre aspas.",
          "«dataInicial» must be a text, but got the number 20240131. Send \"20240131\", in quotes."}},
        {"{\"codigo\":1,\"formato\":\"tabelas\"}",
         {"«formato» deve ser um destes valores: \"json\", \"csv\" ou \"tabela\"; mas veio o texto "
          "\"tabelas\". Você quis dizer "
          "\"tabela\"?",
          "«formato» must be one of \"json\", \"csv\" or \"tabela\", but got the text \"tabelas\". Did you "
          "mean \"tabela\"?"}},
        {"{\"codigo\":1,\"formato\":true}",
         {"«formato» deve ser um destes valores: \"json\", \"csv\" ou \"tabela\"; mas veio true.",
          "«formato» must be one of \"json\", \"csv\" or \"tabela\", but got true."}},
        {"{\"codigo\":1,\"codigos\":433}",
         {"«codigos» deve ser uma lista, mas veio o número 433. Envie [433], entre colchetes.",
          "«codigos» must be a list, but got the number 433. Send [433], in brackets."}},
        {"{\"codigo\":1,\"codigos\":[1,\"2\"]}",
         {"«codigos[1]» deve ser um número inteiro, mas veio o texto \"2\". Envie 2, sem aspas.",
          "«codigos[1]» must be an integer, but got the text \"2\". Send 2, without quotes."}},
        {"{\"codigo\":1,\"codigos\":[7,8,7]}",
         {"«codigos» não pode ter itens repetidos: [0] e [2] são iguais. Envie cada um só uma vez.",
          "«codigos» must not repeat items: [0] and [2] are equal. Send each only once."}},
        {"{\"codigo\":1,\"codigos\":[1,2,3,4]}",
         {"«codigos» deve ter no máximo 3 itens, mas tem 4.",
          "«codigos» must have at most 3 items, but has 4."}},
        {"{\"codigo\":1,\"nome\":\"\"}",
         {"«nome» não pode ser vazio: envie um texto ou, se o membro for opcional, omita-o.",
          "«nome» must not be empty: send a text, or leave the member out if it is optional."}},
        {"{\"codigo\":1,\"nome\":\"ação…!!\"}",
         {"«nome» deve ter no máximo 5 caracteres, mas tem 7: o texto \"ação…!!\".",
          "«nome» must have at most 5 characters, but has 7: the text \"ação…!!\"."}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < LANGUAGES; k++)
            expect_sentence(languages[k], ARGUMENTS, rows[i].instance, rows[i].want[k]);
}

static void keywords_are_explained(void) {
    static const struct {
        const char *schema, *instance, *want;
    } rows[] = {
        {"{\"const\":{\"a\":1}}", "2", "O valor deve ser exatamente {\"a\":1}, mas veio o número 2."},
        {"{\"maximum\":2}", "2.5", "O valor deve ser menor ou igual a 2, mas veio o número 2.5."},
        {"{\"exclusiveMinimum\":2}", "2", "O valor deve ser maior que 2, mas veio o número 2."},
        {"{\"exclusiveMaximum\":2}", "2", "O valor deve ser menor que 2, mas veio o número 2."},
        {"{\"multipleOf\":0.01}", "0.075", "O valor deve ser múltiplo de 0.01, mas veio o número 0.075."},
        {"{\"minLength\":3}", "\"ab\"",
         "O valor deve ter pelo menos 3 caracteres, mas tem 2: o texto \"ab\"."},
        {"{\"format\":\"date\"}", "\"ontem\"",
         "O valor deve estar no formato \"date\", mas veio o texto \"ontem\"."},
        {"{\"minItems\":1}", "[]", "O valor deve ter pelo menos 1 item, mas é uma lista vazia."},
        {"{\"minItems\":2}", "[1]", "O valor deve ter pelo menos 2 itens, mas tem 1."},
        {"{\"prefixItems\":[true,true],\"items\":false}", "[1,2,3]",
         "O valor aceita no máximo 2 itens, mas tem 3."},
        {"{\"contains\":{\"type\":\"string\"}}", "[1]",
         "O valor deve ter um item que satisfaça {\"type\":\"string\"}; nenhum satisfaz."},
        {"{\"contains\":{\"type\":\"string\"},\"minContains\":2}", "[\"a\"]",
         "O valor deve ter pelo menos 2 itens que satisfaçam {\"type\":\"string\"}; encontrados: 1."},
        {"{\"contains\":true,\"maxContains\":1}", "[1,2]",
         "O valor deve ter no máximo 1 item que satisfaça true; encontrados: 2."},
        {"{\"minProperties\":1}", "{}", "O valor deve ter pelo menos 1 membro, mas está vazio."},
        {"{\"maxProperties\":1}", "{\"a\":1,\"b\":2}", "O valor deve ter no máximo 1 membro, mas tem 2."},
        {"{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}",
         "Como «a» foi enviado, «b» também é obrigatório."},
        {"{\"additionalProperties\":false}", "{\"a\":1}",
         "«a» não é aceito: aqui não se aceita nenhum membro. Envie um objeto vazio."},
        {"{\"propertyNames\":{\"pattern\":\"^[a-z]+$\"}}", "{\"A1\":1}",
         "«A1» não é um nome de membro válido: os nomes devem seguir o padrão ^[a-z]+$."},
        {"{\"properties\":{\"a\":false}}", "{\"a\":1}", "«a» não é aceito aqui. Omita-o."},
        {"{\"not\":{\"type\":\"string\"}}", "\"x\"",
         "Este valor não é aceito: o texto \"x\" é excluído por {\"type\":\"string\"}."},
        {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "1",
         "O valor deve ser um texto ou null, mas veio o número 1. Envie \"1\", entre aspas."},
        {"{\"anyOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}", "{}",
         "Envie pelo menos um destes membros: «a» ou «b»."},
        {"{\"oneOf\":[{\"minimum\":1},{\"minimum\":2}]}", "3",
         "O valor deve se encaixar em exatamente uma das formas aceitas, mas se encaixa em mais de uma: [0] "
         "e [1]."},
        {"{\"pattern\":\"(a+)+$\"}", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"",
         "Não foi possível decidir se o valor segue o padrão (a+)+$: a busca demorou demais. Envie um texto "
         "mais curto."},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_sentence("pt-BR", rows[i].schema, rows[i].instance, rows[i].want);
}

static void long_values_are_cut_between_characters(void) {
    char instance[400] = "\"", want[600];
    for (int i = 0; i < 70; i++)
        strcat(instance, "é");
    strcat(instance, "\"");
    strcpy(want, "The value must be an integer, but got the text \"");
    for (int i = 0; i < SCHEMA_EXCERPT; i++)
        strcat(want, "é");
    strcat(want, "…\".");
    expect_sentence("en", "{\"type\":\"integer\"}", instance, want);
}

static void names_of_any_kind_are_shown(void) {
    static const char closed[] = "{\"properties\":{\"a\":{}},\"additionalProperties\":false}";
    expect_sentence("en", closed, "{\"x\\u0000\\n\":1}",
                    "«x\\u0000\\u000a» is not a known member. Valid members: «a».");
    expect_sentence("en", "{\"additionalProperties\":{\"type\":\"null\"}}", "{\"x\\u0000y\":1}",
                    "«x\xef\xbf\xbdy» must be null, but got the number 1.");
}

static void a_small_buffer_gets_a_whole_beginning(void) {
    schema_messages *m = schema_messages_builtin("pt-BR");
    json_value none = {.tag = JSON_NULL};
    schema_failure f = {.message = SCHEMA_SAYS_FALSE, .member = "ção", .value = &none};
    char whole[200], part[200];
    size_t n = schema_message_render(m, &f, whole, sizeof whole);
    for (size_t size = 0; size <= n + 1; size++) {
        memset(part, 'x', sizeof part);
        CU_ASSERT_EQUAL(schema_message_render(m, &f, part, size), n);
        CU_ASSERT_TRUE(size == 0 || (strlen(part) < size && !strncmp(part, whole, strlen(part))));
        CU_ASSERT_TRUE(size == 0 || json_valid_utf8(part, strlen(part)));
    }
    schema_messages_free(m);
}

static void tables_are_found_by_language(void) {
    size_t n;
    CU_ASSERT_PTR_NOT_NULL(schema_messages_text("pt-BR", &n));
    CU_ASSERT_PTR_EQUAL(schema_messages_text("pt", &n), schema_messages_text("pt_PT", &n));
    CU_ASSERT_PTR_NOT_NULL(schema_messages_text("EN-us", &n));
    CU_ASSERT_PTR_NULL(schema_messages_text("fr", &n));
    CU_ASSERT_PTR_NULL(schema_messages_text("p", &n));
    CU_ASSERT_PTR_NULL(schema_messages_text("pta", &n));
}

/* Both say each thing, with the same placeholders. */
static size_t marks_in(const char *text, const char *marks[], size_t max) {
    size_t n = 0;
    for (const char *at = strchr(text, '{'); at && n < max; at = strchr(at + 1, '{'))
        marks[n++] = at;
    return n;
}

static bool says(const char *text, const char *mark) {
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)(strchr(mark, '}') + 1 - mark), mark);
    return strstr(text, name) != NULL;
}

static void both_tables_have_the_same_keys(void) {
    arena a;
    arena_init(&a, 0);
    const json_value *tables[LANGUAGES];
    for (size_t i = 0; i < LANGUAGES; i++) {
        size_t len;
        const char *text = schema_messages_text(languages[i], &len);
        tables[i] = json_read_copy(&a, text, len, NULL, NULL);
        char err[200] = "";
        schema_messages *m = schema_messages_load(text, len, err, sizeof err);
        unit_check(m != NULL, "%s: %s", languages[i], err);
        schema_messages_free(m);
    }
    static const char *const parts[] = {"words", "messages", "placeholders"};
    for (size_t p = 0; p < 3; p++) {
        const json_value *x = json_member(tables[0], parts[p]), *y = json_member(tables[1], parts[p]);
        CU_ASSERT_EQUAL(json_count(x), json_count(y));
        for (json_iter it = json_iterate(x); json_next(&it);) {
            const char *marks[16], *there = json_str(json_member(y, it.key->u.text));
            unit_check(there != NULL, "%s.%s is missing", parts[p], it.key->u.text);
            size_t n = there && p < 2 ? marks_in(it.value->u.text, marks, 16) : 0;
            for (size_t i = 0; i < n; i++)
                unit_check(says(there, marks[i]), "%s.%s lacks %.12s", parts[p], it.key->u.text, marks[i]);
        }
    }
    arena_free(&a);
}

static void broken_tables_are_refused(void) {
    static const struct {
        const char *from, *to, *names;
    } rows[] = {
        {"\"type.quoted\"", "\"type.quoeed\"", "type.quoeed"},
        {"{member} must be exactly", "{membro} must be exactly", "{membro}"},
        {"\"list.last\"", "\"list.lost\"", "list.last"},
        {"\"language\"", "language", ":"},
    };
    size_t len;
    const char *good = schema_messages_text("en", &len);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *bad = strndup(good, len), err[200] = "";
        char *at = strstr(bad, rows[i].from);
        CU_ASSERT_PTR_NOT_NULL_FATAL(at);
        size_t gone = strlen(rows[i].from), come = strlen(rows[i].to);
        memmove(at + come, at + gone, strlen(at + gone) + 1);
        memcpy(at, rows[i].to, come);
        CU_ASSERT_PTR_NULL(schema_messages_load(bad, strlen(bad), err, sizeof err));
        unit_check(strstr(err, rows[i].names) != NULL, "'%s' does not name %s", err, rows[i].names);
        free(bad);
    }
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(arguments_are_explained),
        UNIT_TEST(keywords_are_explained),
        UNIT_TEST(long_values_are_cut_between_characters),
        UNIT_TEST(names_of_any_kind_are_shown),
        UNIT_TEST(a_small_buffer_gets_a_whole_beginning),
        UNIT_TEST(tables_are_found_by_language),
        UNIT_TEST(both_tables_have_the_same_keys),
        UNIT_TEST(broken_tables_are_refused),
    };
    return UNIT_RUN("schema messages", tests);
}
