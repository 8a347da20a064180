import { stepUpNeeded } from '../../../protocol/methods/accounts/step-up.ts';
import type { Principal } from './principal.ts';

/** Throws FORBIDDEN for a browser session that somebody may have left open: its person has to prove again who they are. */
export function requireFreshProof(principal: Pick<Principal, 'source'> | undefined): void {
  if (principal?.source.kind !== 'login') return;
  const { browser, proof, parent } = principal.source;
  if (browser && !proof.isFresh) throw stepUpNeeded(parent.kind === 'user' ? 'password' : 'link');
}
