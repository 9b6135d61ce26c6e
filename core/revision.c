/* SPDX-License-Identifier: MIT */
#include "call.h"

#include <string.h>

static const char *const names[REV_COUNT] = {"",           "2024-11-05", "2025-03-26",
                                             "2025-06-18", "2025-11-25", "2026-07-28"};

const char *revision_name(revision r) {
    return names[r];
}

revision revision_of(const char *name, size_t len) {
    for (int r = REV_2024_11_05; name && r < REV_COUNT; r++)
        if (strlen(names[r]) == len && memcmp(names[r], name, len) == 0)
            return (revision)r;
    return REV_NONE;
}
