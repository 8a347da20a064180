import { STREAM_EVENTS } from '../../../protocol/stream-events.ts';
import { until } from '../../timing/until.ts';
import type { RunQueue } from '../runs/run-queue.ts';
import type { RunResult } from '../runs/run-record.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import type { WorkstreamDeps } from '../workstreams/workstream-deps.ts';

interface Owner {
  data: Pick<WorkstreamData, 'wsId' | 'modelAlias' | 'state'>;
  queue: RunQueue;
}

/**
 * Keeps the messages of people that wait after a run whose model could not be reached, so that they do not fail one after
 * another (decision 56).
 */
export class QueueHold {
  readonly #owner: Owner;
  readonly #deps: Pick<WorkstreamDeps, 'models' | 'store' | 'stopping' | 'log'>;
  readonly #onRelease: () => void;
  #released = new AbortController();
  /** The messages were sent because the server answered something, and no run has ended well since. */
  #isRepeated = false;

  /** `onRelease` is called when the waiting messages may be sent because the server answers. */
  constructor(
    owner: Owner,
    deps: Pick<WorkstreamDeps, 'models' | 'store' | 'stopping' | 'log'>,
    onRelease: () => void,
  ) {
    this.#owner = owner;
    this.#deps = deps;
    this.#onRelease = onRelease;
  }

  get isOn(): boolean {
    const { held, first } = this.#owner.queue;
    return held !== undefined && first?.run.source === 'person';
  }

  runEnded({ away, error = '' }: Pick<RunResult, 'away' | 'error'>): void {
    if (away) this.#hold(error);
    else this.#isRepeated = false;
  }

  /** Holds the messages of the previous process again if its last run could not reach its model. */
  async restore(): Promise<void> {
    const { wsId } = this.#owner.data;
    const { store } = this.#deps;
    const offset = await store.findNewestEvent(wsId, 'ws_state');
    const [newest] = offset === 0 ? [] : await store.readEvents(wsId, offset - 1, 1);
    const event = newest && STREAM_EVENTS.ws_state.safeParse(JSON.parse(newest.json)).data;
    if (!event?.run?.away) return;
    this.#owner.data.state = 'error';
    this.#hold(event.run.error ?? '');
  }

  /** False if nothing was held. */
  release(): boolean {
    const wasOn = this.#owner.queue.held !== undefined;
    this.#released.abort('released'); // the default reason, an exception with its stack, takes longer than the rest
    this.#owner.queue.release();
    return wasOn;
  }

  /** Sends the held messages now. False if there are none. */
  send(): boolean {
    const wasOn = this.release();
    if (wasOn) this.#onRelease();
    return wasOn;
  }

  /** Call it when another message is the first one. It is sent if it is not of a person. */
  firstChanged(): void {
    if (!this.isOn) this.#onRelease();
  }

  #hold(reason: string): void {
    const { queue } = this.#owner;
    queue.hold(reason);
    if (queue.length === 0 || this.#isRepeated) return;
    this.#released = new AbortController();
    void this.#untilReached(AbortSignal.any([this.#released.signal, this.#deps.stopping]));
  }

  /** Sends the messages when the server answers. If that fails again, they wait for a person. */
  async #untilReached(signal: AbortSignal): Promise<void> {
    const { wsId, modelAlias } = this.#owner.data;
    const { models, log } = this.#deps;
    try {
      await until(models.untilReached(modelAlias ?? undefined), signal);
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error, wsId }, 'waiting messages stay held until a person sends them');
      return;
    }
    this.#isRepeated = true;
    this.send();
  }
}
