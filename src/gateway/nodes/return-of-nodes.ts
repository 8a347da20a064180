import { LIMITS } from '../../../protocol/limits.ts';
import type { Clock } from '../../clock.ts';
import type { ConnectedNodes } from './connected-nodes.ts';

interface ReturnDeps {
  connected: Pick<ConnectedNodes, 'find' | 'watch'>;
  clock: Pick<Clock, 'monotonic' | 'sleep'>;
}

/**
 * Gives nodes time to come back after they were lost: a restart, or another machine that takes over, disconnects all of them,
 * also while the former daemon still ends its runs.
 */
export interface NodeReturn {
  /** To be called when a node connects or disconnects. */
  saw(nodeId: string, isConnected: boolean): void;
  /** Resolves when the node is connected, or has had its time. Rejects with the signal's reason. */
  of(nodeId: string, signal: AbortSignal): Promise<void>;
}

export function createNodeReturn({ connected, clock }: ReturnDeps): NodeReturn {
  const startedMs = clock.monotonic();
  const lostMs = new Map<string, number>();
  return {
    saw(nodeId, isConnected) {
      if (isConnected) lostMs.delete(nodeId);
      else lostMs.set(nodeId, clock.monotonic());
    },
    async of(nodeId, signal) {
      const leftMs = (lostMs.get(nodeId) ?? startedMs) + LIMITS.nodeLossMs - clock.monotonic();
      if (leftMs <= 0 || connected.find(nodeId)) return;
      const back = new AbortController();
      const letGo = connected.watch(nodeId, () => {
        if (connected.find(nodeId)) back.abort();
      });
      try {
        await clock.sleep(leftMs, AbortSignal.any([back.signal, signal]));
      } catch {
        signal.throwIfAborted(); // else it is back
      } finally {
        letGo();
      }
    },
  };
}
