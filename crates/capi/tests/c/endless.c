/* As many requests as it is told, in an endless loop of a host: memory must not grow with them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reprieve.h"

enum { UNDER_WAY = 16, PAGE_BYTES = 2048 };

static const char *const SCENARIO =
    "device = \"fast12-slc\"\npolicy = \"pes-ipc\"\n"
    "[geometry]\nchannels = 2\nblocks_per_plane = 64\n"
    "[ftl]\nover_provisioning = 0.3\nprecondition = \"sequential\"\n";

static void must(int holds, const reprieve_drive *drive)
{
    if (!holds) {
        fprintf(stderr, "%s\n", reprieve_error(drive));
        exit(1);
    }
}

/* Memory that the program has now; Linux tells it in pages. */
static long now_kib(void)
{
    long pages = 0;
    FILE *const file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%*d %ld", &pages) != 1)
        exit(1);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int count, char **words)
{
    const uint64_t all = count > 1 ? strtoull(words[1], NULL, 10) : 100000;
    reprieve_drive *drive;
    must(reprieve_open(SCENARIO, strlen(SCENARIO), &drive) == REPRIEVE_OK, drive);
    const uint64_t pages = reprieve_capacity_bytes(drive) / PAGE_BYTES;
    uint64_t state = 1, sent = 0, complete = 0, now_ns = 0;
    long early_kib = 0;
    while (complete < all) {
        while (sent < all && sent - complete < UNDER_WAY) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            reprieve_request request;
            memset(&request, 0, sizeof request);
            request.tag = sent++;
            request.op = (state >> 60) < 12 ? REPRIEVE_READ : REPRIEVE_WRITE;
            request.lba = (state >> 20) % pages * (PAGE_BYTES / 512);
            request.bytes = PAGE_BYTES;
            must(reprieve_submit(drive, now_ns, &request) == REPRIEVE_OK, drive);
        }
        must(reprieve_run(drive, UINT64_C(1) << 62, 1, &now_ns) == REPRIEVE_OK, drive);
        reprieve_completion done[UNDER_WAY];
        const int64_t taken = reprieve_poll(drive, done, UNDER_WAY);
        must(taken > 0, drive);
        complete += (uint64_t)taken;
        if (early_kib == 0 && complete >= all / 10)
            early_kib = now_kib();
    }
    printf("%" PRIu64 " requests in %" PRIu64 " ns, grown by %ld KiB\n", complete, now_ns,
           now_kib() - early_kib);
    reprieve_close(drive);
    return 0;
}
