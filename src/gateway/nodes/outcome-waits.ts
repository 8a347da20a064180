import { LIMITS } from '../../../protocol/limits.ts';
import type { Clock } from '../../clock.ts';
import type { ConnectedNodes } from './connected-nodes.ts';
import type { Outcome } from './invocation-outcome.ts';
import type { PairedNodes } from './paired-nodes.ts';

export type WaitEnd =
  | { kind: 'answered'; outcome: Outcome }
  | { kind: 'deadline' }
  | { kind: 'lost' }
  /** The node is no longer paired. */
  | { kind: 'revoked' };

/** Callers that wait for a node's answer. */
export interface OutcomeWaits {
  /**
   * Waits until the answer, the deadline, ten seconds without the process that was asked, or the end of the pairing. Rejects with
   * the signal's reason.
   */
  wait(of: { invoke_id: string; node_id: string; left_ms: number }, signal: AbortSignal): Promise<WaitEnd>;
  answer(invokeId: string, outcome: Outcome): void;
}

interface OutcomeWaitsDeps {
  connected: Pick<ConnectedNodes, 'find' | 'watch'>;
  paired: Pick<PairedNodes, 'revocationOf'>;
  clock: Pick<Clock, 'sleep'>;
}

export function createOutcomeWaits({ connected, paired, clock }: OutcomeWaitsDeps): OutcomeWaits {
  const waiting = new Map<string, Set<(end: WaitEnd) => void>>();

  function join(invokeId: string, tell: (end: WaitEnd) => void): () => void {
    const tells = waiting.get(invokeId) ?? new Set();
    waiting.set(invokeId, tells.add(tell));
    return () => {
      tells.delete(tell);
      if (tells.size === 0) waiting.delete(invokeId);
    };
  }

  /**
   * A node that lost its connection usually reconnects within seconds and then sends its results. Another process of it can only
   * send those that the former one had kept.
   */
  function watchLoss(nodeId: string, onLost: () => void): () => void {
    let grace: AbortController | undefined;
    let asked: string | undefined;
    const isBack = () => {
      const node = connected.find(nodeId);
      asked ??= node?.process;
      return node !== undefined && node.process === asked;
    };
    const back = () => {
      grace?.abort();
      grace = undefined;
    };
    const look = () => {
      if (isBack()) return back();
      if (grace) return;
      grace = new AbortController();
      clock.sleep(LIMITS.nodeLossMs, grace.signal).then(onLost, () => undefined); // it reconnected, or the wait is over
    };
    const letGo = connected.watch(nodeId, look);
    look();
    return () => {
      letGo();
      back();
    };
  }

  return {
    async wait({ invoke_id, node_id, left_ms }, signal) {
      signal.throwIfAborted();
      if (left_ms <= 0) return { kind: 'deadline' };
      const revocation = paired.revocationOf(node_id);
      if (revocation === undefined) return { kind: 'revoked' };
      const { promise, resolve, reject } = Promise.withResolvers<WaitEnd>();
      const onAbort = () => reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      const onRevoked = () => resolve({ kind: 'revoked' });
      revocation.addEventListener('abort', onRevoked, { once: true });
      const over = new AbortController();
      clock.sleep(left_ms, over.signal).then(
        () => resolve({ kind: 'deadline' }),
        () => undefined, // over before the deadline
      );
      const leave = join(invoke_id, resolve);
      const stopWatching = watchLoss(node_id, () => resolve({ kind: 'lost' }));
      try {
        return await promise;
      } finally {
        over.abort();
        leave();
        stopWatching();
        revocation.removeEventListener('abort', onRevoked);
        signal.removeEventListener('abort', onAbort);
      }
    },
    answer(invokeId, outcome) {
      for (const tell of [...(waiting.get(invokeId) ?? [])]) tell({ kind: 'answered', outcome });
    },
  };
}
