/* test.h - what every *_test.c includes: cmocka and a few checks for statuses. A test's name is a sentence. */
#ifndef LODE_BASE_TEST_H
#define LODE_BASE_TEST_H

#include "lode/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEST(name) static void name(void **state_)

/* Fails with the error's text unless the call returned LODE_OK. `e` is the lode_err that the call filled. */
#define CHECK_OK(call, e)                                                                          \
    do {                                                                                           \
        lode_status check_ = (call);                                                               \
        if (check_ != LODE_OK) fail_msg("%s: %s: %s", #call, lode_status_name(check_), (e)->text); \
    } while (0)

/* Fails unless the call returned `code` with a text that holds `part`. */
#define CHECK_FAILS(call, e, want, part)                                                                \
    do {                                                                                                \
        *(e) = (lode_err){ 0 };                                                                         \
        lode_status check_ = (call);                                                                    \
        if (check_ != (want))                                                                           \
            fail_msg("%s: got %s, want %s", #call, lode_status_name(check_), lode_status_name(want));   \
        if (!strstr((e)->text, (part))) fail_msg("%s: text '%s' lacks '%s'", #call, (e)->text, (part)); \
    } while (0)
#endif
