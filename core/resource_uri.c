/* SPDX-License-Identifier: MIT */
#include "resource_uri.h"
#include "uri.h"

#include <string.h>

enum { ADDRESS_MOST = 2000 };

const char *resource_uri_fault(const char *uri) {
    size_t len = strlen(uri);
    if (len > ADDRESS_MOST)
        return "it is longer than 2000 bytes";
    return uri_valid(uri, len, URI_ABSOLUTE) ? NULL : "it must be an absolute URI such as \"notes://today\", other characters "
                                                      "percent-encoded";
}

static bool good_variable(const char *name, size_t len) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return len && strspn(name, letters) >= len;
}

const char *resource_template_fault(const char *text) {
    char one[ADDRESS_MOST + 1]; /* an address it could make */
    size_t n = 0;
    if (strlen(text) > ADDRESS_MOST)
        return "it is longer than 2000 bytes";
    for (const char *p = text; *p;) {
        if (*p != '{') {
            one[n++] = *p++;
            continue;
        }
        const char *end = strchr(p, '}');
        if (!end || !good_variable(p + 1, (size_t)(end - p - 1)))
            return "a variable is {name}, of letters, digits and _; operators such as {+path} or {?query} are not understood";
        one[n++] = 'x';
        p = end + 1;
    }
    one[n] = '\0';
    return resource_uri_fault(one);
}
