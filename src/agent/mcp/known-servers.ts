import type { Low } from 'lowdb';
import { toCanonicalJson } from '../../canonical-json.ts';
import type { Log } from '../../log.ts';
import type { ServerLists } from './catalog/read-lists.ts';
import { type KnownTool, learnTools, type Offers } from './known-tools.ts';
import { digestOf, type ServerConfig } from './server-config.ts';

/** What is remembered of servers over restarts: their tools as they were accepted, and whether they offer more. */
export interface ServerMemory {
  servers: Record<string, { config: string; tools: KnownTool[]; offers?: Offers | undefined }>;
}

interface KnownDeps {
  memory: Low<ServerMemory>;
  log: Log;
}

interface NamedServer {
  name: string;
  config: ServerConfig;
}

/** The memory of servers. Another program is another server: what was accepted of the one before does not count. */
export class KnownServers {
  readonly #deps: KnownDeps;
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: KnownDeps) {
    this.#deps = deps;
  }

  has(server: NamedServer): boolean {
    return this.#find(server) !== undefined;
  }

  toolsOf(server: NamedServer): readonly KnownTool[] {
    return this.#find(server)?.tools ?? [];
  }

  offersOf(server: NamedServer): Offers {
    return this.#find(server)?.offers ?? NO_OFFERS;
  }

  /** What a server says that it offers now. False: that was known. */
  learn(server: NamedServer, { tools, resources, prompts }: ServerLists, how: { keepsMissing: boolean }): boolean {
    const known = this.toolsOf(server);
    const learned = learnTools(known, tools, how);
    const before = this.offersOf(server);
    // What it once offered stays offered: a list that is empty for a while must not change the beginning of conversations.
    const offers = {
      resources: before.resources || resources.length > 0,
      prompts: before.prompts || prompts.length > 0,
    };
    if (this.has(server) && isSame(known, learned) && isSame(before, offers)) return false;
    void this.remember(server, learned, offers);
    return true;
  }

  /** Counts at once. Resolves when it is written, or could not be. */
  async remember(server: NamedServer, tools: KnownTool[], offers: Offers = this.offersOf(server)): Promise<void> {
    const { memory, log } = this.#deps;
    memory.data.servers[server.name] = { config: digestOf(server.config), tools, offers };
    this.#writing = this.#writing
      .then(() => memory.write())
      .catch((error) => log.error({ err: error, server: server.name }, 'the tools of a server could not be stored'));
    await this.#writing;
  }

  /** Resolves when everything is written. */
  written(): Promise<void> {
    return this.#writing;
  }

  #find({ name, config }: NamedServer): ServerMemory['servers'][string] | undefined {
    const found = this.#deps.memory.data.servers[name];
    return found?.config === digestOf(config) ? found : undefined;
  }
}

const NO_OFFERS: Offers = { resources: false, prompts: false };

const isSame = (a: unknown, b: unknown): boolean => toCanonicalJson(a) === toCanonicalJson(b);
