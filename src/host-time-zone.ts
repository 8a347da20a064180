import { temporal } from './temporal.ts';

/** The time zone of this machine, an IANA name; UTC if the machine's setting cannot be understood. */
export function findHostTimeZone(): string {
  const name: string | undefined = temporal?.Now.timeZoneId() ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  return name === undefined || name === 'Etc/Unknown' ? 'UTC' : name;
}
