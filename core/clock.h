/* SPDX-License-Identifier: MIT */
/* clock.h -- the two clocks. Wall time honours LASTRO_CLOCK (ISO 8601 with offset), which fixes it for tests:
 * it then stands still. Monotonic time is always real. Any thread. */
#ifndef LASTRO_CORE_CLOCK_H
#define LASTRO_CORE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads LASTRO_CLOCK once; false when it is set but unreadable (the caller says so and stops). */
bool clock_init(void);
int64_t clock_wall_ms(void);
int64_t clock_mono_ms(void);
int64_t clock_mono_us(void);

/* "2026-08-21T10:00:00-03:00" to ms since the epoch; false: not such a text. */
bool clock_parse_iso(const char *text, int64_t *ret_ms);
/* Writes "2026-08-21T10:00:00-03:00" for ms seen offset_min minutes east of UTC; size at least 26. */
void clock_format_iso(int64_t ms, int32_t offset_min, char *buf, size_t size);
/* Writes "21/08/2026"; size at least 11. */
void clock_format_day(int64_t ms, int32_t offset_min, char *buf, size_t size);

#endif
