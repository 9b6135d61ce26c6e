/* SPDX-License-Identifier: MIT */
/* `lastro schema`: what is printed, where, and the exit status. */
#include "cli_schema.h"
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/lastro-schema-XXXXXX";

static void put(const char *name, const char *text) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "we");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
}

/* Runs the command in the folder with its streams in files; they are read back. */
static int run(const char *const *args, char *out, char *err, size_t size) {
    char *argv[12] = {NULL};
    int argc = 0, saved[2] = {dup(1), dup(2)}, here = open(".", O_RDONLY | O_CLOEXEC);
    for (; args[argc]; argc++)
        argv[argc] = strdup(args[argc]);
    CU_ASSERT_EQUAL_FATAL(chdir(folder), 0);
    fflush(stdout);
    int o = open("stdout", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600),
        e = open("stderr", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    dup2(o, 1);
    dup2(e, 2);
    int status = cli_schema(argc, argv);
    fflush(stdout);
    dup2(saved[0], 1);
    dup2(saved[1], 2);
    ssize_t n = pread(o, out, size - 1, 0), m = pread(e, err, size - 1, 0);
    out[n > 0 ? n : 0] = '\0';
    err[m > 0 ? m : 0] = '\0';
    CU_ASSERT_EQUAL_FATAL(fchdir(here), 0);
    int fds[] = {o, e, saved[0], saved[1], here};
    for (size_t i = 0; i < 5; i++)
        close(fds[i]);
    for (int i = 0; i < argc; i++)
        free(argv[i]);
    return status;
}

static void expect(const char *const *args, int status, const char *out, const char *err) {
    char got[4000], told[4000];
    int s = run(args, got, told, sizeof got);
    unit_check(s == status, "%s %s: status %d, not %d\n%s%s", args[1], args[2] ? args[2] : "", s, status, got,
               told);
    unit_check(*out ? strstr(got, out) != NULL : !*got, "%s: '%s' lacks '%s'", args[1], got, out);
    unit_check(*err ? strstr(told, err) != NULL : !*told, "%s: '%s' lacks '%s'", args[1], told, err);
}
#define EXPECT(status, out, err, ...)                                                                        \
    expect((const char *const[]){"schema", __VA_ARGS__, NULL}, status, out, err)

static void instances_are_checked(void) {
    put("s.json", "{\"properties\":{\"codigo\":{\"type\":\"integer\"}},\"required\":[\"codigo\"]}");
    put("good.json", "{\"codigo\":433}");
    put("bad.json", "{\"codigo\":\"433\"}");
    put("broken.json", "{");
    put("bad-schema.json", "{\"properties\":{\"a\":{\"type\":\"x\"}}}");
    EXPECT(0, "s.json: usable, 2020-12, 2 subschemas\n", "", "check", "s.json");
    EXPECT(0, "draft-07", "", "check", "--draft", "7", "s.json");
    EXPECT(0, "good.json: valid\n", "", "check", "s.json", "good.json");
    EXPECT(1, "at \"/codigo\" by \"/properties/codigo/type\": «codigo» must be an integer", "", "check",
           "s.json", "good.json", "bad.json");
    EXPECT(1, "deve ser um número inteiro", "", "check", "--lang", "pt-BR", "s.json", "bad.json");
    EXPECT(2, "", "broken.json:1:2", "check", "s.json", "broken.json");
    EXPECT(2, "", "cannot open missing.json", "check", "s.json", "missing.json");
    EXPECT(2, "", "unusable at \"/properties/a/type\": there is no type 'x'", "check", "bad-schema.json",
           "good.json");
}

static void suites_are_run(void) {
    static const char group[] =
        "[{\"description\":\"g\",\"schema\":{\"items\":[{\"type\":\"null\"}]},\"tests\":["
        "{\"description\":\"a\",\"data\":[null],\"valid\":true},{\"description\":\"b\",\"data\":[1],"
        "\"valid\":%s}]}]";
    char text[400], path[200];
    snprintf(text, sizeof text, group, "false");
    put("right.json", text);
    snprintf(path, sizeof path, "%s/draft7", folder);
    mkdir(path, 0700);
    put("draft7/one.json", text);
    snprintf(text, sizeof text, group, "true");
    put("draft7/two.json", text);
    EXPECT(0, "2 passed, 0 failed\n", "", "test", "--draft", "7", "right.json");
    EXPECT(1, "0 passed, 2 failed\n", "", "test", "right.json");
    EXPECT(1, "FAIL draft7/two.json: g: b: not valid\n3 passed, 1 failed\n", "", "test", "draft7");
    EXPECT(2, "0 passed, 0 failed\n", "is not a list of test groups", "test", "good.json", "nowhere.json");
}

static void remotes_are_served(void) {
    char path[200];
    snprintf(path, sizeof path, "%s/remotes", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/remotes/x", folder);
    mkdir(path, 0700);
    put("remotes/x/n.json", "{\"type\":\"null\"}");
    put("ref.json", "{\"$ref\":\"http://localhost:1234/x/n.json\"}");
    put("null.json", "null");
    EXPECT(0, "null.json: valid", "", "check", "--remotes", "remotes", "ref.json", "null.json");
    EXPECT(2, "", "http://localhost:1234/x/n.json", "check", "ref.json", "null.json");
    EXPECT(2, "", "cannot read the folder nada", "check", "--remotes", "nada", "ref.json");
}

static void the_command_line_is_checked(void) {
    EXPECT(0, "usage: lastro schema check", "", "--help");
    EXPECT(0, "usage: lastro schema check", "", "check", "--help");
    EXPECT(2, "", "usage:", "check");
    EXPECT(2, "", "usage:", "nada");
    EXPECT(2, "", "--draft is 7 or 2020-12", "check", "--draft", "4", "s.json");
    EXPECT(2, "", "there are en and pt-BR", "check", "--lang", "fr", "s.json");
    EXPECT(2, "", "nada", "check", "--nada", "s.json");
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(instances_are_checked),
        UNIT_TEST(suites_are_run),
        UNIT_TEST(remotes_are_served),
        UNIT_TEST(the_command_line_is_checked),
    };
    if (!mkdtemp(folder))
        return 2;
    int result = UNIT_RUN("schema cli", tests);
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 ? result : 2;
}
