/* The C interface from C11: layout, errors, several drives, save and restore. */
#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reprieve.h"

static_assert(sizeof(reprieve_request) == 24, "as the library has it");
static_assert(offsetof(reprieve_request, bytes) == 16, "as the library has it");
static_assert(offsetof(reprieve_request, fua) == 21, "as the library has it");
static_assert(sizeof(reprieve_completion) == 40, "as the library has it");
static_assert(offsetof(reprieve_completion, completion_ns) == 24, "as the library has it");
static_assert(offsetof(reprieve_completion, op) == 36, "as the library has it");
static_assert(sizeof(reprieve_request2) == 40, "as the library has it");
static_assert(offsetof(reprieve_request2, handle) == 33, "as the library has it");
static_assert(sizeof(reprieve_completion2) == 248, "as the library has it");
static_assert(offsetof(reprieve_completion2, by_host_read_ns) == 136, "as the library has it");
static_assert(offsetof(reprieve_completion2, retries) == 244, "as the library has it");

/* Reads take 10 us in the array and 20 us on the bus. */
static const char *const SCENARIO =
    "device = \"fast12-slc\"\n"
    "[geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 64\n"
    "[host]\nlink_bytes_per_s = \"none\"\n";

static void check(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}
#define CHECK(condition) check(condition, #condition)

static reprieve_drive *opened(void)
{
    reprieve_drive *drive;
    CHECK(reprieve_open(SCENARIO, strlen(SCENARIO), &drive) == REPRIEVE_OK);
    return drive;
}

static reprieve_request read_of(uint64_t tag, uint64_t lba)
{
    reprieve_request request;
    memset(&request, 0, sizeof request);
    request.tag = tag;
    request.lba = lba;
    request.bytes = 2048;
    request.op = REPRIEVE_READ;
    return request;
}

static reprieve_completion next_of(reprieve_drive *drive)
{
    reprieve_completion done;
    CHECK(reprieve_run(drive, UINT64_C(1) << 60, 1, NULL) == REPRIEVE_OK);
    CHECK(reprieve_poll(drive, &done, 1) == 1);
    return done;
}

static void errors(void)
{
    reprieve_drive *none;
    CHECK(reprieve_open("device = 3", 10, &none) == REPRIEVE_INVALID);
    CHECK(strstr(reprieve_error(none), "device") != NULL);
    uint64_t at_ns;
    CHECK(reprieve_next(none, &at_ns) == REPRIEVE_INVALID);
    CHECK(reprieve_capacity_bytes(none) == 0);
    reprieve_close(none);
    reprieve_close(NULL);
    CHECK(*reprieve_error(NULL) != '\0');

    reprieve_drive *drive = opened();
    CHECK(strcmp(reprieve_error(drive), "") == 0);
    reprieve_request past = read_of(0, reprieve_capacity_bytes(drive) / 512);
    CHECK(reprieve_submit(drive, 0, &past) == REPRIEVE_INVALID);
    CHECK(strstr(reprieve_error(drive), "the drive has") != NULL);
    reprieve_close(drive);
}

static void times(void)
{
    reprieve_drive *one = opened(), *other = opened();
    reprieve_request request = read_of(41, 0);
    CHECK(reprieve_submit(one, 1000, &request) == REPRIEVE_OK);
    request.tag = 42;
    CHECK(reprieve_submit(other, 2000, &request) == REPRIEVE_OK);
    request.tag = 43;
    CHECK(reprieve_submit(other, 2000, &request) == REPRIEVE_OK);
    CHECK(reprieve_advance(other, 2001) == REPRIEVE_TIME);
    reprieve_completion done = next_of(one);
    CHECK(done.tag == 41 && done.number == 0 && done.op == REPRIEVE_READ);
    CHECK(done.arrival_ns == 1000 && done.completion_ns == 31000);
    done = next_of(other);
    CHECK(done.tag == 42 && done.completion_ns == 32000);
    done = next_of(other);
    CHECK(done.tag == 43 && done.number == 1 && done.completion_ns == 62000);
    uint64_t at_ns;
    CHECK(reprieve_next(one, &at_ns) == REPRIEVE_OK && at_ns == REPRIEVE_NEVER);
    CHECK(reprieve_now(one) == 31000);
    const char *json;
    size_t length;
    CHECK(reprieve_summary(one, &json, &length) == REPRIEVE_OK);
    CHECK(strlen(json) == length && json[0] == '{');
    reprieve_close(one);
    reprieve_close(other);
}

static void saved(void)
{
    reprieve_drive *drive = opened();
    size_t size = 0;
    CHECK(reprieve_keep_journal(drive) == REPRIEVE_OK);
    reprieve_request request = read_of(7, 0);
    CHECK(reprieve_submit(drive, 500, &request) == REPRIEVE_OK);
    CHECK(reprieve_advance(drive, 500) == REPRIEVE_OK);
    CHECK(reprieve_save(drive, NULL, 0, &size) == REPRIEVE_SPACE);
    unsigned char *bytes = malloc(size);
    CHECK(bytes != NULL && reprieve_save(drive, bytes, size, &size) == REPRIEVE_OK);
    reprieve_drive *again;
    CHECK(reprieve_clone(drive, &again) == REPRIEVE_OK);
    CHECK(next_of(again).completion_ns == 30500);
    reprieve_close(again);
    reprieve_close(drive);
    CHECK(reprieve_restore(bytes, size, &again) == REPRIEVE_OK);
    reprieve_completion done = next_of(again);
    CHECK(done.tag == 7 && done.arrival_ns == 500 && done.completion_ns == 30500);
    reprieve_close(again);
    bytes[size / 2] ^= 1;
    CHECK(reprieve_restore(bytes, size, &again) == REPRIEVE_INVALID);
    reprieve_close(again);
    free(bytes);
}

/* A completion of a later release, which has more fields. */
struct later {
    reprieve_completion2 known;
    uint64_t more;
};

static void details(void)
{
    reprieve_drive *drive = opened();
    CHECK(reprieve_keep_details(drive) == REPRIEVE_OK);
    reprieve_request2 request;
    memset(&request, 0, sizeof request);
    for (uint64_t tag = 0; tag < 2; tag++) {
        request.request = read_of(tag, 400 * tag);
        CHECK(reprieve_submit2(drive, 10 * tag, &request, sizeof request) == REPRIEVE_OK);
    }
    CHECK(reprieve_measure_from(drive, 5) == REPRIEVE_OK);
    CHECK(reprieve_run(drive, 1000000, 2, NULL) == REPRIEVE_OK);
    CHECK(reprieve_measure_from(drive, 5) == REPRIEVE_TIME);
    struct later done[2];
    memset(done, 0xff, sizeof done);
    reprieve_completion2 *first = &done[0].known, *second = &done[1].known;
    CHECK(reprieve_poll2(drive, first, sizeof *first - 8, 2) == -REPRIEVE_INVALID);
    CHECK(reprieve_poll2(drive, NULL, sizeof *first, 2) == -REPRIEVE_INVALID);
    CHECK(reprieve_poll2(drive, first, sizeof done[0], 2) == 2);
    CHECK(first->completion.tag == 0 && first->completion.completion_ns == 30000);
    CHECK(first->array_ns == 10000 && first->bus_ns == 20000 && first->queue_ns == 0);
    CHECK(second->completion.tag == 1 && second->completion.completion_ns == 60000);
    CHECK(second->queue_ns == 29990 && second->array_ns == 10000 && second->bus_ns == 20000);
    CHECK(second->by_host_read_ns == 29990 && second->by_other_ns == 0);
    CHECK(second->die == 0 && second->retries == 0 && done[1].more == 0);
    const char *json;
    CHECK(reprieve_summary(drive, &json, NULL) == REPRIEVE_OK);
    CHECK(strstr(json, "\"requests_excluded\":1") != NULL);
    request.with = REPRIEVE_WITH_QUEUE;
    CHECK(reprieve_submit2(drive, 60000, &request, sizeof request) == REPRIEVE_INVALID);
    CHECK(strstr(reprieve_error(drive), "queue = 0: the drive has none") != NULL);
    request.with = REPRIEVE_WITH_QUEUE | REPRIEVE_WITH_PRIORITY;
    CHECK(reprieve_submit2(drive, 60000, &request, sizeof request) == REPRIEVE_INVALID);
    request.with = REPRIEVE_WITH_PRIORITY;
    request.priority = REPRIEVE_LOW + 1;
    CHECK(reprieve_submit2(drive, 60000, &request, sizeof request) == REPRIEVE_INVALID);
    CHECK(strstr(reprieve_error(drive), "priority = 4") != NULL);
    CHECK(reprieve_submit2(drive, 60000, &request, sizeof request - 1) == REPRIEVE_INVALID);
    CHECK(reprieve_submit2(drive, 60000, NULL, sizeof request) == REPRIEVE_INVALID);
    reprieve_close(drive);
    drive = opened();
    CHECK(reprieve_poll2(drive, first, sizeof *first, 1) == -REPRIEVE_INVALID);
    request.with = 0;
    request.priority = 0;
    CHECK(reprieve_submit2(drive, 0, &request, sizeof request) == REPRIEVE_OK);
    CHECK(reprieve_keep_details(drive) == REPRIEVE_INVALID);
    reprieve_close(drive);
}

/* Of two requests of one instant that wait for one place, the urgent one is fetched first. */
static void classes(void)
{
    static const char *const QUEUES =
        "interface = \"nvme\"\nqueues = 2\noutstanding = 1\narbitration = \"strict-priority\"\n"
        "queue_priorities = [\"low\", \"urgent\"]\n";
    char text[1000];
    snprintf(text, sizeof text, "%s%s", SCENARIO, QUEUES);
    for (uint32_t with = REPRIEVE_WITH_QUEUE; with <= REPRIEVE_WITH_PRIORITY; with++) {
        reprieve_drive *drive;
        CHECK(reprieve_open(text, strlen(text), &drive) == REPRIEVE_OK);
        reprieve_request2 request;
        memset(&request, 0, sizeof request);
        for (uint64_t tag = 0; tag < 2; tag++) {
            request.request = read_of(tag, 0);
            request.with = with;
            request.queue = tag == 1;
            request.priority = tag == 1 ? REPRIEVE_URGENT : REPRIEVE_LOW;
            CHECK(reprieve_submit2(drive, 0, &request, sizeof request) == REPRIEVE_OK);
        }
        CHECK(next_of(drive).tag == 1);
        CHECK(next_of(drive).tag == 0);
        reprieve_close(drive);
    }
}

int main(void)
{
    CHECK(reprieve_abi_version() == REPRIEVE_ABI_VERSION);
    errors();
    times();
    saved();
    details();
    classes();
    printf("all right with %s\n", reprieve_version());
    return 0;
}
