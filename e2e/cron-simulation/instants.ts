import type { CronSchedule } from '../../protocol/cron.ts';

const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;
const DAY_MS = 86_400_000;
const HALF_DAY_MS = DAY_MS / 2;
/** Every expression of the simulation is due at least this often. */
const MAX_WAIT_MS = 800 * DAY_MS;

/** The due times of a schedule, searched minute by minute: slow, and independent of the product's code. */
export interface Grid {
  has(atMs: number): boolean;
  /** The first due time strictly after a time. */
  next(afterMs: number): number | undefined;
}

export function gridOf(schedule: CronSchedule): Grid {
  switch (schedule.kind) {
    case 'at':
      return {
        has: (atMs) => atMs === schedule.atMs,
        next: (afterMs) => (schedule.atMs > afterMs ? schedule.atMs : undefined),
      };
    case 'every': {
      const { everyMs, anchorMs = 0 } = schedule;
      return {
        has: (atMs) => atMs >= anchorMs && (atMs - anchorMs) % everyMs === 0,
        next: (afterMs) => anchorMs + Math.max(0, Math.floor((afterMs - anchorMs) / everyMs) + 1) * everyMs,
      };
    }
    case 'cron':
      return cronGrid(schedule.expr, schedule.tz ?? 'UTC');
  }
}

function cronGrid(expr: string, tz: string): Grid {
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = expr.split(' ');
  const isDay = (wallMs: number): boolean => {
    const wall = new Date(wallMs);
    return isIn(day, wall.getUTCDate()) && isIn(month, wall.getUTCMonth() + 1) && isIn(weekday, wall.getUTCDay());
  };
  const matches = (wallMs: number): boolean => {
    const wall = new Date(wallMs);
    return isIn(minute, wall.getUTCMinutes()) && isIn(hour, wall.getUTCHours()) && isDay(wallMs);
  };
  const isNear = (wallMs: number): boolean => [-DAY_MS, 0, DAY_MS].some((ms) => isDay(wallMs + ms));
  const isRhythm = /[*/]/.test(`${minute} ${hour}`);
  const zone = zoneOf(tz);
  const has = (atMs: number): boolean => {
    if (atMs % MINUTE_MS !== 0) return false;
    const wallMs = zone(atMs);
    if (isRhythm) return matches(wallMs);
    return (matches(wallMs) && !isSecondPass(zone, atMs)) || isAfterGap(zone, atMs, matches);
  };
  return {
    has,
    next(afterMs) {
      let atMs = afterMs - (afterMs % MINUTE_MS) + MINUTE_MS;
      for (const endMs = atMs + MAX_WAIT_MS; atMs < endMs; ) {
        if (has(atMs)) return atMs;
        atMs += atMs % HALF_DAY_MS === 0 && !isNear(zone(atMs)) ? HALF_DAY_MS : MINUTE_MS;
      }
      return undefined;
    },
  };
}

/** The local time of a zone, as if it were UTC. */
type Zone = (atMs: number) => number;

/** Whether the clock has shown the same time before, within two hours. */
function isSecondPass(zone: Zone, atMs: number): boolean {
  const lostMs = zone(atMs - 2 * 60 * MINUTE_MS) + 2 * 60 * MINUTE_MS - zone(atMs);
  return lostMs > 0 && zone(atMs - lostMs) === zone(atMs);
}

/** Whether the clock has just been set forward over a matching time. */
function isAfterGap(zone: Zone, atMs: number, matches: (wallMs: number) => boolean): boolean {
  const wallMs = zone(atMs);
  for (let missing = zone(atMs - MINUTE_MS) + MINUTE_MS; missing < wallMs; missing += MINUTE_MS) {
    if (matches(missing)) return true;
  }
  return false;
}

const isIn = (field: string, value: number): boolean =>
  field.split(',').some((part) => {
    const [range = '', step] = part.split('/');
    const [from, to = step === undefined ? from : undefined] = range === '*' ? [0, 99] : range.split('-').map(Number);
    if (from === undefined || value < from || (to !== undefined && value > to)) return false;
    return (value - (range === '*' ? 0 : from)) % Number(step ?? 1) === 0;
  });

const zones = new Map<string, Zone>();

function zoneOf(tz: string): Zone {
  const known = zones.get(tz);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-u-hc-h23', {
    timeZone: tz,
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' },
  });
  const offsets = new Map<number, number>();
  const zone: Zone = (atMs) => {
    const quarter = Math.floor(atMs / QUARTER_MS);
    let offsetMs = offsets.get(quarter);
    if (offsetMs === undefined) {
      const part = Object.fromEntries(
        format.formatToParts(quarter * QUARTER_MS).map(({ type, value }) => [type, value]),
      );
      const { year, month, day, hour, minute } = part;
      offsetMs =
        Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute)) - quarter * QUARTER_MS;
      offsets.set(quarter, offsetMs);
    }
    return atMs + offsetMs;
  };
  zones.set(tz, zone);
  return zone;
}
