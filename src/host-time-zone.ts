/** Absent before Node 26. */
declare const Temporal: { Now: { timeZoneId(): string } } | undefined;

/** The time zone of this machine, an IANA name; UTC if the machine's setting cannot be understood. */
export function findHostTimeZone(): string {
  const name: string | undefined =
    typeof Temporal === 'undefined' ? Intl.DateTimeFormat().resolvedOptions().timeZone : Temporal.Now.timeZoneId(); // `Intl` loads its date formats first, which would take 15 ms of each start
  return name === undefined || name === 'Etc/Unknown' ? 'UTC' : name;
}
