/*
 * A drive in the event loop of another simulator: a host with eight reads under way, and think time.
 *
 * The host has events of its own: when a read is complete it thinks for a while, and then sends
 * another. The loop takes whichever comes first, the host's next event or the drive's next instant.
 *
 *     cc -std=c11 event_loop.c $(pkg-config --cflags --libs reprieve) -o event_loop
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reprieve.h"

enum { CLIENTS = 8, READS = 2000, PAGE_BYTES = 2048, THINK_NS = 50000 };

static const char *const SCENARIO =
    "device = \"fast12-slc\"\n"
    "policy = \"pes-ipc\"\n"
    "[geometry]\n"
    "channels = 2\n"
    "blocks_per_plane = 64\n";

/* Prints why a call failed, and ends the program. */
static void must(int status, const reprieve_drive *drive)
{
    if (status != REPRIEVE_OK) {
        fprintf(stderr, "%s\n", reprieve_error(drive));
        exit(2);
    }
}

/* Numbers that look random; each run has the same ones. */
static uint64_t draw(uint64_t bound)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % bound;
}

int main(void)
{
    if (reprieve_abi_version() != REPRIEVE_ABI_VERSION) {
        fprintf(stderr, "the library has another interface than reprieve.h\n");
        return 2;
    }
    reprieve_drive *drive;
    must(reprieve_open(SCENARIO, strlen(SCENARIO), &drive), drive);
    uint64_t const pages = reprieve_capacity_bytes(drive) / PAGE_BYTES;

    uint64_t wakes_ns[CLIENTS] = {0}; /* when a client sends its next read */
    uint64_t sent = 0, complete = 0, latency_ns = 0;
    while (complete < READS) {
        /* The host's own next event. */
        int client = 0;
        for (int other = 1; other < CLIENTS; other++)
            if (wakes_ns[other] < wakes_ns[client])
                client = other;
        uint64_t drive_ns;
        must(reprieve_next(drive, &drive_ns), drive);
        if (wakes_ns[client] <= drive_ns && sent < READS) {
            reprieve_request read = {0};
            read.tag = (uint64_t)client;
            read.op = REPRIEVE_READ;
            read.lba = draw(pages) * (PAGE_BYTES / 512);
            read.bytes = PAGE_BYTES;
            must(reprieve_submit(drive, wakes_ns[client], &read), drive);
            wakes_ns[client] = REPRIEVE_NEVER;
            sent++;
            continue;
        }
        must(reprieve_advance(drive, drive_ns), drive);
        reprieve_completion done;
        while (reprieve_poll(drive, &done, 1) == 1) {
            latency_ns += done.completion_ns - done.arrival_ns;
            complete++;
            wakes_ns[done.tag] = done.completion_ns + THINK_NS;
        }
    }
    printf("%" PRIu64 " reads, %" PRIu64 " ns each, in %" PRIu64 " ns\n", complete,
           latency_ns / complete, reprieve_now(drive));
    reprieve_close(drive);
    return 0;
}
