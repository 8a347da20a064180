import { createHash } from 'node:crypto';
import type { Low } from 'lowdb';
import { toCanonicalJson } from '../../canonical-json.ts';
import type { Log } from '../../log.ts';
import { until } from '../../timing/until.ts';
import { withDeadline } from '../process/deadline.ts';
import type { Tool } from '../tools/tool.ts';
import type { ChangingTools } from '../tools/toolbox.ts';
import type { CallDeps } from './call-tool.ts';
import type { Catalog } from './catalog/announced-lists.ts';
import { createCatalogTools } from './catalog/catalog-tools.ts';
import { type ChosenPrompts, createChosenPrompts } from './catalog/chosen-prompts.ts';
import type { ServerLists } from './catalog/read-lists.ts';
import { createFindTools } from './find-tool.ts';
import { acceptTools, type KnownTool, learnTools, type Offers } from './known-tools.ts';
import type { ServerConfig } from './server-config.ts';
import { createServerTool } from './server-tool.ts';
import type { Session, SessionOptions } from './session.ts';
import { toToolName } from './tool-name.ts';
import { ToolServer } from './tool-server.ts';

/** What is remembered of servers over restarts: their tools as they were accepted, and whether they offer more. */
export interface ServerMemory {
  servers: Record<string, { config: string; tools: KnownTool[]; offers?: Offers | undefined }>;
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
  /** What it offers besides, as it said last; nothing before it was connected. */
  catalog: Catalog;
  callsUnderWay: number;
}

/** The tool servers of the daemon: one of each for all conversations. */
export interface ToolServers extends ChangingTools {
  /** Asks servers for their tools that were never asked. */
  start(): void;
  list(): ServerStatus[];
  /** Asks a server for its tools now. Undefined: there is no such server, or it is disabled. Rejects with a ServerProblem. */
  refresh(name: string): Promise<ServerStatus | undefined>;
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
  open(server: { name: string; config: ServerConfig }, options: SessionOptions): Promise<Session>;
  memory: Low<ServerMemory>;
  log: Log;
}

/** With more tools than this, models find them by a search. */
const MOST_OFFERED = 20;
const READY_MS = 10_000;

interface Entry {
  name: string;
  config: ServerConfig;
  server: ToolServer;
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
  /** Servers that end when their calls have ended. */
  readonly #retiring = new Set<ToolServer>();
  /** Servers that end because of a change. */
  readonly #ending = new Set<Promise<void>>();
  /** First questions to servers. */
  readonly #asking = new Set<Promise<void>>();
  #writing: Promise<void> = Promise.resolve();
  #offered: readonly Tool[] | undefined;
  #all: readonly Tool[] = [];
  readonly #findTools = createFindTools(() => this.#callable());
  readonly #catalogTools: ReturnType<typeof createCatalogTools>;
  readonly prompts: ChosenPrompts;

  constructor(deps: ServersDeps) {
    this.#deps = deps;
    const from = { servers: (what: keyof Offers) => this.#offering(what), deps };
    this.#catalogTools = createCatalogTools(from);
    this.prompts = createChosenPrompts(from);
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

  async refresh(name: string): Promise<ServerStatus | undefined> {
    this.#sync();
    const entry = this.#entries.get(name);
    if (!entry) return undefined;
    await entry.server.refresh(this.#closing.signal, { now: true });
    return this.#statusOf(name, entry.config);
  }

  async accept(name: string, tool?: string): Promise<ServerStatus | undefined> {
    this.#sync();
    const entry = this.#entries.get(name);
    if (!entry) return undefined;
    await this.#remember(entry, acceptTools(this.#knownOf(entry), tool));
    return this.#statusOf(name, entry.config);
  }

  retry(): void {
    this.#sync();
    for (const entry of this.#entries.values()) if (entry.server.state === 'failed') this.#ask(entry, { now: true });
  }

  restart(name: string): boolean {
    this.#sync();
    const entry = this.#entries.get(name);
    if (entry === undefined || this.#closing.signal.aborted) return false;
    this.#retire(entry);
    this.#add(name, entry.config);
    this.#offered = undefined;
    return true;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const servers = [...this.#entries.values()].map(({ server }) => server);
    await Promise.all([...servers, ...this.#retiring].map((server) => server.close()));
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
      this.#replace(entry, config);
    }
    for (const [name, config] of Object.entries(servers)) {
      if (config.enabled && !this.#entries.has(name)) this.#add(name, config);
    }
    this.#offered = undefined;
  }

  /** A server that was changed ends its calls first. One that was removed or disabled is not trusted with them. */
  #replace(entry: Entry, config: ServerConfig | undefined): void {
    if (config?.enabled) this.#retire(entry);
    else this.#end(entry);
  }

  #end({ server }: Entry): void {
    const ended = server.close().finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  #retire({ server }: Entry): void {
    this.#retiring.add(server);
    const ended = server.retire().finally(() => {
      this.#retiring.delete(server);
      this.#ending.delete(ended);
    });
    this.#ending.add(ended);
  }

  #add(name: string, config: ServerConfig): void {
    const { open, clock, log, live } = this.#deps;
    const server = new ToolServer({
      name,
      open: (options) => open({ name, config }, options),
      idleMs: () => live.mcp.idleMinutes * 60_000,
      onLists: (lists) => this.#learn(entry, lists),
      clock,
      log,
    });
    const entry: Entry = { name, config, server, tools: new Map() };
    this.#entries.set(name, entry);
    if (!this.#isKnown(entry)) this.#ask(entry);
  }

  #learn(entry: Entry, { tools, resources, prompts }: ServerLists): void {
    const known = this.#knownOf(entry);
    const learned = learnTools(known, tools);
    const before = this.#offersOf(entry);
    // What it once offered stays offered: a list that is empty for a while must not change the beginning of conversations.
    const offers = {
      resources: before.resources || resources.length > 0,
      prompts: before.prompts || prompts.length > 0,
    };
    const isAsBefore = this.#isKnown(entry) && isSame(known, learned) && isSame(before, offers);
    if (!isAsBefore) void this.#remember(entry, learned, offers);
  }

  /** What it cannot answer is told by its state. */
  #ask({ server }: Entry, how: { now?: boolean } = {}): void {
    const asked = server
      .refresh(this.#closing.signal, how)
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

  #offersOf(entry: Entry): Offers {
    const remembered = this.#isKnown(entry) ? this.#deps.memory.data.servers[entry.name]?.offers : undefined;
    return remembered ?? NO_OFFERS;
  }

  /** The servers that offer resources or prompts. */
  #offering(what: keyof Offers): Pick<Entry, 'name' | 'config' | 'server'>[] {
    this.#sync();
    return [...this.#entries.values()].filter((entry) => this.#offersOf(entry)[what]).sort(byName);
  }

  async #remember(entry: Entry, tools: KnownTool[], offers: Offers = this.#offersOf(entry)): Promise<void> {
    const { name, config, tools: made } = entry;
    const { memory, log } = this.#deps;
    memory.data.servers[name] = { config: digestOf(config), tools, offers };
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
    const shown = this.#all.length > MOST_OFFERED ? this.#findTools : this.#all;
    this.#offered = [...shown, ...this.#catalogTools.offered()];
    return this.#all;
  }

  #toolsOf(entry: Entry): Tool[] {
    if (entry.tools.size === 0)
      for (const known of this.#knownOf(entry)) {
        if (known.isGone) continue;
        const { name, config, server } = entry;
        const tool = createServerTool(known, { name, config, call: (call) => server.call(call) }, this.#deps);
        entry.tools.set(tool.name, tool);
      }
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
      catalog: server?.catalog ?? { resources: [], prompts: [] },
      callsUnderWay: server?.callsUnderWay ?? 0,
    };
  }
}

const NO_OFFERS: Offers = { resources: false, prompts: false };

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);

const isSame = (a: unknown, b: unknown): boolean => toCanonicalJson(a) === toCanonicalJson(b);

/** What makes it another server. Its other settings do not change what its tools are. */
const digestOf = ({ command, url, args, env }: ServerConfig): string =>
  createHash('sha256')
    .update(toCanonicalJson({ command, url, args, env: Object.keys(env).toSorted((a, b) => (a < b ? -1 : 1)) }))
    .digest('hex');
