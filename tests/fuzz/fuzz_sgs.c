/* SPDX-License-Identifier: MIT */
/* Foreign bytes as a body of SGS: the classifier, and where it says "rows" the reader and all that follows
 * it. */
#include "plugins/sgs/aggregate.c"
#include "plugins/sgs/classify.c"
#include "plugins/sgs/dates.c"
#include "plugins/sgs/observations.c"
#include "plugins/sgs/periodicity.c"
#include "plugins/sgs/value.c"

#include "tests/unit/test_sgs_host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok) {
    if (!ok)
        __builtin_trap();
}

static void use(sgs_rows rows) {
    sgs_rows_sort(&rows);
    sgs_rows_unique(&rows);
    for (size_t i = 0; i < rows.count; i++) {
        const sgs_row *r = &rows.at[i];
        check(!r->value.at ||
              json_valid_number(r->value.at, r->value.len)); /* else the answer would be no JSON */
        check(i == 0 || r->day > r[-1].day || (r->day == r[-1].day && r->end > r[-1].end));
    }
    sgs_point *points = arena_zalloc(&test_host_memory, (rows.count + 1) * sizeof *points);
    for (int how = SGS_LAST; how <= SGS_COMPOUND && points; how++) {
        sgs_plan plan = {sgs_rows_pace(&rows),
                         SGS_PACE_MONTHLY,
                         (sgs_how)how,
                         {SGS_NO_DAY, SGS_NO_DAY},
                         20000,
                         SGS_NO_DAY};
        size_t n = sgs_aggregate(&rows, &plan, points);
        for (size_t i = 0; i < n; i++)
            check(!points[i].computed[0] ||
                  json_valid_number(points[i].computed, strlen(points[i].computed)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char reason[64];
    lastro_error err = {0};
    sgs_rows rows;
    lastro_text body = {(const char *)data, size};
    lastro_attempt attempt = {
        .size = sizeof attempt, .http_status = size ? 200U + data[0] * 2U : 200U, .body = body};
    sgs_classify(NULL, &attempt, reason, sizeof reason);
    if (sgs_body_of(body) == SGS_BODY_ROWS && sgs_rows_parse(NULL, body, &rows, &err) == LASTRO_OK)
        use(rows);
    test_host_reset();
    return 0;
}
