/*
 * The C interface of Reprieve: simulated SSDs inside another program, in simulated time.
 *
 * The caller keeps the time. It opens a drive, submits requests with the instant at which each
 * arrives, asks when something will happen next, advances the drive to that instant, and polls
 * what is complete:
 *
 *     reprieve_drive *drive;
 *     if (reprieve_open(toml, strlen(toml), &drive) != REPRIEVE_OK)
 *         fputs(reprieve_error(drive), stderr);
 *     reprieve_submit(drive, 0, &request);
 *     uint64_t at_ns;
 *     while (reprieve_next(drive, &at_ns) == REPRIEVE_OK && at_ns != REPRIEVE_NEVER) {
 *         reprieve_advance(drive, at_ns);
 *         while (reprieve_poll(drive, &completion, 1) == 1) ...
 *     }
 *     reprieve_close(drive);
 *
 * TIME. Every instant is a whole number of nanoseconds since the drive was opened, which is 0;
 * the last one is 2^62. No call looks at a clock, starts a thread or opens a file, except for the
 * files that the scenario itself names (a device or a part by path), and for the threads of arrays.
 * There is no global state.
 *
 * THREADS. A drive may be used from any thread, by one at a time. Two calls for one drive at once
 * are a mistake of the caller: the second returns REPRIEVE_BUSY, and does nothing. Different
 * drives may be used at once by different threads.
 *
 * ERRORS. Calls that can fail return a status. Unless it is REPRIEVE_FAULT, the drive is as if the
 * call had not been made, and reprieve_error has the sentence. A null pointer where one is needed
 * is REPRIEVE_INVALID. After REPRIEVE_FAULT, a mistake in Reprieve, only reprieve_error and
 * reprieve_close do anything for that drive; other drives are not affected. Rust writes a note of
 * the fault to standard error. No panic and no exception leaves the library.
 *
 * OWNERSHIP. The library keeps no pointer that it is given, and copies what it needs. Strings that
 * it returns belong to the drive, and each call says how long they last.
 */
#ifndef REPRIEVE_H
#define REPRIEVE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The interface that this header declares. Additions keep the number; whatever would break a
 * compiled program raises it. */
#define REPRIEVE_ABI_VERSION 1

/* No instant: nothing will happen without another request. */
#define REPRIEVE_NEVER UINT64_MAX

/* Status of a call. */
#define REPRIEVE_OK 0      /* done */
#define REPRIEVE_INVALID 1 /* a mistake in what was asked, or the drive is worn out */
#define REPRIEVE_TIME 2    /* an instant that has passed, or a step that leaves one out */
#define REPRIEVE_SPACE 3   /* the buffer is too small */
#define REPRIEVE_BUSY 4    /* another call for this drive is under way */
#define REPRIEVE_FAULT 5   /* a mistake in Reprieve; the drive is of no more use */

/* What is asked. */
#define REPRIEVE_READ 0
#define REPRIEVE_WRITE 1
#define REPRIEVE_TRIM 2
#define REPRIEVE_FLUSH 3 /* complete once every earlier write is in flash; lba and bytes are 0 */

/* A drive. */
typedef struct reprieve_drive reprieve_drive;

/* What a request asks of the drive: 24 bytes. */
typedef struct reprieve_request {
    uint64_t tag;      /* the caller's, which the completion has; it need not be unique */
    uint64_t lba;      /* first sector, in units of 512 bytes */
    uint32_t bytes;    /* length, a multiple of 512 and not 0; 0 of a flush */
    uint8_t op;        /* REPRIEVE_READ, _WRITE, _TRIM or _FLUSH */
    uint8_t fua;       /* 1: a write that is complete only when it is in flash; else 0 */
    uint16_t reserved; /* 0 */
} reprieve_request;

/* A request that is complete: 40 bytes. */
typedef struct reprieve_completion {
    uint64_t tag;                 /* that of the request */
    uint64_t number;              /* of the request, in order of arrival, from 0 */
    uint64_t arrival_ns;          /* as it was submitted */
    uint64_t completion_ns;       /* when it was complete */
    uint32_t uncorrectable_pages; /* pages of a read that nothing corrected */
    uint8_t op;                   /* that of the request */
    uint8_t reserved[3];          /* 0 */
} reprieve_completion;

/* Which fields of a reprieve_request2 count, or'ed: a queue or a priority, a handle, or both. */
#define REPRIEVE_WITH_QUEUE 1
#define REPRIEVE_WITH_PRIORITY 2
#define REPRIEVE_WITH_HANDLE 4

/* Classes of queues. */
#define REPRIEVE_URGENT 0
#define REPRIEVE_HIGH 1
#define REPRIEVE_MEDIUM 2
#define REPRIEVE_LOW 3

/* A request with its way into the drive: 40 bytes, to which later releases may add. Set it to zero
 * first. */
typedef struct reprieve_request2 {
    reprieve_request request;
    uint32_t with;       /* REPRIEVE_WITH_..., or 0 */
    uint32_t queue;      /* submission queue, from 0; else all take turns */
    uint8_t priority;    /* the queues of this class of host.queue_priorities take turns */
    uint8_t handle;      /* placement handle of a write, of ftl.placement_handles; else 0 */
    uint8_t reserved[6]; /* 0 */
} reprieve_request2;

/* No die had to do with the request. */
#define REPRIEVE_NO_DIE UINT32_MAX

/* A completion with its details: 248 bytes, to which later releases may add. The twelve components
 * add up to completion_ns - arrival_ns; they and the causes are columns of requests.parquet, see
 * docs/reference. */
typedef struct reprieve_completion2 {
    reprieve_completion completion;
    uint64_t host_queue_ns;
    uint64_t link_ns;
    uint64_t buffer_ns;
    uint64_t rmw_ns;
    uint64_t queue_ns;
    uint64_t suspend_wait_ns;
    uint64_t array_ns;
    uint64_t bus_wait_ns;
    uint64_t bus_ns;
    uint64_t suspended_ns;
    uint64_t map_ns;
    uint64_t ecc_ns;
    uint64_t by_host_read_ns; /* causes of the waits among them */
    uint64_t by_host_program_ns;
    uint64_t by_gc_read_ns;
    uint64_t by_gc_program_ns;
    uint64_t by_erase_ns;
    uint64_t by_map_ns;
    uint64_t by_channel_ns;
    uint64_t by_suspend_entry_ns;
    uint64_t by_same_block_ns;
    uint64_t by_limit_ns;
    uint64_t by_budget_ns;
    uint64_t by_power_ns;
    uint64_t by_other_ns;
    uint32_t die;     /* that had the last page, or REPRIEVE_NO_DIE */
    uint32_t retries; /* senses beyond the first of each page that was read for it */
} reprieve_completion2;

/* REPRIEVE_ABI_VERSION of the library that is there at run time. A program compares it with its
 * own before it does anything else. */
uint32_t reprieve_abi_version(void);

/* The release of the library, such as "0.1.0". It lasts as long as the library. */
const char *reprieve_version(void);

/*
 * Opens a drive, at time 0 and preconditioned as the scenario says, which may take seconds.
 *
 * toml      the scenario, UTF-8, `length` bytes, no terminating zero needed: docs/reference. Its
 *           workload, if it has one, is left out: the requests come from the caller. Files that it
 *           names are looked for in the working directory.
 * *drive    is set to a drive in every case but a null `drive`, and is to be closed. After an
 *           error only reprieve_error and reprieve_close do anything with it.
 *
 * REPRIEVE_INVALID: a mistake in the scenario, or the drive does not fit into memory.
 */
int reprieve_open(const char *toml, size_t length, reprieve_drive **drive);

/*
 * Opens a drive as reprieve_open does, but in a state that `reprieve run --save-state` wrote instead
 * of preconditioned. `state` is the path of the file, UTF-8, zero-terminated.
 *
 * REPRIEVE_INVALID: as reprieve_open; or the file cannot be read, or is another drive's.
 */
int reprieve_open_state(const char *toml, size_t length, const char *state, reprieve_drive **drive);

/* Closes a drive, and frees all that is the drive's. Null is fine. A closed drive must not be used,
 * and no other call for it may be under way. */
void reprieve_close(reprieve_drive *drive);

/* The sentence of the last call for this drive that failed, "" if none has; UTF-8. It lasts until
 * the next call that fails or the drive is closed. */
const char *reprieve_error(const reprieve_drive *drive);

/* Bytes that the drive has for its users; 0 if it could not be opened. */
uint64_t reprieve_capacity_bytes(reprieve_drive *drive);

/* The instant in ns up to which everything has passed; 0 if the drive could not be opened. */
uint64_t reprieve_now(reprieve_drive *drive);

/*
 * Submits a request that arrives at `at_ns`, now or later; nothing happens yet.
 *
 * Requests may be submitted in any order of their arrivals; those of one instant arrive in the
 * order in which they were submitted. One that arrives now, when the drive has passed this instant
 * already, arrives in a second round of it: reprieve_next then says now, and to advance to now lets
 * it arrive. The drive does not take back what it decided in the first round.
 *
 * REPRIEVE_TIME: `at_ns` lies before now. REPRIEVE_INVALID: a request that no drive takes, that
 * reaches past the end of this one, or that arrives after 2^62.
 */
int reprieve_submit(reprieve_drive *drive, uint64_t at_ns, const reprieve_request *request);

/*
 * Submits a request as reprieve_submit does, by a queue and with a placement handle of its own.
 * `size` is sizeof(reprieve_request2).
 *
 * REPRIEVE_INVALID besides: a queue, class or handle that the scenario lacks, or a handle of a
 * request that is no write.
 */
int reprieve_submit2(reprieve_drive *drive, uint64_t at_ns, const reprieve_request2 *request,
                     size_t size);

/*
 * Has the drive keep the details of completions, for reprieve_poll2. REPRIEVE_INVALID: it has had
 * a request. A saved drive and a clone keep them, too.
 */
int reprieve_keep_details(reprieve_drive *drive);

/*
 * Has the summary count from `at_ns` on, now or later, and only requests that arrive then or later;
 * `[measure]` of the scenario counts no more. REPRIEVE_TIME: `at_ns` lies before now.
 */
int reprieve_measure_from(reprieve_drive *drive, uint64_t at_ns);

/*
 * Says when something will happen next: an arrival, or a step inside the drive, which need not be a
 * completion. REPRIEVE_NEVER: nothing without another request. Nothing happens before that instant,
 * whatever is not submitted; it changes with each request and each step.
 */
int reprieve_next(reprieve_drive *drive, uint64_t *at_ns);

/*
 * Lets time pass up to `to_ns`, with what happens at that instant.
 *
 * REPRIEVE_TIME: `to_ns` lies before now, or behind what reprieve_next says. So a caller cannot
 * leave out an instant at which it would have had something to do. REPRIEVE_INVALID: so many blocks
 * have failed that the drive cannot go on; the instant has passed all the same.
 */
int reprieve_advance(reprieve_drive *drive, uint64_t to_ns);

/*
 * Lets time pass until `completions` requests wait to be polled, but not beyond `until_ns`, and says
 * where time is: at the first instant at which so many wait, or at `until_ns`.
 *
 * With 1, for callers that act on each completion, and know when they themselves submit next. With
 * more, for callers that act on none, such as one that replays a trace. The same instants pass as
 * with reprieve_next and reprieve_advance, with fewer calls. If so many wait already, no time
 * passes. `*now_ns` may be null.
 *
 * REPRIEVE_TIME: `until_ns` lies before now. REPRIEVE_INVALID: `completions` is 0; or as
 * reprieve_advance.
 */
int reprieve_run(reprieve_drive *drive, uint64_t until_ns, size_t completions, uint64_t *now_ns);

/*
 * Takes up to `max` completions, in the order in which they were complete, the oldest first, and
 * returns how many; none is later than now. Negative: minus the status. `completions` is the
 * caller's array of at least `max`.
 */
int64_t reprieve_poll(reprieve_drive *drive, reprieve_completion *completions, size_t max);

/*
 * Takes completions as reprieve_poll does, with their details. `size` is
 * sizeof(reprieve_completion2), also the distance from one of the caller's array to the next.
 *
 * Minus REPRIEVE_INVALID: the drive keeps no details.
 */
int64_t reprieve_poll2(reprieve_drive *drive, reprieve_completion2 *completions, size_t size,
                       size_t max);

/*
 * Does nothing: every drive can be saved. For programs written for 0.2.
 */
int reprieve_keep_journal(reprieve_drive *drive);

/*
 * Writes the drive into `buffer`, in mid-flight or at rest: its tables, queues and streams, requests
 * that are open, completions that were not polled, and all that it will do.
 *
 * *size is set to the bytes that are needed, which change as the drive goes on. REPRIEVE_SPACE:
 * `capacity` is less, and nothing was written; with a null buffer and a capacity of 0 that is how to
 * ask.
 */
int reprieve_save(reprieve_drive *drive, void *buffer, size_t capacity, size_t *size);

/*
 * Opens the drive that was saved as these `size` bytes. From there it does to the nanosecond what
 * the saved one does, and it can be saved again. *drive is set as by reprieve_open. Takes as long as
 * reading the bytes.
 *
 * REPRIEVE_INVALID: the bytes are damaged, or of another release. The checksum tells of accidents
 * only: restore what comes from yourself.
 */
int reprieve_restore(const void *buffer, size_t size, reprieve_drive **drive);

/*
 * Opens a drive that is what `drive` is, in mid-flight or at rest, and goes its own way from here.
 * *clone is set as by reprieve_open.
 *
 * REPRIEVE_INVALID: there is no memory for a second drive.
 */
int reprieve_clone(reprieve_drive *drive, reprieve_drive **clone);

/*
 * The summary so far as JSON, UTF-8: the fields of summary.json, see docs/reference. *json lasts
 * until the next call of reprieve_summary for this drive, or it is closed. *length, without the
 * terminating zero, may be null.
 */
int reprieve_summary(reprieve_drive *drive, const char **json, size_t *length);

/*
 * ARRAYS. Drives behind one address space, as docs/guide/arrays.md has them. An array takes requests
 * in bulk, and runs until all are complete; it has no steps. What is said above of threads, errors and
 * ownership holds for arrays, too, but that reprieve_array_run uses threads of its own, which have
 * ended when it returns; the result does not depend on their number.
 */
typedef struct reprieve_array reprieve_array;

/* A request of an array: 32 bytes. */
typedef struct reprieve_array_request {
    uint64_t arrival_ns; /* not before reprieve_array_now, at most 2^61 */
    uint64_t offset;     /* first byte, a multiple of 512; of a flush 0 */
    uint64_t bytes;      /* length, a multiple of 512 and not 0; of a flush 0 */
    uint8_t op;          /* REPRIEVE_READ, _WRITE, _TRIM or _FLUSH */
    uint8_t reserved[7]; /* 0 */
} reprieve_array_request;

/* A request that is complete, and the operations of drives that it took: 56 bytes. */
typedef struct reprieve_array_row {
    reprieve_array_request request;
    uint64_t completion_ns;
    uint32_t reads;         /* of drives, those of hedges as well */
    uint32_t writes;        /* of drives */
    uint32_t reconstructed; /* chunks that were read from other drives at once */
    uint32_t hedged;        /* chunks that were read from other drives as well */
} reprieve_array_row;

/*
 * Opens an array of drives of a scenario, each with a seed of its own. `options` is TOML, UTF-8, of
 * `options_length` bytes: the arguments of rp.Array, such as "drives = 6\nparity = 2". *array is set
 * as by reprieve_open.
 *
 * REPRIEVE_INVALID: a mistake in the scenario or the options, or the drives do not fit into memory.
 */
int reprieve_array_open(const char *toml, size_t length, const char *options, size_t options_length,
                        reprieve_array **array);

/* Closes an array, as reprieve_close does a drive. */
void reprieve_array_close(reprieve_array *array);

/* The sentence of the last call for this array that failed, as reprieve_error. */
const char *reprieve_array_error(const reprieve_array *array);

/* Bytes that the array has for data; 0 if it could not be opened. */
uint64_t reprieve_array_capacity_bytes(reprieve_array *array);

/* The first instant in ns at which a request may arrive: behind all that the last run did. */
uint64_t reprieve_array_now(reprieve_array *array);

/*
 * Submits `count` requests for the next run, in any order. REPRIEVE_INVALID: one is wrong, and none
 * was submitted.
 */
int reprieve_array_submit(reprieve_array *array, const reprieve_array_request *requests,
                          size_t count);

/*
 * Runs until all that was submitted is complete, and writes a row for each request, in the order of
 * submission, to the caller's `rows` of at least `capacity`. *count is set to their number. With
 * `until_rebuilt` not 0 it goes on until the drive that the options replace is rebuilt.
 *
 * REPRIEVE_SPACE: `capacity` is less, and nothing has run. REPRIEVE_INVALID: no drive is being
 * rebuilt; or a drive has failed, and the array can do no more.
 */
int reprieve_array_run(reprieve_array *array, int until_rebuilt, reprieve_array_row *rows,
                       size_t capacity, size_t *count);

/* The summary so far as JSON, as reprieve_summary: latencies, operations of drives, and each drive's
 * own. */
int reprieve_array_summary(reprieve_array *array, const char **json, size_t *length);

#ifdef __cplusplus
}
#endif

#endif
