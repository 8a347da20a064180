import type { Low } from 'lowdb';
import { toCanonicalJson } from '../../canonical-json.ts';
import type { Log } from '../../log.ts';
import { until } from '../../timing/until.ts';
import { withDeadline } from '../process/deadline.ts';
import type { Tool } from '../tools/tool.ts';
import type { ChangingTools } from '../tools/toolbox.ts';
import { type Accounts, toOAuthServer } from './accounts/accounts.ts';
import { createConnectTool } from './accounts/connect-tool.ts';
import type { UsedAccount } from './accounts/token-provider.ts';
import { UserSessions } from './accounts/user-sessions.ts';
import type { AnnouncedTool } from './announced-tools.ts';
import type { CallDeps } from './call-tool.ts';
import { createFindTools } from './find-tool.ts';
import { acceptTools, type KnownTool, learnTools } from './known-tools.ts';
import { digestOf, type ServerConfig } from './server-config.ts';
import { createServerTool } from './server-tool.ts';
import type { ServerCall, Session, SessionOptions } from './session.ts';
import { toToolName } from './tool-name.ts';
import { ToolServer } from './tool-server.ts';

/** What is remembered of servers over restarts: their tools as they were accepted. */
export interface ServerMemory {
  servers: Record<string, { config: string; tools: KnownTool[] }>;
}

export interface ServerStatus {
  name: string;
  state: 'idle' | 'connecting' | 'connected' | 'failed' | 'disabled';
  /** Why it cannot be used. */
  problem: string | undefined;
  /** What was left out of its tools. */
  notes: readonly string[];
  /** What it says it is. */
  about: string;
  config: ServerConfig;
  tools: { name: string; known: KnownTool }[];
  callsUnderWay: number;
}

/** The tool servers of the daemon: one of each for all conversations. */
export interface ToolServers extends ChangingTools {
  /** Asks servers for their tools that were never asked. */
  start(): void;
  list(): ServerStatus[];
  /**
   * Asks a server for its tools now, in the name of the user if it is used with accounts. Undefined: there is no such
   * server, or it is disabled. Rejects with a ServerProblem or a ConsentProblem.
   */
  refresh(name: string, user?: string): Promise<ServerStatus | undefined>;
  /** Takes the tools of a server as it describes them now. */
  accept(name: string, tool?: string): Promise<ServerStatus | undefined>;
  /** Resolves when no server runs. */
  close(): Promise<void>;
}

export interface ServersDeps extends CallDeps {
  /** Read at each use, so that a change takes effect at once. */
  live: { readonly mcp: { servers: Readonly<Record<string, ServerConfig>>; idleMinutes: number } };
  open(server: OpenedServer, options: SessionOptions): Promise<Session>;
  accounts: Accounts;
  memory: Low<ServerMemory>;
  log: Log;
}

interface OpenedServer {
  name: string;
  config: ServerConfig;
  /** With which account; absent: with none. */
  account?: UsedAccount | undefined;
}

/** With more tools than this, models find them by a search. */
const MOST_OFFERED = 20;
const READY_MS = 10_000;

interface Entry {
  name: string;
  config: ServerConfig;
  server: ToolServer | UserSessions;
  tools: Map<string, Tool>;
}

/** Creates the servers of the configuration. A program starts when it is needed. */
export function createToolServers(deps: ServersDeps): ToolServers {
  return new Servers(deps);
}

class Servers implements ToolServers {
  readonly #deps: ServersDeps;
  #configured: object | undefined;
  readonly #entries = new Map<string, Entry>();
  readonly #closing = new AbortController();
  /** Servers that end because of a change. */
  readonly #ending = new Set<Promise<void>>();
  /** First questions to servers. */
  readonly #asking = new Set<Promise<void>>();
  #writing: Promise<void> = Promise.resolve();
  #offered: readonly Tool[] | undefined;
  #all: readonly Tool[] = [];
  readonly #findTools = createFindTools(() => this.#callable());

  constructor(deps: ServersDeps) {
    this.#deps = deps;
    deps.accounts.onChanged(({ server, user, isConnected }) => this.#onAccount(server, user, isConnected));
  }

  start(): void {
    this.#sync();
  }

  offered(): readonly Tool[] {
    this.#callable();
    return this.#offered ?? [];
  }

  find(name: string): Tool | undefined {
    return [...this.#callable(), ...this.#findTools].find((tool) => tool.name === name);
  }

  async ready(signal: AbortSignal): Promise<void> {
    this.#sync();
    for (const entry of this.#entries.values())
      if (!this.#isKnown(entry) && entry.server.state === 'failed') this.#ask(entry);
    if (this.#asking.size === 0) return;
    using deadline = withDeadline(signal, { clock: this.#deps.clock, ms: READY_MS });
    await until(Promise.all(this.#asking), deadline.signal).catch(() => signal.throwIfAborted());
  }

  list(): ServerStatus[] {
    this.#sync();
    const { servers } = this.#deps.live.mcp;
    return Object.entries(servers)
      .map(([name, config]) => this.#statusOf(name, config))
      .sort(byName);
  }

  async refresh(name: string, user?: string): Promise<ServerStatus | undefined> {
    this.#sync();
    const entry = this.#entries.get(name);
    if (!entry) return undefined;
    await entry.server.refresh(this.#closing.signal, { now: true, user });
    return this.#statusOf(name, entry.config);
  }

  async accept(name: string, tool?: string): Promise<ServerStatus | undefined> {
    this.#sync();
    const entry = this.#entries.get(name);
    if (!entry) return undefined;
    await this.#remember(entry, acceptTools(this.#knownOf(entry), tool));
    return this.#statusOf(name, entry.config);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#entries.values()].map(({ server }) => server.close()));
    await Promise.all([...this.#ending, ...this.#asking]);
    await this.#writing;
  }

  /** Follows the configuration. */
  #sync(): void {
    const { servers } = this.#deps.live.mcp;
    if (this.#configured === servers || this.#closing.signal.aborted) return;
    this.#configured = servers;
    for (const [name, entry] of this.#entries) {
      const config = servers[name];
      if (config?.enabled && isSame(config, entry.config)) continue;
      this.#entries.delete(name);
      this.#end(entry);
    }
    for (const [name, config] of Object.entries(servers)) {
      if (config.enabled && !this.#entries.has(name)) this.#add(name, config);
    }
    this.#offered = undefined;
  }

  #end({ server }: Entry): void {
    const ended = server.close().finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  #add(name: string, config: ServerConfig): void {
    const entry: Entry = {
      name,
      config,
      server: this.#create(name, config, (tools) => this.#learn(entry, tools)),
      tools: new Map(),
    };
    this.#entries.set(name, entry);
    if (!this.#isKnown(entry)) this.#ask(entry);
  }

  #create(name: string, config: ServerConfig, onTools: (tools: AnnouncedTool[]) => void): Entry['server'] {
    const { open, clock, log, live, accounts } = this.#deps;
    const create = (account?: UsedAccount) =>
      new ToolServer({
        name,
        open: (options) => open({ name, config, account }, options),
        idleMs: () => live.mcp.idleMinutes * 60_000,
        onTools,
        clock,
        log,
      });
    const server = toOAuthServer(name, config);
    return server
      ? new UserSessions({ server, accounts, create: (user) => create({ server, user, accounts }) })
      : create();
  }

  #learn(entry: Entry, tools: AnnouncedTool[]): void {
    const known = this.#knownOf(entry);
    // Not everybody may have all tools.
    const learned = learnTools(known, tools, { keepsMissing: entry.server instanceof UserSessions });
    if (!this.#isKnown(entry) || !isSame(known, learned)) void this.#remember(entry, learned);
  }

  /** The session of a user belongs to the account before. */
  #onAccount(name: string, user: string, isConnected: boolean): void {
    this.#sync();
    const entry = this.#entries.get(name);
    if (!(entry?.server instanceof UserSessions)) return;
    entry.server.end(user);
    if (isConnected && !this.#isKnown(entry)) this.#ask(entry, user);
  }

  /** What it cannot answer is told by its state. */
  #ask({ server }: Entry, user?: string): void {
    const asked = server
      .refresh(this.#closing.signal, { user })
      .catch(() => undefined)
      .finally(() => this.#asking.delete(asked));
    this.#asking.add(asked);
  }

  #isKnown({ name, config }: Entry): boolean {
    return this.#deps.memory.data.servers[name]?.config === digestOf(config);
  }

  /** Another program is another server: what was accepted of the one before does not count. */
  #knownOf(entry: Entry): readonly KnownTool[] {
    return this.#isKnown(entry) ? (this.#deps.memory.data.servers[entry.name]?.tools ?? []) : [];
  }

  async #remember({ name, config, tools: made }: Entry, tools: KnownTool[]): Promise<void> {
    const { memory, log } = this.#deps;
    memory.data.servers[name] = { config: digestOf(config), tools };
    made.clear();
    this.#offered = undefined;
    this.#writing = this.#writing
      .then(() => memory.write())
      .catch((error) => log.error({ err: error, server: name }, 'the tools of a server could not be stored'));
    await this.#writing;
  }

  #callable(): readonly Tool[] {
    this.#sync();
    if (this.#offered !== undefined) return this.#all;
    this.#all = [...this.#entries.values()].flatMap((entry) => this.#toolsOf(entry)).sort(byName);
    this.#offered = this.#all.length > MOST_OFFERED ? this.#findTools : this.#all;
    return this.#all;
  }

  #toolsOf(entry: Entry): Tool[] {
    if (entry.tools.size === 0)
      for (const known of this.#knownOf(entry)) {
        if (known.isGone) continue;
        const { name, config, server } = entry;
        const accountFor = server instanceof UserSessions ? server.accountFor : undefined;
        const called = { name, config, call: (call: ServerCall) => server.call(call), accountFor };
        const tool = createServerTool(known, called, this.#deps);
        entry.tools.set(tool.name, tool);
      }
    const { server } = entry;
    if (server instanceof UserSessions && !this.#isKnown(entry))
      return [createConnectTool(entry.name, { accountFor: server.accountFor, ask: (user) => this.#ask(entry, user) })];
    return [...entry.tools.values()];
  }

  #statusOf(name: string, config: ServerConfig): ServerStatus {
    const entry = this.#entries.get(name);
    const server = entry?.server;
    return {
      name,
      state: server?.state ?? 'disabled',
      problem: server?.problem,
      notes: server?.notes ?? [],
      about: server?.about ?? '',
      config,
      tools: (entry ? this.#knownOf(entry) : []).map((known) => ({ name: toToolName(name, known.name), known })),
      callsUnderWay: server?.callsUnderWay ?? 0,
    };
  }
}

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);

const isSame = (a: unknown, b: unknown): boolean => toCanonicalJson(a) === toCanonicalJson(b);
