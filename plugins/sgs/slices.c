/* SPDX-License-Identifier: MIT */
#include "slices.h"

size_t sgs_slices_plan(sgs_window w, sgs_window *ret) {
    size_t count = 0;
    sgs_day from = w.from;
    for (;;) {
        /* Seams are counted from the first day, so that a start on 29/02 comes back to it. */
        sgs_day next = sgs_add_years(w.from, SGS_SLICE_YEARS * (int)(count + 1));
        bool last = next > w.to || w.to - next < SGS_SLICE_SLACK_DAYS || count + 1 == SGS_SLICES_MAX;
        ret[count].from = from;
        ret[count].to = last ? w.to : next - 1;
        count++;
        if (last)
            return count;
        from = next;
    }
}
