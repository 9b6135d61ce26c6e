/* SPDX-License-Identifier: MIT */
/* cli_manifest_key.c -- lastro manifest key NAME: a secret for one client over HTTP, and the manifest's entry, which holds
 * only its hash. Nothing is written anywhere: what is printed is all there is. */
#include "cli.h"
#include "sha256.h"

#include <string.h>
#include <sys/random.h>

enum { SECRET_BYTES = 32, NAME_MOST = 128 };
/* So that people, and programs that search texts for lost secrets, see what it is. */
#define SECRET_PREFIX "lastro_"

static const char *name_fault(const char *name) {
    if (!*name)
        return "is empty";
    if (strlen(name) > NAME_MOST)
        return "is longer than 128 bytes";
    if (!json_valid_utf8(name, strlen(name)))
        return "is not UTF-8";
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return "has control characters";
    return NULL;
}

static bool print_entry(const char *name, const char *hash) {
    char key[sizeof MANIFEST_KEY_PREFIX + 64];
    json_writer w;
    json_writer_init(&w, 0);
    snprintf(key, sizeof key, MANIFEST_KEY_PREFIX "%s", hash);
    json_begin_object(&w);
    json_key(&w, "name");
    json_write_string(&w, name);
    json_key(&w, "key");
    json_write_string(&w, key);
    json_end_object(&w);
    bool ok = json_writer_finish(&w);
    if (ok)
        printf("\nThe manifest gets its hash, as one more entry of \"principals\":\n\n  %s\n", w.data);
    json_writer_free(&w);
    return ok;
}

static int print_key(const char *name) {
    unsigned char random[SECRET_BYTES];
    char hash[65];
    arena a;
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        cli_error("the kernel gives no random numbers");
        return CLI_FAILED;
    }
    arena_init(&a, 0);
    const char *text = base64_encode(&a, random, sizeof random, false);
    const char *secret = text ? arena_printf(&a, SECRET_PREFIX "%s", text) : NULL;
    bool ok = secret;
    if (secret) {
        sha256_text(secret, strlen(secret), hash);
        printf("The key of \"%s\". It is told this once and kept nowhere: hand it to the client, which sends it\n"
               "with every request.\n\n  Authorization: Bearer %s\n", name, secret);
        ok = print_entry(name, hash);
    }
    arena_free(&a);
    if (!ok)
        cli_error("out of memory");
    return ok ? CLI_OK : CLI_FAILED;
}

int cli_manifest_key(int argc, char **argv) {
    const char *fault = argc == 2 ? name_fault(argv[1]) : NULL;
    if (argc != 2) {
        fputs("usage: lastro manifest key NAME\n  NAME: whom the key stands for; plugins see it as the principal of a call\n", stderr);
        return CLI_USAGE;
    }
    if (fault) {
        cli_error("the name %s; a principal's name is 1 to 128 bytes of text", fault);
        return CLI_USAGE;
    }
    return print_key(argv[1]);
}
