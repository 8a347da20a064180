import { GatewayError } from '../../../protocol/errors.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import { type Clock, keepAwake } from '../../clock.ts';
import { EXIT } from '../../exit-codes.ts';
import type { Log } from '../../log.ts';
import type { Checked } from './handover-messages.ts';
import type { Successor } from './successor.ts';

/** What `daemon.restart` answers. */
export interface Restart {
  /** Of the program that takes over. */
  version: string;
  pid: number;
  migration: Checked['migration'];
}

/** Lets another process take over from the daemon of this one. */
export interface Handover {
  /** Starts the successor. Resolves when it has checked what it can; unless `check`, it then takes over. */
  restart(options: { check: boolean }): Promise<Restart>;
  /** Resolves when the successor, if there is one, has ended. For a daemon that is asked to stop. */
  stop(): Promise<void>;
  /** Passes a signal on to the successor that already serves. False if there is none. */
  forward(signal: NodeJS.Signals): boolean;
  /**
   * Hands over to a standby by `drain`, but after a check, because the successor holds the socket meanwhile. Not at all while
   * a successor takes over, which leaves the work to the standby as well.
   */
  drain(drain: () => void): void;
}

interface HandoverDeps {
  /** False while this process waits as a standby, or hands over to one. */
  isServing(): boolean;
  /** Resolves when the successor has checked what it can. `signal` ends it before. */
  startSuccessor(signal: AbortSignal): Promise<Successor>;
  /** Stops the daemon of this process. */
  stop(): Promise<void>;
  /** Starts the daemon of this process again, because the successor did not. */
  startAgain(why: string): Promise<void>;
  /** Whether whoever watches this process learns the successor's pid otherwise, so that this process can end. */
  canLeave: boolean;
  /** Frees the memory of what this process no longer does. */
  tidy(): void;
  exit(code: number): void;
  clock: Clock;
  log: Log;
}

/** For the answer to `daemon.restart`, before its connection is closed. */
const ANSWER_MS = 50;
/** If the daemon does not stop in this time, its process ends, and the successor takes over from a killed daemon. */
const STOP_MS = 15_000;

export const createHandover = (deps: HandoverDeps): Handover => new ProcessHandover(deps);

class ProcessHandover implements Handover {
  readonly #deps: HandoverDeps;
  readonly #stopping = new AbortController();
  #phase: 'alone' | 'checking' | 'handing' | 'following' = 'alone';
  #successor: Successor | undefined;
  /** Waits for the end of a check. */
  #drain: (() => void) | undefined;

  constructor(deps: HandoverDeps) {
    this.#deps = deps;
  }

  async restart({ check }: { check: boolean }): Promise<Restart> {
    if (this.#phase !== 'alone') throw new GatewayError('CONFLICT', 'Another restart is in progress');
    if (!this.#deps.isServing()) throw handsOver();
    const next = await this.#check();
    const { version, pid, migration } = next;
    const isStopping = this.#stopping.signal.aborted;
    const isDrained = !this.#deps.isServing(); // that had begun before
    if (check || isStopping || isDrained) {
      next.kill('SIGKILL');
      this.#beAlone();
      if (isStopping) throw new GatewayError('UNAVAILABLE', 'The daemon is stopping');
      if (isDrained) throw handsOver();
    } else {
      this.#phase = 'handing';
      this.#drain = undefined;
      void this.#handOver(next);
    }
    return { version, pid, migration };
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#phase === 'alone' || this.#successor === undefined) return;
    // Before it serves, the signal ends it at once; afterwards it stops in order.
    this.#successor.kill('SIGTERM');
    await this.#successor.exited;
  }

  forward(signal: NodeJS.Signals): boolean {
    if (this.#phase !== 'following') return false;
    this.#successor?.kill(signal);
    return true;
  }

  drain(drain: () => void): void {
    if (this.#phase === 'alone') drain();
    else if (this.#phase === 'checking') this.#drain = drain;
    else this.#deps.log.warn({}, 'a restart is in progress, so this daemon is not drained');
  }

  #beAlone(): void {
    this.#phase = 'alone';
    const drain = this.#drain;
    this.#drain = undefined;
    drain?.();
  }

  async #check(): Promise<Successor> {
    this.#phase = 'checking';
    try {
      this.#successor = undefined;
      this.#successor = await this.#deps.startSuccessor(this.#stopping.signal);
      return this.#successor;
    } catch (error) {
      this.#beAlone();
      this.#deps.log.warn({ err: error }, 'no other process can take over');
      throw new GatewayError('CONFLICT', `The installed program cannot take over: ${wordsOf(error)}`, { cause: error });
    }
  }

  async #handOver(next: Successor): Promise<void> {
    const { clock, log, exit } = this.#deps;
    const { signal } = this.#stopping;
    using _ = keepAwake(); // the port closes before the store does
    await clock.sleep(ANSWER_MS, signal).catch(() => undefined); // a stop ends the successor
    if (signal.aborted) return;
    if (next.ended !== undefined) {
      this.#phase = 'alone';
      return log.error({ pid: next.pid }, 'the process that was to take over has ended; this one goes on');
    }
    log.info({ pid: next.pid, version: next.version, migration: next.migration }, 'handing over to another process');
    next.tell('begin');
    if (!(await stopsInTime(this.#deps))) return exit(EXIT.failed);
    next.tell('go');
    await next.serving.then(
      () => this.#follow(next),
      (error: unknown) => this.#recover(error),
    );
  }

  async #follow(next: Successor): Promise<void> {
    const { log, canLeave, exit, tidy } = this.#deps;
    this.#phase = 'following';
    log.info({ pid: next.pid }, canLeave ? 'handed over' : 'handed over; this process passes signals on');
    if (canLeave) {
      await next.leave();
      return exit(EXIT.ok);
    }
    tidy();
    const { code } = await next.exited;
    exit(code ?? EXIT.failed);
  }

  async #recover(error: unknown): Promise<void> {
    const { log, startAgain, exit } = this.#deps;
    if (this.#stopping.signal.aborted) return; // whoever stops it also ends this process
    const why = wordsOf(error);
    log.error({ reason: why }, 'the other process did not take over; this one starts again');
    this.#phase = 'alone';
    try {
      await startAgain(why);
    } catch (failure) {
      log.error({ err: failure }, 'and it cannot start either');
      exit(EXIT.failed);
    }
  }
}

async function stopsInTime({ stop, clock, log }: HandoverDeps): Promise<boolean> {
  const done = new AbortController();
  try {
    const late = clock.sleep(STOP_MS, done.signal).then(() => false);
    return await Promise.race([stop().then(() => true), late]);
  } catch (error) {
    log.error({ err: error }, 'stopping failed');
    return false;
  } finally {
    done.abort();
  }
}

const handsOver = () => new GatewayError('UNAVAILABLE', 'The daemon hands over to a standby');
