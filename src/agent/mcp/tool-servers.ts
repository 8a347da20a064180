import type { Low } from 'lowdb';
import { toCanonicalJson } from '../../canonical-json.ts';
import type { Log } from '../../log.ts';
import { until } from '../../timing/until.ts';
import { withDeadline } from '../process/deadline.ts';
import type { Tool } from '../tools/tool.ts';
import type { ChangingTools } from '../tools/toolbox.ts';
import type { Accounts } from './accounts/accounts.ts';
import { createConnectTool } from './accounts/connect-tool.ts';
import { type ConsentProblem, problemOf } from './accounts/consent-problem.ts';
import { createServer, type OpenedServer } from './accounts/create-server.ts';
import { UserSessions } from './accounts/user-sessions.ts';
import type { CallDeps } from './call-tool.ts';
import type { Catalog } from './catalog/announced-lists.ts';
import { createCatalogTools } from './catalog/catalog-tools.ts';
import { type ChosenPrompts, createChosenPrompts } from './catalog/chosen-prompts.ts';
import type { OfferingServer } from './catalog/offering-server.ts';
import type { ServerLists } from './catalog/read-lists.ts';
import { EndingServers } from './ending-servers.ts';
import { createFindTools } from './find-tool.ts';
import { KnownServers, type ServerMemory } from './known-servers.ts';
import { acceptTools, type KnownTool, type Offers } from './known-tools.ts';
import type { ServerConfig } from './server-config.ts';
import { createServerTool } from './server-tool.ts';
import type { ServerCall, Session, SessionOptions } from './session.ts';
import { toToolName } from './tool-name.ts';
import type { ToolServer } from './tool-server.ts';

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
  /** What it offers besides, as it said last; nothing before it was connected. */
  catalog: Catalog;
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
  /** The prompts of servers, for people. */
  readonly prompts: ChosenPrompts;
  /** Asks servers again that have failed. */
  retry(): void;
  /** Ends a server when its calls have ended; the next call starts it again. False: there is no such server, or it is disabled. */
  restart(name: string): boolean;
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
  readonly #ending = new EndingServers();
  /** First questions to servers. */
  readonly #asking = new Set<Promise<unknown>>();
  readonly #known: KnownServers;
  #offered: readonly Tool[] | undefined;
  #all: readonly Tool[] = [];
  readonly #findTools = createFindTools(() => this.#callable());
  readonly #catalogTools: ReturnType<typeof createCatalogTools>;
  readonly prompts: ChosenPrompts;

  constructor(deps: ServersDeps) {
    this.#deps = deps;
    this.#known = new KnownServers(deps);
    const from = { servers: (what: keyof Offers) => this.#offering(what), deps };
    this.#catalogTools = createCatalogTools(from);
    this.prompts = createChosenPrompts(from);
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
    return [...this.#callable(), ...this.#findTools, ...this.#catalogTools.all].find((tool) => tool.name === name);
  }

  async ready(signal: AbortSignal): Promise<void> {
    this.#sync();
    for (const entry of this.#entries.values())
      if (!this.#known.has(entry) && entry.server.state === 'failed') void this.#ask(entry);
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
    const written = this.#known.remember(entry, acceptTools(this.#known.toolsOf(entry), tool));
    this.#forgetMade(entry);
    await written;
    return this.#statusOf(name, entry.config);
  }

  retry(): void {
    this.#sync();
    for (const entry of this.#entries.values())
      if (entry.server.state === 'failed') void this.#ask(entry, { now: true });
  }

  restart(name: string): boolean {
    this.#sync();
    const entry = this.#entries.get(name);
    if (entry === undefined || this.#closing.signal.aborted) return false;
    this.#ending.retire(entry.server);
    this.#add(name, entry.config);
    this.#offered = undefined;
    return true;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const servers = [...this.#entries.values()].map(({ server }) => server);
    await Promise.all([...servers.map((server) => server.close()), this.#ending.close()]);
    await Promise.all(this.#asking);
    await this.#known.written();
  }

  /** Follows the configuration. */
  #sync(): void {
    const { servers } = this.#deps.live.mcp;
    if (this.#configured === servers || this.#closing.signal.aborted) return;
    this.#configured = servers;
    for (const [name, entry] of this.#entries) {
      const config = servers[name];
      if (config?.enabled && toCanonicalJson(config) === toCanonicalJson(entry.config)) continue;
      this.#entries.delete(name);
      this.#replace(entry, config);
    }
    for (const [name, config] of Object.entries(servers)) {
      if (config.enabled && !this.#entries.has(name)) this.#add(name, config);
    }
    this.#offered = undefined;
  }

  /** A server that was changed ends its calls first. One that was removed or disabled is not trusted with them. */
  #replace(entry: Entry, config: ServerConfig | undefined): void {
    if (config?.enabled) this.#ending.retire(entry.server);
    else this.#ending.end(entry.server);
  }

  #add(name: string, config: ServerConfig): void {
    const entry: Entry = {
      name,
      config,
      server: createServer({ name, config }, (lists) => this.#learn(entry, lists), this.#deps),
      tools: new Map(),
    };
    this.#entries.set(name, entry);
    if (!this.#known.has(entry)) void this.#ask(entry);
  }

  #learn(entry: Entry, lists: ServerLists): void {
    // Not everybody may have all tools.
    const keepsMissing = entry.server instanceof UserSessions;
    if (this.#known.learn(entry, lists, { keepsMissing })) this.#forgetMade(entry);
  }

  /** The session of a user belongs to the account before. */
  #onAccount(name: string, user: string, isConnected: boolean): void {
    this.#sync();
    const entry = this.#entries.get(name);
    if (!(entry?.server instanceof UserSessions)) return;
    entry.server.end(user);
    if (isConnected && !this.#known.has(entry)) void this.#ask(entry, { user });
  }

  /** What it cannot answer is told by its state. Resolves with what the account lacks for an answer. */
  #ask({ server }: Entry, how: { now?: boolean; user?: string } = {}): Promise<ConsentProblem | undefined> {
    const asked = problemOf(server.refresh(this.#closing.signal, how)).finally(() => this.#asking.delete(asked));
    this.#asking.add(asked);
    return asked;
  }

  /** The servers that offer resources or prompts. */
  #offering(what: keyof Offers): OfferingServer[] {
    this.#sync();
    return [...this.#entries.values()].filter((entry) => this.#known.offersOf(entry)[what]).sort(byName);
  }

  /** Its tools are made anew when they are needed. */
  #forgetMade({ tools }: Entry): void {
    tools.clear();
    this.#offered = undefined;
  }

  #callable(): readonly Tool[] {
    this.#sync();
    if (this.#offered !== undefined) return this.#all;
    this.#all = [...this.#entries.values()].flatMap((entry) => this.#toolsOf(entry)).sort(byName);
    const shown = this.#all.length > MOST_OFFERED ? this.#findTools : this.#all;
    this.#offered = [...shown, ...this.#catalogTools.offered()];
    return this.#all;
  }

  #toolsOf(entry: Entry): Tool[] {
    if (entry.tools.size === 0)
      for (const known of this.#known.toolsOf(entry)) {
        if (known.isGone) continue;
        const { name, config, server } = entry;
        const accountFor = server instanceof UserSessions ? server.accountFor : undefined;
        const called = { name, config, call: (call: ServerCall) => server.call(call), accountFor };
        const tool = createServerTool(known, called, this.#deps);
        entry.tools.set(tool.name, tool);
      }
    const { server } = entry;
    if (server instanceof UserSessions && !this.#known.has(entry))
      return [
        createConnectTool(entry.name, { accountFor: server.accountFor, ask: (user) => this.#ask(entry, { user }) }),
      ];
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
      tools: (entry ? this.#known.toolsOf(entry) : []).map((known) => ({ name: toToolName(name, known.name), known })),
      catalog: server?.catalog ?? { resources: [], prompts: [] },
      callsUnderWay: server?.callsUnderWay ?? 0,
    };
  }
}

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
