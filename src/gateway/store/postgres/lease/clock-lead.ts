import type { Clock } from '../../../../clock.ts';
import type { Log } from '../../../../log.ts';

/** The part of a connection that reads the time. */
interface Asked {
  query(sql: string): Promise<{ rows: { ms: number }[] }>;
}

/** Machines that agree less act on schedules and limits at different times. NTP keeps clocks within some milliseconds. */
export const MOST_LEAD_MS = 5_000;

const READ_CLOCK = 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms';

/** By how much the clock of this machine is ahead of that of the database; negative: it is behind. */
export async function readClockLead(client: Asked, clock: Pick<Clock, 'now' | 'monotonic'>): Promise<number> {
  const beganMs = clock.monotonic();
  const { rows } = await client.query(READ_CLOCK);
  const tookMs = clock.monotonic() - beganMs;
  return Math.round(clock.now() - tookMs / 2 - (rows[0]?.ms ?? 0));
}

/** Logs a warning if the clocks differ so much that an operator should look. */
export async function warnOfClock(client: Asked, { clock, log }: { clock: Clock; log: Log }): Promise<void> {
  const aheadMs = await readClockLead(client, clock);
  if (Math.abs(aheadMs) > MOST_LEAD_MS)
    log.warn({ aheadMs }, 'the clock of this machine and that of the database differ');
}
