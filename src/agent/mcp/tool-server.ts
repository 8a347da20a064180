import { wordsOf } from '../../../protocol/words-of.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { Seats } from '../../timing/seats.ts';
import { until } from '../../timing/until.ts';
import { hideInAddress } from '../guard/values/hidden-values.ts';
import { withDeadline } from '../process/deadline.ts';
import { StopReason } from '../stop-reason.ts';
import { ConsentProblem } from './accounts/consent-problem.ts';
import type { Catalog } from './catalog/announced-lists.ts';
import { readLists, type ServerLists } from './catalog/read-lists.ts';
import type { ServerCall, ServerReply, Session, SessionOptions } from './session.ts';

/** The server cannot be asked, or ended while it was. */
export class ServerProblem extends Error {
  override readonly name = 'ServerProblem';
  /** It may have done something of the call before it ended. */
  readonly mayHaveActed: boolean;

  constructor(message: string, { mayHaveActed = false }: { mayHaveActed?: boolean } = {}) {
    super(message);
    this.mayHaveActed = mayHaveActed;
  }
}

/** Its words, which may quote the address or the program, without the secrets of addresses. */
const toPlain = (error: unknown): string => hideInAddress(wordsOf(error)).shown;

/** `idle`: it is started when it is needed. `failed`: it is started again after a while, when it is needed. */
type ServerState = 'idle' | 'connecting' | 'connected' | 'failed';

interface ServerDeps {
  name: string;
  open(options: SessionOptions): Promise<Session>;
  /** Called each time it has listed what it offers. */
  onLists(lists: ServerLists): void;
  /** Read when a server is no longer used. */
  idleMs(): number;
  clock: Clock;
  log: Log;
}

const CONNECT_MS = 30_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** A call waits so long for a server that has failed, instead of failing, too. */
const WAITS_MS = 5_000;
const MOST_CALLS = 64;
/** More calls than these wait for their turn. */
const MOST_WAITING = 1_000;
/** A server that ran for so long has not failed to start. */
const SETTLED_MS = 60_000;
/** Lists are read again after this time, in case a server does not tell of changes. */
const REFRESH_MS = 4 * 60 * 60 * 1_000;

/**
 * One tool server for all conversations: started when it is needed, ended when nobody used it for a while, and started again
 * after it failed, with longer pauses. There is at most one session of it at a time.
 */
export class ToolServer {
  readonly #deps: ServerDeps;
  readonly #closing = new AbortController();
  /** Resolves when its last call has ended after it was retired. */
  #retired: PromiseWithResolvers<void> | undefined;
  #session: Session | undefined;
  #opening: Promise<Session> | undefined;
  /** The session before, while it ends. */
  #ending: Promise<unknown> = Promise.resolve();
  #idle = new AbortController();
  #calls = 0;
  readonly #seats = new Seats(() => MOST_CALLS);
  #failures = 0;
  #retryAtMs = 0;
  #openedMs = 0;
  #listedMs = 0;
  /** The session whose lists are read again. */
  #listing: Session | undefined;
  #isStale = false;
  /** Why it cannot be used; for people. */
  problem: string | undefined;
  /** What it offers besides tools, as it said last; nothing before it was connected. */
  catalog: Catalog = { resources: [], prompts: [] };
  /** What was left out of its lists; for people. */
  notes: readonly string[] = [];
  /** What it says it is. */
  about = '';

  constructor(deps: ServerDeps) {
    this.#deps = deps;
  }

  get state(): ServerState {
    if (this.#session) return 'connected';
    if (this.#opening !== undefined) return 'connecting';
    return this.problem === undefined ? 'idle' : 'failed';
  }

  get callsUnderWay(): number {
    return this.#calls;
  }

  /** Asks for its tools, and starts it for that. Rejects with a ServerProblem. `now`: also while it has to wait after failing. */
  async refresh(signal: AbortSignal, { now = false }: { now?: boolean } = {}): Promise<void> {
    if (now) this.#retryAtMs = 0;
    const wasOpen = this.#session !== undefined;
    await this.#use(signal, async (session) => {
      if (wasOpen) await this.#list(session, signal);
    });
  }

  /** What it offers besides tools, as it says now. */
  async offers(signal: AbortSignal): Promise<Catalog> {
    await this.refresh(signal);
    return this.catalog;
  }

  async call(call: ServerCall): Promise<ServerReply> {
    this.#refuseIfRetired();
    if (this.#seats.waiting >= MOST_WAITING)
      throw new ServerProblem(`has ${MOST_WAITING} calls that wait for their turn; try again later`);
    await this.#seats.take(AbortSignal.any([call.signal, this.#closing.signal]));
    try {
      return await this.#use(call.signal, async (session) => {
        const reply = await session.call(call);
        this.#failures = 0;
        if (this.#deps.clock.monotonic() - this.#listedMs > REFRESH_MS) this.#onListsChanged(session);
        return reply;
      });
    } finally {
      this.#seats.leave();
    }
  }

  /** Ends it for good. Resolves when nothing of it is left. */
  async close(): Promise<void> {
    this.#closing.abort(new StopReason('shutdown', 'the tool server is no longer used'));
    this.#idle.abort();
    await this.#opening?.catch(() => undefined); // its reason is known: it was aborted
    await this.#endSession();
    await this.#ending;
  }

  /** Ends it for good when the calls under way have ended. New ones are refused: they may mean what it was replaced with. */
  async retire(): Promise<void> {
    this.#retired = Promise.withResolvers();
    if (this.#calls > 0) await this.#retired.promise;
    await this.close();
  }

  #refuseIfRetired(): void {
    if (this.#retired) throw new ServerProblem('was changed meanwhile; call the tool again');
  }

  async #use<T>(signal: AbortSignal, work: (session: Session) => Promise<T>): Promise<T> {
    this.#refuseIfRetired();
    this.#calls += 1;
    this.#idle.abort();
    try {
      const session = await until(this.#ensure(signal), signal);
      try {
        return await work(session);
      } catch (error) {
        signal.throwIfAborted();
        if (this.#session === session) throw error;
        throw new ServerProblem(await session.ended, { mayHaveActed: true });
      }
    } finally {
      this.#calls -= 1;
      if (this.#calls === 0) this.#onUnused();
    }
  }

  async #ensure(signal: AbortSignal): Promise<Session> {
    this.#closing.signal.throwIfAborted();
    if (this.#session) return this.#session;
    const leftMs = this.#retryAtMs - this.#deps.clock.monotonic();
    if (leftMs > 0 && !this.#opening) {
      if (leftMs > WAITS_MS)
        throw new ServerProblem(
          `${this.problem}. It is started again in ${Math.ceil(leftMs / 1_000)} s at the earliest`,
        );
      await this.#deps.clock.sleep(leftMs, signal);
      return this.#ensure(signal);
    }
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Not by the signal of one call, because others wait for it, too. */
  async #open(): Promise<Session> {
    const { clock, log, name } = this.#deps;
    using deadline = withDeadline(this.#closing.signal, { clock, ms: CONNECT_MS });
    const { signal } = deadline;
    let session: Session | undefined;
    try {
      await this.#ending;
      const onListsChanged = () => session && this.#onListsChanged(session);
      session = await this.#deps.open({ signal, onListsChanged });
      await until(this.#list(session, signal), signal);
    } catch (error) {
      await session?.close();
      if (error instanceof ConsentProblem) throw error; // that is no failure of the server
      const why = signal.aborted && !this.#closing.signal.aborted ? 'did not answer within 30 s' : toPlain(error);
      this.#fail(why);
      log.warn({ server: name, why }, 'a tool server could not be used');
      throw new ServerProblem(why);
    }
    this.#session = session;
    this.#openedMs = clock.monotonic();
    this.problem = undefined;
    this.about = session.about;
    const opened = session;
    void session.ended.then((reason) => this.#onEnded(opened, hideInAddress(reason).shown));
    return session;
  }

  #onEnded(session: Session, reason: string): void {
    if (this.#session !== session) return; // it was ended here
    session.close().catch(() => undefined); // otherwise, a client over HTTP goes on trying to open its stream again
    this.#session = undefined;
    if (this.#deps.clock.monotonic() - this.#openedMs > SETTLED_MS) this.#failures = 0;
    this.#fail(reason);
    this.#deps.log.warn({ server: this.#deps.name, why: reason }, 'a tool server ended by itself');
  }

  #fail(why: string): void {
    this.problem = why;
    this.#failures += 1;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (this.#failures - 1), LONGEST_PAUSE_MS);
    this.#retryAtMs = this.#deps.clock.monotonic() + pauseMs;
  }

  async #list(session: Session, signal: AbortSignal): Promise<void> {
    const lists = await readLists(session, signal);
    this.#listedMs = this.#deps.clock.monotonic();
    this.notes = lists.problems;
    this.catalog = { resources: lists.resources, prompts: lists.prompts };
    this.#deps.onLists(lists);
  }

  /** One list at a time: a server that tells of changes all the time is asked again only when it has answered. */
  #onListsChanged(session: Session): void {
    if (this.#session && this.#session !== session) return; // it is ending
    this.#isStale = true;
    if (this.#listing === session) return;
    this.#listing = session;
    void this.#listWhileStale(session).finally(() => {
      if (this.#listing === session) this.#listing = undefined;
    });
  }

  async #listWhileStale(session: Session): Promise<void> {
    const { clock, log, name } = this.#deps;
    while (this.#isStale && this.#listing === session && !this.#closing.signal.aborted) {
      this.#isStale = false;
      using deadline = withDeadline(this.#closing.signal, { clock, ms: CONNECT_MS });
      try {
        await this.#list(session, deadline.signal);
        await clock.sleep(FIRST_PAUSE_MS, deadline.signal);
      } catch (error) {
        log.warn({ server: name, why: wordsOf(error) }, 'what a server offers could not be read again');
        return;
      }
    }
  }

  #onUnused(): void {
    this.#retired?.resolve();
    this.#waitIdle();
  }

  #waitIdle(): void {
    if (this.#closing.signal.aborted) return;
    const idle = new AbortController();
    this.#idle = idle;
    this.#deps.clock.sleep(this.#deps.idleMs(), idle.signal).then(
      () => this.#endSession(),
      () => undefined, // it is used again
    );
  }

  async #endSession(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    if (!session) return;
    this.#ending = session.close();
    await this.#ending;
  }
}
