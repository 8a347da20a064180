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
    const oldest = [...rows].find(([, { connIds }]) => connIds.size === 0) ?? [...rows][0];
    if (oldest) rows.delete(oldest[0]);
  }

  function list(): PresenceEntry[] {
    const ts = clock.now();
    const own: PresenceEntry = { ts, ...self, mode: 'gateway', reason: 'self', text: `Gateway: ${self.host}` };
    return [own, ...[...rows.values()].map(({ entry }) => entry).reverse()];
  }

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
      put(key, { ...row, entry: { ...row.entry, ts: clock.now(), reason: 'disconnect' } });
      onChange();
    },
    beacon(said) {
      const key = keyOf(said);
      const known = rows.get(key);
      put(key, { entry: { ...known?.entry, ...short(said), ts: clock.now() }, connIds: known?.connIds ?? new Set() });
      onChange();
    },
    list,
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
const short = (fields: object): Partial<PresenceEntry> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => {
      if (typeof value !== 'string') return value === undefined ? [] : [[key, value]];
      return value === '' ? [] : [[key, value.slice(0, MAX_TEXT)]];
    }),
  );

const isLoopback = (address: string): boolean => /^(::1|(::ffff:)?127\.)/.test(address);
