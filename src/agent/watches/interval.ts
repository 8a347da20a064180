/** The shortest and the longest interval between two polls, in seconds. */
const MIN_INTERVAL_SECS = 10;
const MAX_INTERVAL_SECS = 86_400;

const UNITS: Record<string, number> = { h: 3_600, m: 60, s: 1 };
const PARTS = /^(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/;

/** Reads an interval such as `30s`, `5m`, `2h30m`, or bare seconds. The result says what is wrong with any other text. */
export function parseInterval(text: string): { secs: number } | { problem: string } {
  const trimmed = text.trim().toLowerCase();
  const secs = /^\d{1,6}$/.test(trimmed) ? Number(trimmed) : secsIn(trimmed);
  if (secs === undefined || secs < MIN_INTERVAL_SECS || secs > MAX_INTERVAL_SECS)
    return {
      problem: `Invalid interval ${JSON.stringify(text.slice(0, 40))}. Use 10s to 24h, such as 30s, 5m or 2h30m.`,
    };
  return { secs };
}

function secsIn(text: string): number | undefined {
  const found = text === '' ? null : PARTS.exec(text);
  if (!found) return undefined;
  return ['h', 'm', 's'].reduce((sum, unit, index) => sum + Number(found[index + 1] ?? 0) * (UNITS[unit] ?? 0), 0);
}
