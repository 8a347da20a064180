import { GatewayError } from '../../../protocol/errors.ts';
import { type Notice, warn } from '../../../protocol/notice.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { ServerConfig } from '../../agent/mcp/server-config.ts';
import { toServerKey } from '../../agent/mcp/tool-name.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import type { Vault } from '../secrets/vault.ts';
import type { Statement } from '../store/store.ts';
import { secretsOfServer } from './server-masks.ts';
import { readRow, type ServerOrigin, type ServerRow } from './server-row.ts';

/** The settings of a server as config.json would have them, or what is wrong with them. */
export type CheckedConfig =
  | { kind: 'fits'; config: ServerConfig }
  | { kind: 'wrong'; issues: readonly { path: string; message: string }[] };

/** A tool server of the database. */
export interface StoredServer extends Omit<ServerRow, 'config'> {
  serverId: string;
  /** Undefined: its row is damaged, so that only removing it helps. */
  config: ServerConfig | undefined;
  /** Why it is not used. */
  problem?: string | undefined;
}

export interface NewServer {
  name: string;
  config: ServerConfig;
  origin?: ServerOrigin | undefined;
}

interface StoredServersDeps {
  vault: Pick<Vault, 'group' | 'change'>;
  /** The servers of config.json. Of equal names, those count. */
  live: { readonly mcp: { servers: Readonly<Record<string, ServerConfig>>; maxServers: number } };
  check(config: unknown): CheckedConfig;
  /** Hides values in everything that tools return. */
  learn(values: readonly string[]): void;
  onNotice(notice: Notice): void;
  clock: Pick<Clock, 'now'>;
  ids: Pick<Ids, 'id'>;
  log: Log;
}

/** Which names a change of the stored servers concerned. */
export interface ServerChanges {
  added: string[];
  removed: string[];
  changed: string[];
}

const GROUP = 'tool_server';

/**
 * The tool servers that were added over the wire. They are held in memory; a change takes effect when it is stored. A row
 * that cannot be read is listed with its problem, and hinders no other.
 */
export class StoredServers {
  readonly #deps: StoredServersDeps;
  #rows: readonly StoredServer[] = [];
  #merged: { from: readonly unknown[]; servers: Readonly<Record<string, ServerConfig>> } | undefined;

  constructor(deps: StoredServersDeps) {
    this.#deps = deps;
  }

  /** Reads them. A database that cannot be read is reported, and is no reason not to start. */
  async load(): Promise<ServerChanges> {
    try {
      const found = await this.#deps.vault.group(GROUP);
      return this.#take(found.map(({ name, value }) => this.#toServer(name.slice(GROUP.length + 1), value)));
    } catch (error) {
      this.#deps.log.error({ err: error }, 'the tool servers of the database could not be read');
      this.#deps.onNotice(
        warn('tool_servers_unreadable', `The tool servers of the database cannot be read: ${wordsOf(error)}.`),
      );
      return NOTHING;
    }
  }

  list(): readonly StoredServer[] {
    const { servers } = this.#deps.live.mcp;
    return this.#rows.map((row) => (Object.hasOwn(servers, row.name) ? { ...row, problem: SHADOWED } : row));
  }

  find(serverId: string): StoredServer | undefined {
    return this.list().find((row) => row.serverId === serverId);
  }

  /** Those of config.json, and these. */
  servers(): Readonly<Record<string, ServerConfig>> {
    const { servers } = this.#deps.live.mcp;
    const from = [servers, this.#rows];
    if (this.#merged?.from.every((one, index) => one === from[index])) return this.#merged.servers;
    const stored = this.#rows.flatMap(({ name, config }) => (config ? [[name, config] as const] : []));
    this.#merged = { from, servers: { ...Object.fromEntries(stored), ...servers } };
    return this.#merged.servers;
  }

  /** Throws CONFLICT if a server has this name, or one that rules take for the same. `but` may have it, `also` has it. */
  requireFree(name: string, { but, also = [] }: { but?: string; also?: readonly string[] } = {}): void {
    const key = toServerKey(name);
    const names = this.#rows.filter(({ serverId }) => serverId !== but).map((row) => row.name);
    const taken = [...Object.keys(this.#deps.live.mcp.servers), ...names, ...also].find(
      (one) => toServerKey(one) === key,
    );
    if (taken === name) throw new GatewayError('CONFLICT', `Server '${name}' already exists`);
    if (taken !== undefined)
      throw new GatewayError(
        'CONFLICT',
        `Server '${taken}' already exists, and rules could not tell '${name}' from it`,
      );
  }

  /** Throws CONFLICT when there would be too many. All of them are stored, or none. */
  async add(
    servers: readonly NewServer[],
    { by, also }: { by: string; also(serverIds: readonly string[]): readonly Statement[] },
  ): Promise<StoredServer[]> {
    const { maxServers, servers: configured } = this.#deps.live.mcp;
    if (this.#rows.length + Object.keys(configured).length + servers.length > maxServers)
      throw new GatewayError('CONFLICT', `Maximum ${maxServers} servers`);
    const nowMs = this.#deps.clock.now();
    const rows = servers.map(({ name, config, origin }) => {
      const serverId = this.#deps.ids.id('mcp');
      const stored = { ...config, storedId: serverId };
      return { serverId, name, config: stored, origin, createdBy: by, createdAtMs: nowMs, updatedAtMs: nowMs };
    });
    const texts = rows.map((row) => [keyOf(row), toText(row)] as const);
    this.#learn(rows);
    await this.#deps.vault.change({ set: Object.fromEntries(texts), also: also(rows.map(({ serverId }) => serverId)) });
    this.#take([...this.#rows, ...rows]);
    return rows;
  }

  /** Throws NOT_FOUND. */
  async update(
    serverId: string,
    change: { name: string; config: ServerConfig },
    also: readonly Statement[],
  ): Promise<StoredServer> {
    const before = this.#get(serverId);
    const { problem: _, ...kept } = before;
    const row = { ...kept, ...change, updatedAtMs: this.#deps.clock.now() };
    row.config = { ...change.config, storedId: serverId };
    this.#learn([row]);
    await this.#deps.vault.change({ set: { [keyOf(row)]: toText(row) }, also });
    this.#take(this.#rows.map((one) => (one.serverId === serverId ? row : one)));
    return row;
  }

  /** Throws NOT_FOUND. */
  async remove(serverId: string, also: readonly Statement[]): Promise<void> {
    const before = this.#get(serverId);
    await this.#deps.vault.change({ remove: [keyOf(before)], also });
    this.#take(this.#rows.filter((one) => one.serverId !== serverId));
  }

  #get(serverId: string): StoredServer {
    const found = this.#rows.find((row) => row.serverId === serverId);
    if (found === undefined) throw serverMissing();
    return found;
  }

  #toServer(serverId: string, text: string | undefined): StoredServer {
    const row = readRow(text);
    if (row === undefined)
      return {
        ...NOBODYS,
        serverId,
        name: serverId,
        problem: 'is damaged in the database; remove it and add it again',
      };
    const checked = this.#deps.check(row.config);
    if (checked.kind === 'fits') return { ...row, serverId, config: { ...checked.config, storedId: serverId } };
    const [issue] = checked.issues;
    const problem = `has a setting in the database that does not fit (${issue?.path}: ${issue?.message})`;
    return { ...row, serverId, config: undefined, problem };
  }

  /** Of equal names, the oldest counts. */
  #take(found: readonly StoredServer[]): ServerChanges {
    const before = new Map(this.#rows.map((row) => [row.name, row]));
    const names = new Set<string>();
    const rows = found
      .toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.serverId < b.serverId ? -1 : 1))
      .map((row): StoredServer => {
        const key = toServerKey(row.name);
        if (!names.has(key)) names.add(key);
        else return { ...row, config: undefined, problem: `has the name of another server; remove one of them` };
        return row;
      });
    this.#learn(rows);
    this.#rows = rows;
    const after = new Map(rows.map((row) => [row.name, row]));
    const [added, kept] = partition([...after.keys()], (name) => !before.has(name));
    return {
      added,
      removed: [...before.keys()].filter((name) => !after.has(name)),
      changed: kept.filter((name) => before.get(name)?.updatedAtMs !== after.get(name)?.updatedAtMs),
    };
  }

  #learn(rows: readonly StoredServer[]): void {
    const values = rows.flatMap(({ config }) => (config ? secretsOfServer(config) : []));
    if (values.length > 0) this.#deps.learn(values);
  }
}

const NOTHING: ServerChanges = { added: [], removed: [], changed: [] };
const NOBODYS = { config: undefined, createdBy: '', createdAtMs: 0, updatedAtMs: 0 };
const SHADOWED = 'is not used, because config.json has a server of this name';

export const serverMissing = () => new GatewayError('NOT_FOUND', 'MCP server not found');

const keyOf = ({ serverId }: Pick<StoredServer, 'serverId'>): string => `${GROUP}:${serverId}`;

function toText({ name, config, origin, createdBy, createdAtMs, updatedAtMs }: StoredServer): string {
  const { storedId: _, ...settings } = config ?? {};
  const row: ServerRow = { name, config: { ...settings }, origin, createdBy, createdAtMs, updatedAtMs };
  return JSON.stringify(row);
}

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}
