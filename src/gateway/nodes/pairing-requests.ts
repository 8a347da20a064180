import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { NodePairing, NodePairResolved } from '../../../protocol/methods/node.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import { runExpiry } from '../auth/expiry.ts';
import type { ClientLink } from '../call.ts';

/** A request for pairing. Its address comes from the connection and not from the claim. */
export type PairingClaim = Omit<NodePairing, 'requestId' | 'ts'>;

/** Machines that wait for a person's decision: one request each, for five minutes at most, while they are connected. */
export interface PairingRequests {
  /**
   * A repeat by the same connection returns the pending request; with other commands it replaces it. Throws BUSY while
   * another connection waits under this id, because then the displayed code could not identify the machine. If that one is
   * dead, it ends, and a retry succeeds.
   */
  ask(claim: PairingClaim, link: ClientLink | undefined): { request: NodePairing; created: boolean };
  /** Newest first. */
  list(): NodePairing[];
  /**
   * Decides a request; throws NOT_FOUND when it is unknown or has ended. No other decision is possible while `decide`
   * runs. If `decide` fails, the request stays pending, unless its connection has closed meanwhile.
   */
  settle<T>(
    requestId: string,
    decision: 'approved' | 'rejected',
    decide: (waiting: WaitingNode) => T | Promise<T>,
  ): Promise<T>;
  /** Ends the requests of a closed connection. */
  gone(link: ClientLink): void;
  /** Expires undecided requests, until aborted. */
  run(signal: AbortSignal): Promise<void>;
}

export interface WaitingNode {
  request: NodePairing;
  /** The waiting connection; undefined when another caller made the request for the node. */
  link: ClientLink | undefined;
}

interface PairingRequestsDeps {
  onRequested(request: NodePairing): void;
  onResolved(resolved: NodePairResolved, link: ClientLink | undefined): void;
  clock: Pick<Clock, 'now' | 'sleep' | 'monotonic'>;
  ids: Pick<Ids, 'secret'>;
}

interface Waiting extends WaitingNode {
  /** In monotonic milliseconds. */
  endMs: number;
}

export function createPairingRequests({ onRequested, onResolved, clock, ids }: PairingRequestsDeps): PairingRequests {
  const waiting = new Map<string, Waiting>();
  const deciding = new Set<Waiting>();

  function resolve({ request, link }: WaitingNode, decision: NodePairResolved['decision']): void {
    const { requestId, nodeId } = request;
    onResolved({ requestId, nodeId, decision, ts: clock.now() }, link);
  }

  function end(requestId: string): void {
    const ended = waiting.get(requestId);
    if (ended === undefined) return;
    waiting.delete(requestId);
    resolve(ended, 'expired');
  }

  function sweep(): void {
    for (const [requestId, one] of waiting) if (one.endMs <= clock.monotonic()) end(requestId);
  }

  return {
    ask(asked, link) {
      sweep();
      const earlier = [...waiting.values()].find(({ request }) => request.nodeId === asked.nodeId);
      if (earlier !== undefined && earlier.link !== link) {
        void earlier.link?.isAlive();
        throw tooMany('another connection requests to pair as this node');
      }
      if (earlier && hasSameCommands(earlier.request, asked)) return { request: earlier.request, created: false };
      if (earlier !== undefined) end(earlier.request.requestId);
      if (waiting.size >= LIMITS.pairingRequests) throw tooMany('too many pairing requests');
      const request: NodePairing = { requestId: ids.secret(16), ...asked, ts: clock.now() };
      waiting.set(request.requestId, { request, link, endMs: clock.monotonic() + LIMITS.pairingMs });
      onRequested(request);
      return { request, created: true };
    },
    list: () => [...waiting.values()].map(({ request }) => request).reverse(),
    async settle(requestId, decision, decide) {
      sweep();
      const decided = waiting.get(requestId);
      if (decided === undefined) throw new GatewayError('NOT_FOUND', 'unknown requestId');
      waiting.delete(requestId);
      deciding.add(decided);
      try {
        const result = await decide(decided);
        resolve(decided, decision);
        return result;
      } catch (error) {
        if (deciding.has(decided)) waiting.set(requestId, decided);
        else resolve(decided, 'expired');
        throw error;
      } finally {
        deciding.delete(decided);
      }
    },
    gone(link) {
      for (const [requestId, one] of waiting) if (one.link === link) end(requestId);
      for (const one of deciding) if (one.link === link) deciding.delete(one);
    },
    run: (signal) =>
      runExpiry(
        { sweep, ends: () => [...waiting.values()].map(({ endMs }) => endMs) },
        { clock, nowMs: () => clock.monotonic(), signal },
      ),
  };
}

/** Compares in any order. Other claims are not compared, because a person has read those of the first request. */
function hasSameCommands({ commands: before = [] }: PairingClaim, { commands: after = [] }: PairingClaim): boolean {
  const [one, other] = [new Set(before), new Set(after)];
  return one.size === other.size && [...one].every((command) => other.has(command));
}

const tooMany = (message: string) => new GatewayError('BUSY', message, { retryAfterMs: 5_000 });
