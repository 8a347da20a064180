import type { Meaning } from './meaning.ts';
import { offsetIn, type ZoneTable } from './zone-table.ts';

/** A period of a zone's time, minute by minute: the time that the clock shows, and its irregularities. */
export interface Film {
  minutes: Minute[];
}

interface Minute {
  atMs: number;
  shown: WallMinute;
  /** The clock has shown this minute before. */
  isRepeated: boolean;
  /** The wall minutes that the clock left out just before this one, unless they are a day or more. */
  leftOut: WallMinute[];
}

interface WallMinute {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
}

const MINUTE_MS = 60_000;
const MINUTES_OF_DAY = 1_440;

/** Records `fromMs` to `toMs`, from a day earlier on to know the times shown before. All in whole minutes. */
export function film(table: ZoneTable, fromMs: number, toMs: number): Film {
  const minutes: Minute[] = [];
  const shownBefore = new Set<number>();
  let lastWallMs = Number.NaN;
  for (let atMs = fromMs - MINUTES_OF_DAY * MINUTE_MS; atMs < toMs; atMs += MINUTE_MS) {
    const wallMs = atMs + offsetIn(table, atMs);
    if (atMs >= fromMs) {
      const leftOut = toLeftOut(lastWallMs, wallMs).map(toWallMinute);
      minutes.push({ atMs, shown: toWallMinute(wallMs), isRepeated: shownBefore.has(wallMs), leftOut });
    }
    shownBefore.add(wallMs);
    lastWallMs = wallMs;
  }
  return { minutes };
}

/** Every occurrence in the recorded period, by the rule in decision 32. */
export function searchOccurrences({ minutes }: Film, meaning: Meaning): number[] {
  const isMatch = matcherOf(meaning);
  const found: number[] = [];
  for (const { atMs, shown, isRepeated, leftOut } of minutes) {
    const isMadeUp = meaning.isFixedTime && leftOut.some(isMatch);
    const isDue = isMatch(shown) && !(meaning.isFixedTime && isRepeated);
    const seconds = isDue ? meaning.seconds : [];
    if (isMadeUp && seconds[0] !== 0) found.push(atMs);
    for (const second of seconds) found.push(atMs + second * 1000);
  }
  return found;
}

function matcherOf(meaning: Meaning): (wall: WallMinute) => boolean {
  const dates = new Map<number, boolean>();
  return ({ year, month, day, hour, minute }) => {
    if (!meaning.minutes.has(minute) || !meaning.hours.has(hour)) return false;
    const key = (year * 100 + month) * 100 + day;
    const known = dates.get(key);
    if (known !== undefined) return known;
    const isMatch = meaning.hasDate(year, month, day);
    dates.set(key, isMatch);
    return isMatch;
  };
}

function toLeftOut(lastWallMs: number, wallMs: number): number[] {
  const count = (wallMs - lastWallMs) / MINUTE_MS - 1;
  if (!(count > 0 && count < MINUTES_OF_DAY)) return [];
  return Array.from({ length: count }, (_, index) => lastWallMs + (index + 1) * MINUTE_MS);
}

function toWallMinute(wallMs: number): WallMinute {
  const date = new Date(wallMs);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
  };
}
