/** The offsets of a zone, taken only from the fields that Intl formats. */

const DAY_MS = 86_400_000;

/** From `atMs` on the zone is `offsetMs` ahead of UTC. */
export interface Change {
  atMs: number;
  offsetMs: number;
}

/** The offsets of a zone in a period; the first entry is the offset at the start. */
export interface ZoneTable {
  tz: string;
  changes: Change[];
}

/** Every change of the offset, exact to the second; changes that last two days or more are always found. */
export function readZone(tz: string, fromMs: number, toMs: number): ZoneTable {
  const offsetAt = offsetReader(tz);
  const changes: Change[] = [{ atMs: fromMs, offsetMs: offsetAt(fromMs) }];
  let before = offsetAt(fromMs);
  for (let atMs = fromMs + 2 * DAY_MS; atMs <= toMs; atMs += 2 * DAY_MS) {
    const offsetMs = offsetAt(atMs);
    if (offsetMs !== before) changes.push({ atMs: bisect(offsetAt, atMs - 2 * DAY_MS, atMs), offsetMs });
    before = offsetMs;
  }
  return { tz, changes };
}

export function offsetIn({ changes }: ZoneTable, atMs: number): number {
  return changes.findLast((change) => change.atMs <= atMs)?.offsetMs ?? 0;
}

/** The first second at which the offset is no longer that of `fromMs`. */
function bisect(offsetAt: (atMs: number) => number, fromMs: number, toMs: number): number {
  const before = offsetAt(fromMs);
  let [low, high] = [fromMs / 1000, toMs / 1000];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle * 1000) === before) low = middle;
    else high = middle;
  }
  return high * 1000;
}

function offsetReader(tz: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: tz,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
    hourCycle: 'h23',
  });
  return (atMs) => {
    // 3/28/2027, 03:00:00
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] =
      format.format(atMs).match(/\d+/g)?.map(Number) ?? [];
    return Date.UTC(year, month - 1, day, hour, minute, second) - atMs;
  };
}
