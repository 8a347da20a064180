import { type ReadonlySignal, signal } from '@preact/signals';
import { LIMITS } from '../../../../protocol/limits.ts';
import type { NodePairing, NodePairResolved } from '../../../../protocol/methods/node.ts';

export interface Asking {
  request: NodePairing;
  /** In the time of this browser; the daemon's own may be a little earlier or later. */
  endsAtMs: number;
  /** Undefined while it waits. `expired` also when the machine has gone, or has asked anew. */
  outcome: NodePairResolved['decision'] | undefined;
}

interface UpdateOptions {
  /** By how much the daemon's clock is ahead of ours. */
  aheadMs: number;
  /** Somebody looks at them: what is over stays, with its outcome. */
  keepsEnded: boolean;
}

/**
 * Who asks to be paired, the first one first. Nothing moves by itself under somebody's finger: new ones come at the end,
 * and what is over stays in its place until it is dismissed.
 */
export class PairingQueue {
  readonly #asking = signal<readonly Asking[]>([]);

  get asking(): ReadonlySignal<readonly Asking[]> {
    return this.#asking;
  }

  /** Takes over the daemon's list, which has the newest first. */
  update(pending: readonly NodePairing[], { aheadMs, keepsEnded }: UpdateOptions): void {
    const toEnd = (request: NodePairing) => request.ts + LIMITS.pairingMs - aheadMs;
    const known = new Set(this.#asking.peek().map(({ request }) => request.requestId));
    const waiting = new Set(pending.map(({ requestId }) => requestId));
    const stayed = this.#asking.peek().map(({ request, outcome }): Asking => {
      // What is over stays so: an answer may have been on its way since before.
      const now = outcome ?? (waiting.has(request.requestId) ? undefined : 'expired');
      return { request, endsAtMs: toEnd(request), outcome: now };
    });
    const added = pending
      .filter(({ requestId }) => !known.has(requestId))
      .map((request): Asking => ({ request, endsAtMs: toEnd(request), outcome: undefined }));
    this.#set([...stayed.filter(({ outcome }) => outcome === undefined || keepsEnded), ...added.reverse()]);
  }

  /** One was decided, here or elsewhere, or is over. */
  resolve({ requestId, decision }: Pick<NodePairResolved, 'requestId' | 'decision'>): void {
    this.#set(
      this.#asking.peek().map((one) => (one.request.requestId === requestId ? { ...one, outcome: decision } : one)),
    );
  }

  dismiss(requestId: string): void {
    this.#set(this.#asking.peek().filter(({ request }) => request.requestId !== requestId));
  }

  /** Nobody looks any more. */
  forgetEnded(): void {
    this.#set(this.#asking.peek().filter(({ outcome }) => outcome === undefined));
  }

  /** A machine that asks again and again fills no screen. */
  #set(asking: readonly Asking[]): void {
    const ended = asking.filter(({ outcome }) => outcome !== undefined);
    const tooMany = new Set(ended.slice(0, Math.max(0, ended.length - MAX_ENDED)));
    this.#asking.value = asking.filter((one) => !tooMany.has(one));
  }
}

const MAX_ENDED = 5;
