import type { PresenceEntry } from '../../../protocol/connect.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { type JoinedText, JoinedTexts } from './joined-texts.ts';

interface Row {
  entry: PresenceEntry;
  /** Its open connections: two pages of one browser are one row. */
  connIds: Set<string>;
}

/** The known clients by their keys. */
export interface PresenceRows {
  get(key: string): Row | undefined;
  /** Adds or replaces a row, which becomes the newest. One too many removes another. */
  put(key: string, row: Row): void;
  /** Marks a client as gone. Its row becomes the newest. */
  leave(key: string, ts: number): void;
  /** Removes rows without a connection that did not change after this time. Whether there were any. */
  removeGone(untilMs: number): boolean;
  /** Newest first. */
  list(): PresenceEntry[];
  /** The list as JSON without brackets. The next change changes these bytes, too. */
  json(): Buffer;
}

interface KeptRow extends Row {
  /** All of its JSON that says who it is, because only the rest changes when the client leaves. */
  said: string;
  json: JoinedText;
}

export function createPresenceRows(): PresenceRows {
  /** In the order of their last change, which is also the order of `ts`. */
  const rows = new Map<string, KeptRow>();
  const texts = new JoinedTexts();

  function remove(key: string): void {
    const row = rows.get(key);
    if (!row) return;
    texts.remove(row.json);
    rows.delete(key);
  }

  /** The key of the client that left first. */
  function oldestGone(): string | undefined {
    for (const [key, { connIds }] of rows) if (connIds.size === 0) return key;
    return undefined;
  }

  function add(key: string, { entry, connIds, said }: Omit<KeptRow, 'json'>): void {
    remove(key);
    const { ts, reason } = entry;
    const why = reason === undefined ? '' : `,"reason":${toAscii(JSON.stringify(reason))}`;
    rows.set(key, { entry, connIds, said, json: texts.add(`{"ts":${ts}${why}${said}`) });
    // The daemon's own entry takes the last place.
    if (rows.size < LIMITS.presenceEntries) return;
    const oldest = oldestGone() ?? rows.keys().next().value;
    if (oldest !== undefined) remove(oldest);
  }

  return {
    get: (key) => rows.get(key),
    put: (key, row) => add(key, { ...row, said: saidOf(row.entry) }),
    leave(key, ts) {
      const row = rows.get(key);
      if (row) add(key, { ...row, entry: { ...row.entry, ts, reason: 'disconnect' } });
    },
    removeGone(untilMs) {
      const gone = [...rows].filter(([, { connIds, entry }]) => connIds.size === 0 && entry.ts <= untilMs);
      for (const [key] of gone) remove(key);
      return gone.length > 0;
    },
    list: () => [...rows.values()].map(({ entry }) => entry).reverse(),
    json: () => texts.bytes(),
  };
}

/** What follows the time and the reason in the JSON of an entry. */
function saidOf({ ts: _, reason: __, ...said }: PresenceEntry): string {
  const json = toAscii(JSON.stringify(said));
  return json === '{}' ? '}' : `,${json.slice(1)}`;
}

/** Writes other characters as escapes of JSON: a text of ASCII alone is sent several times faster. */
export const toAscii = (json: string): string =>
  json.replace(NOT_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** One UTF-16 code unit: an escape of JSON names a unit, not a character (RFC 8259, section 7). */
const NOT_ASCII = /[\u0080-\uffff]/g;
