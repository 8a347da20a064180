import { createHmac } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { Matter } from './matter.ts';
import type { Notifier } from './notifier.ts';
import { listThings, type Thing, type ThingSources } from './thing-kinds.ts';

/** So many of each kind are told at once: an agent, or strangers, could ask without end. */
const MOST_OF_KIND = 20;
/** What waits for longer was told before, or before anybody wanted to be notified. */
const TOLD_FOR_MS = 24 * 3_600_000;
/** While something is told, it is looked at again: it may expire, or be nothing for somebody any more. */
const AGAIN_MS = 60_000;

interface WatchDeps extends ThingSources {
  notifier: Pick<Notifier, 'asked' | 'decided' | 'shared'>;
  /** Nobody else can tell from an id what it stands for. */
  secret(): Promise<string>;
  clock: Pick<Clock, 'now' | 'sleep'>;
  log: Pick<Log, 'warn'>;
}

/** Machines, people, accounts and memories that wait, as notifications tell them. */
export class ThingWatch {
  readonly #deps: WatchDeps;
  readonly #told = new Map<string, { kind: Thing['kind']; matter: Matter }>();
  readonly #stopping = new AbortController();
  /** Ends the pause before the next look. */
  #pause = new AbortController();
  #looking: Promise<void> = Promise.resolve();

  constructor(deps: WatchDeps) {
    this.#deps = deps;
  }

  /** Something may have begun or ended to wait. */
  look(): Promise<void> {
    this.#looking = this.#looking
      .then(() => this.#look())
      .catch((error: unknown) => {
        this.#deps.log.warn({ err: error }, 'what waits besides questions could not be read');
        this.#lookAgain();
      });
    return this.#looking;
  }

  async close(): Promise<void> {
    this.#stopping.abort(new Error('the daemon stops'));
    await this.#looking;
  }

  async #look(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.#pause.abort(new Error('it looks now'));
    await this.#takeBack();
    await this.#tellNew();
    if (this.#told.size > 0) this.#lookAgain();
  }

  async #takeBack(): Promise<void> {
    const { notifier } = this.#deps;
    for (const [id, { matter }] of this.#told) {
      if (await matter.waits()) notifier.shared({ id });
      else {
        this.#told.delete(id);
        notifier.decided(id);
      }
    }
  }

  async #tellNew(): Promise<void> {
    const { notifier, clock } = this.#deps;
    const sinceMs = clock.now() - TOLD_FOR_MS;
    const recent = (await listThings(this.#deps, MOST_OF_KIND)).filter((thing) => thing.sinceMs >= sinceMs);
    if (recent.length === 0) return;
    const secret = await this.#deps.secret();
    for (const thing of recent) {
      const matter = toMatter(thing, secret);
      if (this.#told.has(matter.id) || this.#countOf(thing.kind) >= MOST_OF_KIND) continue;
      this.#told.set(matter.id, { kind: thing.kind, matter });
      notifier.asked(matter);
    }
  }

  #countOf(kind: Thing['kind']): number {
    return [...this.#told.values()].filter((one) => one.kind === kind).length;
  }

  #lookAgain(): void {
    this.#pause = new AbortController();
    const signal = AbortSignal.any([this.#pause.signal, this.#stopping.signal]);
    this.#deps.clock.sleep(AGAIN_MS, signal).then(
      () => this.look(),
      () => undefined, // somebody else looks, or the daemon stops
    );
  }
}

/** The same after a restart, so that what is told again replaces what was told before. */
function toMatter({ kind, whose = '', ...thing }: Thing, secret: string): Matter {
  const place = JSON.stringify([thing.entry, whose]);
  const id = `wait-${createHmac('sha256', secret).update(place).digest('base64url').slice(0, 32)}`;
  return { ...thing, id, wsId: '', named: { type: 'waiting', id: { id }, about: { kind } } };
}
