import { type ReadonlySignal, signal } from '@preact/signals';
import { LIMITS } from '../../../../protocol/limits.ts';
import type { NodePairing, NodePairResolved } from '../../../../protocol/methods/node.ts';

export interface Asking {
  request: NodePairing;
  /** By this browser's clock; approximate. */
  endsAtMs: number;
  /** Undefined while it waits. `expired` also if the machine left or asked again. */
  outcome: NodePairResolved['decision'] | undefined;
}

interface UpdateOptions {
  /** How far the daemon's clock is ahead of the browser's. */
  aheadMs: number;
  /** The panel is open: finished requests stay visible with their outcome. */
  keepsEnded: boolean;
}

/**
 * Pairing requests, oldest first. Nothing moves under the pointer: new requests are added at the end, and finished ones
 * keep their place until they are dismissed.
 */
export class PairingQueue {
  readonly #asking = signal<readonly Asking[]>([]);

  get asking(): ReadonlySignal<readonly Asking[]> {
    return this.#asking;
  }

  /** Applies the daemon's list, which is sorted newest first. */
  update(pending: readonly NodePairing[], { aheadMs, keepsEnded }: UpdateOptions): void {
    const toEnd = (request: NodePairing) => request.ts + LIMITS.pairingMs - aheadMs;
    const known = new Set(this.#asking.peek().map(({ request }) => request.requestId));
    const waiting = new Set(pending.map(({ requestId }) => requestId));
    const stayed = this.#asking.peek().map(({ request, outcome }): Asking => {
      // A finished request stays finished: this list may be older than the decision.
      const now = outcome ?? (waiting.has(request.requestId) ? undefined : 'expired');
      return { request, endsAtMs: toEnd(request), outcome: now };
    });
    const added = pending
      .filter(({ requestId }) => !known.has(requestId))
      .map((request): Asking => ({ request, endsAtMs: toEnd(request), outcome: undefined }));
    this.#set([...stayed.filter(({ outcome }) => outcome === undefined || keepsEnded), ...added.reverse()]);
  }

  /** Called when a request was decided, here or elsewhere, or has expired. */
  resolve({ requestId, decision }: Pick<NodePairResolved, 'requestId' | 'decision'>): void {
    this.#set(
      this.#asking.peek().map((one) => (one.request.requestId === requestId ? { ...one, outcome: decision } : one)),
    );
  }

  dismiss(requestId: string): void {
    this.#set(this.#asking.peek().filter(({ request }) => request.requestId !== requestId));
  }

  /** Called when the panel closes. */
  forgetEnded(): void {
    this.#set(this.#asking.peek().filter(({ outcome }) => outcome === undefined));
  }

  /** Limits finished requests, as a machine may ask again and again. */
  #set(asking: readonly Asking[]): void {
    const ended = asking.filter(({ outcome }) => outcome !== undefined);
    const tooMany = new Set(ended.slice(0, Math.max(0, ended.length - MAX_ENDED)));
    this.#asking.value = asking.filter((one) => !tooMany.has(one));
  }
}

const MAX_ENDED = 5;
