import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { DeliveryError } from '../channels/channel.ts';
import type { Matter } from './matter.ts';
import { toDeliveryError } from './post-notice.ts';
import type { Target } from './target.ts';

/** With the waits between them, about half an hour. */
const MAX_ATTEMPTS = 10;
const MAX_WAIT_MS = 10 * 60_000;
/** What is under way when the daemon stops has so long to arrive. */
const GRACE_MS = 2_000;
/** Further ones are not told. */
const MOST_MATTERS = 1_000;

interface NotifierDeps {
  /** Who is told about a matter now. */
  targetsOf(matter: Matter): Promise<readonly Target[]>;
  /** How long somebody has who is looking at it already. */
  delayMs(): number;
  clock: Pick<Clock, 'now' | 'sleep'>;
  log: Pick<Log, 'info' | 'warn'>;
}

interface Waiting {
  matter: Matter;
  /** Aborts when it is decided. */
  end: AbortController;
  /** What has been asked, or may have been. */
  asked: Set<Target>;
}

/**
 * Tells people about questions and other things while these wait: before each attempt, it looks whether the matter was decided,
 * and whether it is still for them. It takes back what it told then. Nothing is stored, because a daemon that starts again asks
 * again. It would not take back again, so a stop waits for that, too.
 */
export class Notifier {
  readonly #deps: NotifierDeps;
  readonly #waiting = new Map<string, Waiting>();
  readonly #underWay = new Set<Promise<unknown>>();
  /** Nothing begins any more. */
  readonly #stopping = new AbortController();
  /** What is under way ends. */
  readonly #cut = new AbortController();

  constructor(deps: NotifierDeps) {
    this.#deps = deps;
  }

  asked(matter: Matter): void {
    if (this.#waiting.has(matter.id) || this.#waiting.size >= MOST_MATTERS) return;
    const waiting: Waiting = { matter, end: new AbortController(), asked: new Set() };
    this.#waiting.set(matter.id, waiting);
    this.#follow(this.#tell(waiting));
  }

  /** It does not wait any more. */
  decided(id: string): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    waiting.end.abort(new Error('it was decided'));
    for (const target of waiting.asked) this.#follow(this.#withdraw(target, waiting.matter));
  }

  /** Takes matters back from those whom they do not concern any more: those of a workstream, or a single one. */
  shared(which: { wsId: string } | { id: string }): void {
    for (const waiting of this.#waiting.values())
      if ('id' in which ? waiting.matter.id === which.id : waiting.matter.wsId === which.wsId)
        for (const target of waiting.asked) this.#follow(this.#withdrawUnless(target, waiting));
  }

  /** Ends all waits. Messages that are under way get a moment to arrive, and those that take something back a last attempt. */
  async close(): Promise<void> {
    const reason = new Error('the daemon stops');
    this.#stopping.abort(reason);
    const over = new AbortController();
    this.#deps.clock.sleep(GRACE_MS, over.signal).then(
      () => this.#cut.abort(reason),
      () => undefined, // all have arrived
    );
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    over.abort();
  }

  #follow(work: Promise<unknown>): void {
    const over = work.catch((error: unknown) => {
      if (!this.#cut.signal.aborted) this.#deps.log.warn({ err: error }, 'notifications could not be sent');
    });
    this.#underWay.add(over);
    void over.finally(() => this.#underWay.delete(over));
  }

  async #tell(waiting: Waiting): Promise<void> {
    const { delayMs, clock } = this.#deps;
    const signal = AbortSignal.any([waiting.end.signal, this.#stopping.signal]);
    const passed = clock.sleep(delayMs(), signal).then(
      () => true,
      () => false, // decided in time
    );
    if (!(await passed)) return;
    const { matter, asked } = waiting;
    const targets = await this.#targetsOf(matter, signal);
    const ask = async (target: Target) => {
      if (!(await matter.waits()) || !(await target.isFor(matter)) || signal.aborted) return;
      asked.add(target);
      await target.ask(matter, AbortSignal.any([waiting.end.signal, this.#cut.signal]));
    };
    await Promise.all(targets.map((target) => this.#attempt(target, () => ask(target), { signal })));
  }

  /** None if it is decided while they cannot be read. */
  async #targetsOf(matter: Matter, signal: AbortSignal): Promise<readonly Target[]> {
    let targets: readonly Target[] = [];
    const read = async () => {
      targets = await this.#deps.targetsOf(matter);
    };
    await this.#attempt({ name: 'everybody' }, read, { signal });
    return targets;
  }

  async #withdrawUnless(target: Target, { matter, asked }: Waiting): Promise<void> {
    if (!(await target.isFor(matter)) && asked.delete(target)) await this.#withdraw(target, matter);
  }

  #withdraw(target: Target, matter: Matter): Promise<void> {
    const { signal } = this.#cut;
    return this.#attempt(target, () => target.withdraw(matter, signal), { signal, waits: this.#stopping.signal });
  }

  /** `waits`: ends the wait before the next attempt, which is then the last one. */
  async #attempt(
    target: Pick<Target, 'name'>,
    send: () => Promise<void>,
    { signal, waits = signal }: { signal: AbortSignal; waits?: AbortSignal },
  ): Promise<void> {
    const { clock, log } = this.#deps;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      const isLast = waits.aborted;
      const problem = await problemOf(send);
      if (problem === undefined || signal.aborted) return;
      if (isLast || attempt >= MAX_ATTEMPTS || !problem.retryable) {
        log.warn({ to: target.name, attempt, problem: problem.message }, 'a notification was not sent');
        return;
      }
      const waitMs = Math.min(MAX_WAIT_MS, Math.max(problem.retryAfterMs ?? 0, 1_000 * 2 ** (attempt - 1)));
      await clock.sleep(waitMs, waits).catch(() => undefined); // decided, or the daemon stops
    }
  }
}

/** Undefined if it was sent. */
async function problemOf(send: () => Promise<void>): Promise<DeliveryError | undefined> {
  try {
    await send();
    return undefined;
  } catch (error) {
    return toDeliveryError(error);
  }
}
