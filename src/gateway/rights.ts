import type { Scope } from '../../protocol/contract.ts';

/** How far up the ladder of scopes a caller stands; callers on one rung see the same events. */
export type Rights = 'public' | 'read' | 'write' | 'approve';

/** The others stand beside the ladder: they are held or not. */
const RUNGS: Record<Scope, number | undefined> = {
  public: 0,
  read: 1,
  write: 2,
  approve: 3,
  node: undefined,
  pairing: undefined,
  service: undefined,
};
const BY_RUNG: readonly Rights[] = ['public', 'read', 'write', 'approve'];

/** Whether these grants cover a scope: who holds a rung of the ladder holds those below it. */
export function holds(granted: ReadonlySet<Scope>, needed: Scope): boolean {
  const rung = RUNGS[needed];
  return rung === undefined ? granted.has(needed) : topRung(granted) >= rung;
}

/** Whether these grants are those of a node, or of a machine that wants to be one. */
export const isOfNode = (granted: ReadonlySet<Scope>): boolean => granted.has('node') || granted.has('pairing');

/** Whether what needs this scope may be called: nodes do nothing but their own, and who approves may ask for a node. */
export function mayCall(granted: ReadonlySet<Scope>, needed: Scope): boolean {
  if (needed === 'public') return !isOfNode(granted);
  return holds(granted, needed) || (needed === 'pairing' && holds(granted, 'approve'));
}

export const rightsOf = (granted: ReadonlySet<Scope>): Rights => BY_RUNG[topRung(granted)] ?? 'public';

/** Every rung from which one sees what needs `scope`. */
export function rightsFrom(scope: Scope): readonly Rights[] {
  const rung = RUNGS[scope];
  return rung === undefined ? [] : BY_RUNG.slice(rung);
}

export const lesserOf = (a: Rights, b: Rights): Rights => (BY_RUNG.indexOf(a) < BY_RUNG.indexOf(b) ? a : b);

function topRung(granted: ReadonlySet<Scope>): number {
  let top = 0;
  for (const scope of granted) top = Math.max(top, RUNGS[scope] ?? 0);
  return top;
}
