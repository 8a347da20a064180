import type { Catalog } from '../catalog/announced-lists.ts';
import type { ServerCall, ServerReply } from '../session.ts';
import { ServerProblem, type ToolServer } from '../tool-server.ts';
import type { Accounts, OAuthServer } from './accounts.ts';
import { ConsentProblem } from './consent-problem.ts';

interface SessionsDeps {
  server: OAuthServer;
  accounts: Accounts;
  /** A server as this user reaches it. */
  create(user: string): ToolServer;
}

/** For whom something is done: for a user, or for whoever a workstream works for now. */
export type Asker = Pick<ServerCall, 'wsId' | 'user'>;

interface RefreshOptions {
  now?: boolean;
  /** In whose name. */
  user?: string | undefined;
}

/** In whose name a call would be made. */
export type CallAccount =
  | { kind: 'account'; user: string; name: string }
  /** It cannot be made. `note` adds it to what waits for the person's consent. */
  | { kind: 'missing'; note(): Promise<ConsentProblem> };

/** More are not kept when nobody uses them. */
const MOST_IDLE = 100;

/**
 * A tool server that each person uses with an account of their own: one session for each of them, so that what the server
 * remembers of one is never used for another.
 */
export class UserSessions {
  readonly #deps: SessionsDeps;
  readonly #byUser = new Map<string, ToolServer>();
  readonly #ending = new Set<Promise<void>>();
  /** Why nothing new is begun. */
  #closed: string | undefined;

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
  }

  get state(): ToolServer['state'] {
    const states = new Set(this.#all().map(({ state }) => state));
    return (['connected', 'connecting', 'failed'] as const).find((state) => states.has(state)) ?? 'idle';
  }

  /** Only while nobody can use it: what one person cannot do says nothing about the others. */
  get problem(): string | undefined {
    return this.state === 'failed' ? this.#all().find(({ problem }) => problem !== undefined)?.problem : undefined;
  }

  get notes(): readonly string[] {
    return this.#all().find(({ notes }) => notes.length > 0)?.notes ?? [];
  }

  get about(): string {
    return this.#all().find(({ about }) => about !== '')?.about ?? '';
  }

  get callsUnderWay(): number {
    return this.#all().reduce((sum, { callsUnderWay }) => sum + callsUnderWay, 0);
  }

  /** What it offers besides tools to whoever was asked last; for people. */
  get catalog(): Catalog {
    const all = this.#all().map(({ catalog }) => catalog);
    return all.findLast(({ resources, prompts }) => resources.length + prompts.length > 0) ?? NOTHING;
  }

  /** Asks for its tools in the name of a user. Without one, those are asked again for whom it failed. */
  async refresh(signal: AbortSignal, { now = false, user }: RefreshOptions = {}): Promise<void> {
    if (user === undefined) return this.#refreshFailed(signal, now);
    await this.#requireConsent(user);
    await this.#of(user).refresh(signal, { now });
  }

  /** What it offers besides tools to the asker, as it says now: others may be offered something else. */
  async offers(signal: AbortSignal, asker: Asker): Promise<Catalog> {
    return (await this.#for(asker)).offers(signal);
  }

  async call(call: ServerCall): Promise<ServerReply> {
    return (await this.#for(call)).call(call);
  }

  /** In whose name a call would be, or why it cannot be made. */
  readonly accountFor = async (wsId: string): Promise<CallAccount> => {
    const { accounts, server } = this.#deps;
    const user = await accounts.userIn(wsId);
    if (user === undefined) return { kind: 'missing', note: async () => severalPeople(server.name) };
    const problem = await accounts.missing(server, user);
    return problem
      ? { kind: 'missing', note: () => accounts.needs(server, user, problem.consent) }
      : { kind: 'account', user, name: accounts.nameOf(user) };
  };

  /** Ends what a user had with it: the account is another one now, or gone. */
  end(user: string): void {
    const session = this.#byUser.get(user);
    if (!session) return;
    this.#byUser.delete(user);
    const ended = session.close().finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  async close(): Promise<void> {
    this.#closed ??= 'is no longer used';
    for (const user of [...this.#byUser.keys()]) this.end(user);
    await Promise.all(this.#ending);
  }

  /** Ends it for good when the calls under way have ended. */
  async retire(): Promise<void> {
    this.#closed = 'was changed meanwhile; call the tool again';
    await Promise.all(this.#all().map((session) => session.retire()));
    await this.close();
  }

  /** The session of the asker. Rejects with a ConsentProblem if there is no account for it. */
  async #for({ wsId, user: named }: Asker): Promise<ToolServer> {
    const { accounts, server } = this.#deps;
    const user = named ?? (wsId === undefined ? undefined : await accounts.userIn(wsId));
    if (user === undefined) throw severalPeople(server.name);
    await this.#requireConsent(user);
    return this.#of(user);
  }

  async #refreshFailed(signal: AbortSignal, now: boolean): Promise<void> {
    const failed = [...this.#byUser].filter(([, { state }]) => state === 'failed');
    if (failed.length === 0) throw new ServerProblem(NOBODY);
    await Promise.all(failed.map(([user]) => this.refresh(signal, { now, user })));
  }

  async #requireConsent(user: string): Promise<void> {
    const { accounts, server } = this.#deps;
    const problem = await accounts.missing(server, user);
    if (problem) throw await accounts.needs(server, user, problem.consent);
  }

  #all(): ToolServer[] {
    return [...this.#byUser.values()];
  }

  #of(user: string): ToolServer {
    if (this.#closed !== undefined) throw new ServerProblem(this.#closed);
    const known = this.#byUser.get(user);
    if (known) return known;
    if (this.#byUser.size >= MOST_IDLE)
      for (const [other, { state, callsUnderWay }] of this.#byUser)
        if (state === 'idle' && callsUnderWay === 0) this.end(other);
    const created = this.#deps.create(user);
    this.#byUser.set(user, created);
    return created;
  }
}

const NOTHING: Catalog = { resources: [], prompts: [] };
const NOBODY = 'is used with accounts of people, and nobody was named whose account to use';

const severalPeople = (server: string): ConsentProblem =>
  new ConsentProblem({
    code: 'mcp_account_forbidden',
    server,
    detail:
      'Several people have written in what this run works on, so it is not clear in whose name the call would be. Ask in a new message.',
  });
