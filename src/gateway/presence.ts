import type { ConnectParams, PresenceEntry } from '../../protocol/connect.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Clock } from '../clock.ts';

type Client = ConnectParams['client'];

/** Clients that are connected, or were until recently. Command-line clients are not listed. */
export interface Presence {
  connected(connId: string, client: Client, address: string): void;
  disconnected(connId: string): void;
  /** Information that a client sends about itself, with or without a connection. */
  beacon(entry: Omit<PresenceEntry, 'ts'>): void;
  /** Newest first, including this daemon; at most 200. */
  list(): PresenceEntry[];
  /** The list as JSON. */
  json(): string;
  /** Incremented with every change of the list. */
  version(): number;
  /** Removes clients that left five minutes ago. */
  sweep(): void;
  /** Publishes changes, at most once per `pauseMs`. */
  run(signal: AbortSignal, watcher: { publish(entries: PresenceEntry[]): void; pauseMs(): number }): Promise<void>;
}

interface PresenceOptions {
  self: { host: string; version: string; platform: string };
  clock: Pick<Clock, 'now' | 'sleep'>;
}

interface Row {
  entry: PresenceEntry;
  /** The entry as JSON, once it was needed. Most entries do not change between two calls. */
  json?: string;
  /** Its open connections: two pages of one browser are one row. */
  connIds: Set<string>;
}

export function createPresence({ self, clock }: PresenceOptions): Presence {
  /** In the order of their last change, which is also the order of `ts`. */
  const rows = new Map<string, Row>();
  const keys = new Map<string, string>();
  let version = 1;
  let wake = Promise.withResolvers<void>();

  function onChange(): void {
    version += 1;
    wake.resolve();
  }

  function put(key: string, row: Row): void {
    rows.delete(key);
    rows.set(key, row);
    // The daemon's own entry takes the 200th place.
    if (rows.size < LIMITS.presenceEntries) return;
    const oldest = oldestGone(rows) ?? rows.keys().next().value;
    if (oldest !== undefined) rows.delete(oldest);
  }

  const own = (): PresenceEntry => {
    return { ts: clock.now(), ...self, mode: 'gateway', reason: 'self', text: `Gateway: ${self.host}` };
  };
  const list = () => [own(), ...[...rows.values()].map(({ entry }) => entry).reverse()];

  return {
    connected(connId, client, address) {
      if (client.mode === 'cli') return;
      const key = client.instanceId?.trim().toLowerCase() || connId;
      const connIds = rows.get(key)?.connIds ?? new Set();
      keys.set(connId, key);
      put(key, { entry: toEntry(client, address, clock.now()), connIds: connIds.add(connId) });
      onChange();
    },
    disconnected(connId) {
      const key = keys.get(connId);
      if (key === undefined) return;
      keys.delete(connId);
      const row = rows.get(key);
      if (!row?.connIds.delete(connId) || row.connIds.size > 0) return;
      put(key, { connIds: row.connIds, entry: { ...row.entry, ts: clock.now(), reason: 'disconnect' } });
      onChange();
    },
    beacon(said) {
      const key = keyOf(said);
      const known = rows.get(key);
      put(key, { entry: { ...known?.entry, ...short(said), ts: clock.now() }, connIds: known?.connIds ?? new Set() });
      onChange();
    },
    list,
    json: () => `[${[toAscii(JSON.stringify(own())), ...newestFirst(rows)].join()}]`,
    version: () => version,
    sweep() {
      const sinceMs = clock.now() - LIMITS.presenceTtlMs;
      const expired = [...rows].filter(([, { connIds, entry }]) => connIds.size === 0 && entry.ts <= sinceMs);
      for (const [key] of expired) rows.delete(key);
      if (expired.length > 0) onChange();
    },
    async run(signal, { publish, pauseMs }) {
      const stop = () => wake.resolve();
      signal.addEventListener('abort', stop, { once: true });
      while (!signal.aborted) {
        await wake.promise;
        await clock.sleep(pauseMs(), signal).catch(() => undefined); // aborted: the loop ends
        wake = Promise.withResolvers();
        if (!signal.aborted) publish(list());
      }
      signal.removeEventListener('abort', stop);
    },
  };
}

/** The JSON of each entry, newest first. */
function newestFirst(rows: ReadonlyMap<string, Row>): string[] {
  const texts: string[] = [];
  for (const row of rows.values()) {
    row.json ??= toAscii(JSON.stringify(row.entry));
    texts.push(row.json);
  }
  return texts.reverse();
}

/** The key of the client that left first. */
function oldestGone(rows: ReadonlyMap<string, Row>): string | undefined {
  for (const [key, { connIds }] of rows) if (connIds.size === 0) return key;
  return undefined;
}

/** The key for a client without a connection. */
const keyOf = ({ instanceId, host, ip, text }: Omit<PresenceEntry, 'ts'>): string =>
  (instanceId ?? host ?? ip ?? text ?? '').slice(0, 64).trim().toLowerCase();

const MAX_TEXT = 200;

/** An entry is sent to every other client, so it is kept short. */
function toEntry(client: Client, address: string, ts: number): PresenceEntry {
  const { name, version, platform, mode, deviceFamily, modelIdentifier, instanceId } = client;
  const said = { host: name, version, platform, mode, deviceFamily, modelIdentifier, instanceId };
  const ip = isLoopback(address) ? {} : { ip: address };
  const text = `Node: ${name.slice(0, MAX_TEXT)} · mode ${mode.slice(0, MAX_TEXT)}`;
  return { ts, ...short(said), ...ip, reason: 'connect', text };
}

/** Shortens texts and drops empty ones. */
function short(fields: object): Partial<PresenceEntry> {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    const text = typeof value === 'string' ? value.slice(0, MAX_TEXT) : value;
    if (text !== undefined && text !== '') kept[key] = text;
  }
  return kept;
}

/** Writes other characters as escapes of JSON: a text of ASCII alone is sent several times faster. */
const toAscii = (json: string): string =>
  json.replace(NOT_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** One UTF-16 code unit: an escape of JSON names a unit, not a character (RFC 8259, section 7). */
const NOT_ASCII = /[\u0080-\uffff]/g;

const isLoopback = (address: string): boolean => /^(::1|(::ffff:)?127\.)/.test(address);
