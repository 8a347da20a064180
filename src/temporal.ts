/** What is used of `Temporal`. `Intl` loads its date formats before it answers, which takes 25 to 45 ms of a process. */
interface Temporal {
  Now: { timeZoneId(): string };
  Instant: {
    fromEpochMilliseconds(ms: number): { toZonedDateTimeISO(tz: string): { offsetNanoseconds: number } };
  };
}

declare const Temporal: Temporal | undefined;

/** Absent before Node 26. */
export const temporal = typeof Temporal === 'undefined' ? undefined : Temporal;
