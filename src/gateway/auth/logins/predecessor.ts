import type { Clock } from '../../../clock.ts';
import { parentEnded } from '../lineage.ts';
import type { Parent } from '../parent.ts';
import { Proof } from '../proof.ts';
import type { Session } from './session-principals.ts';
import { following } from './session-table.ts';

/** The session before a new one in the same browser. */
export interface Follows {
  jti: string;
  /** Nobody has proved anything, so it must not have ended. */
  isRefresh?: boolean;
}

interface Predecessor extends Follows {
  proof: Proof;
}

type FindSession = (jti: string) => Session | undefined;

/** Undefined for a session that has ended, or is somebody else's. */
export function findPredecessor(
  follows: Follows | undefined,
  { kind, id }: Parent,
  standing: FindSession,
): Predecessor | undefined {
  const before = follows && standing(follows.jti);
  const proof = before?.parent.kind === kind && before.parent.id === id ? before.proof : undefined;
  if (follows?.isRefresh && !proof) throw parentEnded();
  return follows && proof && { ...follows, proof };
}

/** The id and the proof of a session after another one. Together, they share the proof. */
export function succeed(
  before: Predecessor | undefined,
  { id, provedMs, clock }: { id: string; provedMs: number | undefined; clock: Pick<Clock, 'now' | 'monotonic'> },
): { jti: string; proof: Proof; provedMs: number } {
  const atMs = before?.isRefresh ? before.proof.atMs : (provedMs ?? clock.now());
  if (!before) return { jti: id, proof: new Proof(clock, atMs), provedMs: atMs };
  return { jti: following(before.jti, id), proof: before.proof, provedMs: atMs };
}

/** Throws if the person has logged out meanwhile. It may have been ended to make room for the new one. */
export function requireUnended(
  before: Predecessor | undefined,
  { oneTooMany, standing }: { oneTooMany: string | undefined; standing: FindSession },
): void {
  if (before?.isRefresh && before.jti !== oneTooMany && !standing(before.jti)) throw parentEnded();
}
