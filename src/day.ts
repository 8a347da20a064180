/** The day in UTC, as in `2026-01-31`. */
export const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** When a day in UTC ends. */
export const endOfDay = (day: string): number => Date.parse(day) + 86_400_000;
