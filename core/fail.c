/* SPDX-License-Identifier: MIT */
#include "fail.h"
#include "text.h"

#include <stdarg.h>
#include <stdio.h>

lastro_status fail(lastro_error *err, lastro_status status, const char *fmt, ...) {
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        err->status = (int32_t)status;
        vsnprintf(err->text, sizeof err->text, fmt, ap);
        va_end(ap);
        text_tidy(err->text); /* it may have been cut, or brought in foreign bytes: it must be fit to be sent */
    }
    return status;
}

const status_info *status_describe(int32_t status) {
#define ROW(name, rpc, class_, text) {#name, rpc, class_, text},
    static const status_info table[] = {LASTRO_STATUS_MAP(ROW)};
#undef ROW
    return &table[status < 0 || status >= LASTRO_STATUS_COUNT ? LASTRO_EINTERNAL : status];
}
