/* An array of drives from C11: requests of a few numbers, and a row of text for each that is done. */
#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reprieve.h"

static_assert(sizeof(reprieve_array_request) == 32, "as the library has it");
static_assert(offsetof(reprieve_array_request, op) == 24, "as the library has it");
static_assert(sizeof(reprieve_array_row) == 56, "as the library has it");
static_assert(offsetof(reprieve_array_row, hedged) == 52, "as the library has it");

#define REQUESTS 600

static const char *const SCENARIO =
    "device = \"fast12-slc\"\npolicy = \"pes-ipc\"\nseed = 11\n"
    "[geometry]\nchannels = 1\nblocks_per_plane = 64\n";
static const char *const OPTIONS =
    "drives = 5\nparity = 2\nchunk_bytes = 8192\nread = \"hedged\"\nhedge_after_us = 150\n";

static void fail(const char *what, const char *error)
{
    fprintf(stderr, "%s: %s\n", what, error);
    exit(1);
}
#define CHECK(condition) \
    ((condition) ? (void)0 : fail(#condition, reprieve_array_error(array)))

/* Numbers that look random: the multiplier is Knuth's for 64 bits. */
static uint64_t below(uint64_t bound)
{
    static uint64_t state = 7;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % bound;
}

static reprieve_array_request requests[REQUESTS];
static reprieve_array_row rows[REQUESTS];

int main(void)
{
    reprieve_array *array = NULL;
    CHECK(*reprieve_array_error(NULL) != '\0');
    const char *const wrong = "drives = 2\nparity = 2";
    CHECK(reprieve_array_open(SCENARIO, strlen(SCENARIO), wrong, strlen(wrong), &array)
          == REPRIEVE_INVALID);
    CHECK(strstr(reprieve_array_error(array), "parity = 2: must be below drives") != NULL);
    CHECK(reprieve_array_capacity_bytes(array) == 0);
    reprieve_array_close(array);
    CHECK(reprieve_array_open(SCENARIO, strlen(SCENARIO), NULL, 3, &array) == REPRIEVE_INVALID);
    reprieve_array_close(array);
    CHECK(reprieve_array_open(SCENARIO, strlen(SCENARIO), OPTIONS, strlen(OPTIONS), &array)
          == REPRIEVE_OK);
    const uint64_t sectors = reprieve_array_capacity_bytes(array) / 512;
    uint64_t at_ns = 0;
    for (size_t number = 0; number < REQUESTS; number++) {
        at_ns += below(100000);
        requests[number].arrival_ns = at_ns;
        requests[number].bytes = 512 * (1 + below(64));
        requests[number].offset = 512 * below(sectors - 64);
        requests[number].op = (uint8_t)below(3);
    }
    size_t count;
    /* In two calls of submit, and of what has a wrong request nothing. */
    CHECK(reprieve_array_submit(array, requests, 100) == REPRIEVE_OK);
    requests[300].reserved[3] = 1;
    CHECK(reprieve_array_submit(array, requests + 100, REQUESTS - 100) == REPRIEVE_INVALID);
    requests[300].reserved[3] = 0;
    requests[300].bytes += 1;
    CHECK(reprieve_array_submit(array, requests + 100, REQUESTS - 100) == REPRIEVE_INVALID);
    CHECK(strstr(reprieve_array_error(array), "request 200: bytes") != NULL);
    requests[300].bytes -= 1;
    CHECK(reprieve_array_submit(array, requests + 100, REQUESTS - 100) == REPRIEVE_OK);
    CHECK(reprieve_array_submit(array, NULL, 1) == REPRIEVE_INVALID);
    CHECK(reprieve_array_run(array, 0, rows, REQUESTS - 1, &count) == REPRIEVE_SPACE);
    CHECK(count == REQUESTS && reprieve_array_now(array) == 0);
    CHECK(reprieve_array_run(array, 0, NULL, REQUESTS, &count) == REPRIEVE_INVALID);
    CHECK(reprieve_array_run(array, 0, rows, REQUESTS, NULL) == REPRIEVE_INVALID);
    CHECK(reprieve_array_run(array, 0, rows, REQUESTS, &count) == REPRIEVE_OK && count == REQUESTS);
    CHECK(reprieve_array_run(array, 0, NULL, 0, &count) == REPRIEVE_OK && count == 0);
    CHECK(reprieve_array_run(array, 1, NULL, 0, &count) == REPRIEVE_INVALID);
    for (size_t number = 0; number < REQUESTS; number++) {
        const reprieve_array_row *const row = &rows[number];
        CHECK(memcmp(&row->request, &requests[number], sizeof row->request) == 0);
        printf("%" PRIu64 " %u %u %u %u\n", row->completion_ns, row->reads, row->writes,
               row->reconstructed, row->hedged);
    }
    const char *json;
    size_t length;
    CHECK(reprieve_array_summary(array, &json, &length) == REPRIEVE_OK && strlen(json) == length);
    printf("%" PRIu64 "\n%s\n", reprieve_array_now(array), json);
    reprieve_array_close(array);
    reprieve_array_close(NULL);
    return 0;
}
