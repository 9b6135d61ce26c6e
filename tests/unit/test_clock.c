/* SPDX-License-Identifier: MIT */
#include "clock.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void test_clock__reads_instants_with_their_offset(void) {
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01T00:00:00+00:00", 0},
        {"1969-12-31T21:00:00-03:00", 0},
        {"1970-01-01T05:30:00+05:30", 0},
        {"2026-08-21T10:00:00-03:00", 1787317200000},
        {"2000-02-29T23:59:59Z", 951868799000},
        {"1900-03-01T00:00:00Z", -2203891200000},
        {"2024-12-31T23:59:60Z", 1735689600000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t ms = -1;
        bool ok = clock_parse_iso(cases[i].text, &ms);
        unit_check(ok && ms == cases[i].ms, "%s: %d, %lld", cases[i].text, ok, (long long)ms);
    }
}

static void test_clock__refuses_what_is_no_instant(void) {
    static const char *const bad[] = {
        "", "now", "2026-08-21", "2026-08-21T10:00:00", "2026-08-21 10:00:00Z", "2026-08-21T10:00Z", "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-02-30T00:00:00Z", "2100-02-29T00:00:00Z", "2026-04-31T00:00:00Z",
        "2026-01-32T00:00:00Z", "2026-01-00T00:00:00Z", "2026-08-21T24:00:00Z", "2026-08-21T10:60:00Z", "2026-08-21T10:00:61Z",
        "2026-08-21T10:00:00z", "2026-08-21T10:00:00Zx", "2026-08-21T10:00:00-03", "2026-08-21T10:00:00-0300",
        "2026-08-21T10:00:00-3:00", "2026-08-21T10:00:00--3:00", "2026-08-21T10:00:00+24:00", "2026-08-21T10:00:00+03:60",
        "2026-08-21T10:00:00+03:00 ", " 2026-08-21T10:00:00Z", "+026-08-21T10:00:00Z", " 026-08-21T10:00:00Z",
        "2026-+8-21T10:00:00Z", "2026- 8-21T10:00:00Z", "2026-08-21T10:00:-1Z", "2026-08-21T10:00:00.5Z",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t ms = 77;
        bool ok = clock_parse_iso(bad[i], &ms);
        unit_check(!ok && ms == 77, "\"%s\" was read as %lld", bad[i], (long long)ms);
    }
}

static void test_clock__writes_what_it_reads(void) {
    static const int32_t offsets[] = {0, -180, 330, 840, -720, -30};
    char text[40];
    for (int64_t day = -30000; day < 40000; day += 137)
        for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
            int64_t ms = day * 86400000 + 43261000 + day % 86400 * 1000, back;
            clock_format_iso(ms, offsets[i], text, sizeof text);
            unit_check(clock_parse_iso(text, &back) && back == ms, "%s from %lld", text, (long long)ms);
        }
    clock_format_iso(1787317200123, -180, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "2026-08-21T10:00:00-03:00");
    clock_format_iso(-1, 0, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "1969-12-31T23:59:59+00:00");
    clock_format_iso(0, -30, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "1969-12-31T23:30:00-00:30");
}

/* The C library's calendar is the second opinion. */
static void test_clock__the_calendar_is_the_c_library_s(void) {
    for (int64_t day = -80000; day < 80000; day += 41) {
        char text[16], expected[16];
        time_t t = (time_t)(day * 86400);
        struct tm tm;
        gmtime_r(&t, &tm);
        strftime(expected, sizeof expected, "%d/%m/%Y", &tm);
        clock_format_day(day * 86400000, 0, text, sizeof text);
        unit_check(strcmp(text, expected) == 0, "%s instead of %s", text, expected);
    }
    char text[16];
    clock_format_day(1787270400000, -180, text, sizeof text); /* 00:00Z is still the day before at -03:00 */
    CU_ASSERT_STRING_EQUAL(text, "20/08/2026");
}

static void test_clock__stands_still_when_it_is_told_to(void) {
    setenv("LASTRO_CLOCK", "2026-08-21T10:00:00-03:00", 1);
    CU_ASSERT(clock_init());
    int64_t mono = clock_mono_us();
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    CU_ASSERT_EQUAL(clock_wall_ms(), 1787317200000);
    CU_ASSERT(clock_mono_us() >= mono + 2000);
    setenv("LASTRO_CLOCK", "yesterday", 1);
    CU_ASSERT(!clock_init());
    setenv("LASTRO_CLOCK", "", 1);
    CU_ASSERT(clock_init());
    CU_ASSERT(llabs(clock_wall_ms() / 1000 - (int64_t)time(NULL)) <= 1);
    unsetenv("LASTRO_CLOCK");
    CU_ASSERT(clock_init());
}

int main(void) {
    static const unit_test tests[] = {
        UNIT_TEST(test_clock__reads_instants_with_their_offset), UNIT_TEST(test_clock__refuses_what_is_no_instant),
        UNIT_TEST(test_clock__writes_what_it_reads),             UNIT_TEST(test_clock__the_calendar_is_the_c_library_s),
        UNIT_TEST(test_clock__stands_still_when_it_is_told_to),
    };
    return UNIT_RUN("clock", tests);
}
