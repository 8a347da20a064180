import type { WaitReason } from '../../../../protocol/events/wait-reason.ts';
import type { Clock } from '../../../clock.ts';
import type { Pause, ProviderError } from '../../providers/model.ts';
import type { Recorder } from '../recorder.ts';

/** The waits of a run for its model, which clients see and can end early. */
export class RunWaits {
  #skip: AbortController | undefined;
  #reason: string | undefined;

  /** Why the last attempt failed; undefined unless a wait is in progress. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** Waits until the next attempt, or until `tryNow`. Rejects with the signal's reason. */
  async take(
    { error, untilMs, attempt, attempts }: Pause,
    by: { modelAlias: string; recorder: Pick<Recorder, 'emit'>; clock: Clock; signal: AbortSignal },
  ): Promise<'now' | 'in time'> {
    const { recorder, clock, signal } = by;
    const skip = new AbortController();
    const at = { until_ms: untilMs, attempt, attempts, model_alias: by.modelAlias };
    recorder.emit({ type: 'wait_start', reason: reasonOf(error), message: error.message, ...at });
    this.#skip = skip;
    this.#reason = error.message;
    try {
      await clock.sleep(Math.max(0, untilMs - clock.now()), AbortSignal.any([signal, skip.signal]));
      return 'in time';
    } catch (reason) {
      signal.throwIfAborted();
      if (!skip.signal.aborted) throw reason;
      return 'now';
    } finally {
      this.#skip = undefined;
      this.#reason = undefined;
      recorder.emit({ type: 'wait_stop' });
    }
  }

  /** Ends the wait. False if there is none. */
  tryNow(): boolean {
    if (!this.#skip || this.#skip.signal.aborted) return false;
    this.#skip.abort();
    return true;
  }
}

function reasonOf({ kind, detail }: ProviderError): WaitReason {
  if (detail === 'overloaded') return detail;
  return kind === 'rate_limited' || kind === 'timeout' || kind === 'interrupted' ? kind : 'unreachable';
}
