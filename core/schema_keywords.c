/* SPDX-License-Identifier: MIT */
#include "schema_nodes.h"

#include <string.h>

#define X(id, text, in, of, what) [KW_##id] = {.name = text, .drafts = in, .vocab = of, .rule = what},
const schema_keyword schema_keywords[KW_COUNT] = {KEYWORD_MAP(X)};
#undef X

keyword_id schema_keyword_find(const char *name, size_t len) {
    int low = 0, high = KW_COUNT - 1;
    while (low <= high) {
        int mid = (low + high) / 2;
        const char *text = schema_keywords[mid].name;
        size_t n = strlen(text);
        int order = memcmp(name, text, len < n ? len : n);
        if (order == 0 && len == n)
            return (keyword_id)mid;
        order = order ? order : len < n ? -1 : 1;
        if (order < 0)
            high = mid - 1;
        else
            low = mid + 1;
    }
    return KW_COUNT;
}
