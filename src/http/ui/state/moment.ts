const MINUTE_MS = 60_000;
const STEPS = [
  { unit: 'minute', ms: MINUTE_MS, most: 60 },
  { unit: 'hour', ms: 60 * MINUTE_MS, most: 24 },
  { unit: 'day', ms: 24 * 60 * MINUTE_MS, most: 7 },
] as const;

/** When something was, as people say it: `5 minutes ago`, `yesterday`, and beyond a week the date. */
export function toMoment(atMs: number, nowMs: number, locale?: string): string {
  const ago = Math.max(0, nowMs - atMs);
  if (ago < MINUTE_MS) return 'just now';
  const step = STEPS.find(({ ms, most }) => ago < ms * most);
  if (!step) return new Date(atMs).toLocaleDateString(locale, { dateStyle: 'medium' });
  return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(-Math.floor(ago / step.ms), step.unit);
}
