import type { PresenceEntry } from '../../../protocol/methods/connect.ts';

/**
 * Reads the line by which clients of the protocol say where they are: `Node: host (ip) · app 1.2 · last input 5s ago ·
 * mode M · reason R`, any part but the first left out. Undefined for any other text.
 */
export function parseBeacon(text: string): Partial<PresenceEntry> | undefined {
  const [head = '', ...parts] = text.split('·').map((part) => part.trim());
  const [, host, ip] = /^Node: ([^()]{1,200}?)(?: \(([^()]{1,64})\))?$/.exec(head) ?? [];
  if (host === undefined) return undefined;
  return Object.assign({ host, ...(ip !== undefined && { ip }) }, ...parts.map(toField));
}

/** The reasons that clients of the protocol give for a beacon that only says that they are there: its specified words. */
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
