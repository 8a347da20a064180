import type { ConnectParams, PresenceEntry } from '../../../protocol/connect.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Clock } from '../../clock.ts';
import { createPresenceRows, toAscii } from './presence-rows.ts';

type Client = ConnectParams['client'];

/** Clients that are connected, or were until recently. Command-line clients are not listed. */
export interface Presence {
  connected(connId: string, client: Client, address: string): void;
  disconnected(connId: string): void;
  /** Information that a client sends about itself, with or without a connection. */
  beacon(entry: Omit<PresenceEntry, 'ts'>): void;
  /** Newest first, including this daemon; at most 200. */
  list(): PresenceEntry[];
  /** The list as JSON, in ASCII. */
  json(): Buffer;
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

export function createPresence({ self, clock }: PresenceOptions): Presence {
  const rows = createPresenceRows();
  const keys = new Map<string, string>();
  let version = 1;
  let wake = Promise.withResolvers<void>();

  function onChange(): void {
    version += 1;
    wake.resolve();
  }

  const own = (): PresenceEntry => {
    return { ts: clock.now(), ...self, mode: 'gateway', reason: 'self', text: `Gateway: ${self.host}` };
  };
  const list = () => [own(), ...rows.list()];

  return {
    connected(connId, client, address) {
      if (client.mode === 'cli') return;
      const key = client.instanceId?.trim().toLowerCase() || connId;
      const connIds = rows.get(key)?.connIds ?? new Set();
      keys.set(connId, key);
      rows.put(key, { entry: toEntry(client, address, clock.now()), connIds: connIds.add(connId) });
      onChange();
    },
    disconnected(connId) {
      const key = keys.get(connId);
      if (key === undefined) return;
      keys.delete(connId);
      const row = rows.get(key);
      if (!row?.connIds.delete(connId) || row.connIds.size > 0) return;
      rows.leave(key, clock.now());
      onChange();
    },
    beacon(said) {
      const key = keyOf(said);
      const known = rows.get(key);
      rows.put(key, {
        entry: { ...known?.entry, ...short(said), ts: clock.now() },
        connIds: known?.connIds ?? new Set(),
      });
      onChange();
    },
    list,
    json() {
      const others = rows.json();
      const first = `[${toAscii(JSON.stringify(own()))}${others.length > 0 ? ',' : ''}`;
      return Buffer.concat([Buffer.from(first), others, END]);
    },
    version: () => version,
    sweep() {
      const sinceMs = clock.now() - LIMITS.presenceTtlMs;
      if (rows.removeGone(sinceMs)) onChange();
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

const END = Buffer.from(']');

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

const isLoopback = (address: string): boolean => /^(::1|(::ffff:)?127\.)/.test(address);
