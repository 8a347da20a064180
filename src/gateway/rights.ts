import { LADDER, type Scope } from '../../protocol/contract.ts';

/** How far up the ladder of scopes a caller stands; callers on one rung see the same events. */
export type Rights = (typeof LADDER)[number];

const RUNGS: ReadonlyMap<Scope, number> = new Map(LADDER.map((scope, rung) => [scope, rung]));
/** -1 for a scope beside the ladder, which is held or not. */
const rungOf = (scope: Scope): number => RUNGS.get(scope) ?? -1;

/** Whether these grants cover a scope: who holds a rung of the ladder holds those below it. */
export function holds(granted: ReadonlySet<Scope>, needed: Scope): boolean {
  const rung = rungOf(needed);
  return rung < 0 ? granted.has(needed) : topRung(granted) >= rung;
}

/** Whether these grants are those of a node, or of a machine that wants to be one. */
export const isOfNode = (granted: ReadonlySet<Scope>): boolean => granted.has('node') || granted.has('pairing');

/** Whether what needs this scope may be called: nodes do nothing but their own, and who approves may ask for a node. */
export function mayCall(granted: ReadonlySet<Scope>, needed: Scope): boolean {
  if (needed === 'public') return !isOfNode(granted);
  return holds(granted, needed) || (needed === 'pairing' && holds(granted, 'approve'));
}

export const rightsOf = (granted: ReadonlySet<Scope>): Rights => LADDER[topRung(granted)] ?? 'public';

/** Every rung from which one sees what needs `scope`. */
export function rightsFrom(scope: Scope): readonly Rights[] {
  const rung = rungOf(scope);
  return rung < 0 ? [] : LADDER.slice(rung);
}

export const lesserOf = (a: Rights, b: Rights): Rights => (LADDER.indexOf(a) < LADDER.indexOf(b) ? a : b);

function topRung(granted: ReadonlySet<Scope>): number {
  let top = 0;
  for (const scope of granted) top = Math.max(top, rungOf(scope));
  return top;
}
