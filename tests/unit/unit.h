/* SPDX-License-Identifier: MIT */
/* unit.h -- a table of CUnit tests as a program: int main(void) { return UNIT_RUN("json", tests); } */
#ifndef LASTRO_TESTS_UNIT_H
#define LASTRO_TESTS_UNIT_H

#include <CUnit/Basic.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

typedef struct {
    const char *name; /* the rule that must hold */
    void (*run)(void);
} unit_test;

#define UNIT_TEST(function)                                                                                  \
    { #function, function }
#define UNIT_RUN(suite, tests) unit_run((suite), (tests), sizeof(tests) / sizeof *(tests))

/* Fails with a text of its own when ok is false, and goes on: for tables and loops. */
__attribute__((format(printf, 2, 3))) static inline void unit_check(int ok, const char *fmt, ...) {
    char text[2048];
    if (!ok) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(text, sizeof text, fmt, ap);
        va_end(ap);
        printf("\n    failed: %s", text);
    }
    CU_assertImplementation(ok != 0, __LINE__, "unit_check, see the text above", __FILE__, "", CU_FALSE);
}

/* Runs them all and prints CUnit's summary. 0: no failure. */
static inline int unit_run(const char *suite_name, const unit_test *tests, size_t count) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 2;
    CU_pSuite suite = CU_add_suite(suite_name, NULL, NULL);
    for (size_t i = 0; suite && i < count; i++)
        if (!CU_add_test(suite, tests[i].name, tests[i].run))
            suite = NULL;
    int result = 2;
    if (suite) {
        CU_basic_set_mode(CU_BRM_VERBOSE);
        CU_basic_run_tests();
        result = CU_get_number_of_failures() ? 1 : 0;
    }
    CU_cleanup_registry();
    return result;
}

#endif
