-- Questions about the timeline of a run, for the query tool of https://ui.perfetto.dev.

-- Which operation was suspended most? Its last piece counts its suspensions.
SELECT
  track.name AS die,
  slice.name AS operation,
  EXTRACT_ARG(slice.arg_set_id, 'debug.plane') AS plane,
  EXTRACT_ARG(slice.arg_set_id, 'debug.block') AS block,
  EXTRACT_ARG(slice.arg_set_id, 'debug.page') AS page,
  EXTRACT_ARG(slice.arg_set_id, 'debug.suspensions') AS suspensions,
  slice.ts AS last_resumed_ns
FROM slice
JOIN track ON slice.track_id = track.id
WHERE track.name GLOB 'die *' AND slice.depth = 0
ORDER BY suspensions DESC, slice.ts
LIMIT 1;

-- How long did reads on die 3 wait behind programs of garbage collection, from arrival to the
-- start of the page operation? A read of several pages on this die counts once for each.
WITH
  operations AS (
    SELECT slice.name, slice.ts, slice.ts + slice.dur AS end_ns,
      EXTRACT_ARG(slice.arg_set_id, 'debug.request') AS request
    FROM slice JOIN track ON slice.track_id = track.id
    WHERE track.name = 'die 3' AND slice.depth = 0),
  reads AS (
    SELECT slice.ts AS arrival_ns, EXTRACT_ARG(slice.arg_set_id, 'debug.request') AS request
    FROM slice JOIN track ON slice.track_id = track.id
    WHERE track.name = 'requests' AND slice.name = 'read')
SELECT
  COUNT(DISTINCT page.request) AS reads,
  SUM(MIN(collection.end_ns, page.ts) - MAX(collection.ts, reads.arrival_ns)) AS waited_ns
FROM operations AS page
JOIN reads ON reads.request = page.request
JOIN operations AS collection
  ON collection.ts < page.ts AND collection.end_ns > reads.arrival_ns
WHERE page.name = 'read' AND collection.name = 'gc program';

-- Shares of the time in which each die (or plane that reads independently) read, programmed,
-- erased, or had a suspended operation; a program suspended within an erase counts twice.
WITH
  pieces AS (
    SELECT slice.id, track.name AS die, slice.name, slice.ts, slice.dur
    FROM slice JOIN track ON slice.track_id = track.id
    WHERE track.name GLOB 'die *' AND slice.depth = 0 AND slice.dur >= 0),
  pauses AS (
    SELECT earlier.die, later.ts - earlier.ts - earlier.dur AS dur
    FROM flow
    JOIN pieces AS earlier ON flow.slice_out = earlier.id
    JOIN pieces AS later ON flow.slice_in = later.id),
  whole AS (SELECT 1.0 * (MAX(ts + dur) - MIN(ts)) AS dur FROM slice)
SELECT
  die,
  TOTAL(CASE WHEN name LIKE '%read' THEN dur END) / (SELECT dur FROM whole) AS reading,
  TOTAL(CASE WHEN name LIKE '%program' OR name LIKE '%copyback' THEN dur END)
    / (SELECT dur FROM whole) AS programming,
  TOTAL(CASE WHEN name = 'erase' THEN dur END) / (SELECT dur FROM whole) AS erasing,
  (SELECT TOTAL(dur) FROM pauses WHERE pauses.die = pieces.die)
    / (SELECT dur FROM whole) AS suspended
FROM pieces
GROUP BY die
ORDER BY die;
