import type { PresenceEntry } from '../../../protocol/connect.ts';

/**
 * Parses the line by which clients of the protocol describe themselves: `Node: host (ip) · app 1.2 · last input 5s ago
 * · mode M · reason R`, where all parts but the first are optional. Undefined for any other text.
 */
export function parseBeacon(text: string): Partial<PresenceEntry> | undefined {
  const [head = '', ...parts] = text.split('·').map((part) => part.trim());
  const [, host, ip] = /^Node: ([^()]{1,200}?)(?: \(([^()]{1,64})\))?$/.exec(head) ?? [];
  if (host === undefined) return undefined;
  return Object.assign({ host, ...(ip !== undefined && { ip }) }, ...parts.map(toField));
}

/** Whether the reason is one that clients use for a keepalive beacon, in the words of the protocol. */
export const isSignOfLife = (reason: string | undefined): boolean =>
  reason !== undefined && (reason.startsWith('periodic') || reason === 'heartbeat');

function toField(part: string): Partial<PresenceEntry> {
  const [, word, value = ''] = /^(app|mode|reason) (\S.*)$/.exec(part) ?? [];
  if (word === 'app') return { version: value };
  if (word === 'mode') return { mode: value };
  if (word === 'reason') return { reason: value };
  const [, seconds] = /^last input (\d{1,9})s ago$/.exec(part) ?? [];
  return seconds === undefined ? {} : { lastInputSeconds: Number(seconds) };
}
