/** A service that asks for more, or for nonsense, must not silence what is sent to it until the next start. */
const MOST_SECS = 24 * 3_600;

/** How long a service wants to be left alone, in milliseconds; undefined if it does not say it in seconds. */
export function askedWaitMs(seconds: unknown): number | undefined {
  const asked = typeof seconds === 'string' || typeof seconds === 'number' ? Number(seconds) : Number.NaN;
  return asked > 0 ? Math.min(MOST_SECS, asked) * 1_000 : undefined;
}
