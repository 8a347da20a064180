import { GRANTED, type Scope } from '../../../protocol/contract.ts';

/** A scope with all lower scopes; `service` and `node` stand alone. */
export function expandScopes(scopes: readonly string[]): ReadonlySet<Scope> {
  const highest = GRANTED.findLastIndex((scope) => scopes.includes(scope));
  const beside = (['service', 'node'] as const).filter((scope) => scopes.includes(scope));
  return new Set<Scope>([...GRANTED.slice(0, highest + 1), ...beside]);
}
