/** The last moment that a date can have. */
const LAST_MS = 8_640_000_000_000_000;

/** A moment that others named, such as the time of a file, as one that a date can have. */
export const toMoment = (ms: number): number => Math.max(0, Math.min(Math.trunc(ms), LAST_MS));

/** The day in UTC, as in `2026-01-31`. */
export const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** When a day in UTC ends. */
export const endOfDay = (day: string): number => Date.parse(day) + 86_400_000;
