/** The day in UTC, as in `2026-01-31`. */
export const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
