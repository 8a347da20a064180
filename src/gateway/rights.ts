import { type Contract, GRANTED, LADDER, type Scope } from '../../protocol/contract.ts';
import { DECIDING, type Permission } from '../../protocol/methods/accounts/permissions.ts';
import type { Principal } from './auth/principal.ts';

/** A caller's position on the ladder of scopes. */
export type Rights = (typeof LADDER)[number];

const RUNGS: ReadonlyMap<Scope, number> = new Map(LADDER.map((scope, rung) => [scope, rung]));
/** -1 for a scope outside the ladder. */
const rungOf = (scope: Scope): number => RUNGS.get(scope) ?? -1;

/** The scopes that a credential can have. */
const KNOWN = [...GRANTED, 'service', 'node'] as const;

/** The scopes of a credential with all lower ones; `service` and `node` stand alone. */
export function expandScopes(scopes: readonly string[]): ReadonlySet<Scope> {
  const named = new Set<Scope>(KNOWN.filter((scope) => scopes.includes(scope)));
  const top = topRung(named);
  return new Set([...GRANTED.filter((scope) => rungOf(scope) <= top), ...named]);
}

/** Whether the granted scopes cover a scope: each scope of the ladder includes the lower ones. */
export function holds(granted: ReadonlySet<Scope>, needed: Scope): boolean {
  const rung = rungOf(needed);
  return rung < 0 ? granted.has(needed) : topRung(granted) >= rung;
}

/** Whether the scopes are those of a node, or of a machine that requests pairing. */
const isOfNode = (granted: ReadonlySet<Scope>): boolean => granted.has('node') || granted.has('pairing');

/**
 * Whether a caller may call methods with this scope. Nodes may call only their own methods; approvers may also request
 * pairing for a node.
 */
export function mayCall(granted: ReadonlySet<Scope>, needed: Scope): boolean {
  if (needed === 'public') return !isOfNode(granted);
  return holds(granted, needed) || (needed === 'pairing' && holds(granted, 'approve'));
}

export const rightsOf = (granted: ReadonlySet<Scope>): Rights => LADDER[topRung(granted)] ?? 'public';

/** Whether one of the needed permissions is held; a row may need none. */
export function holdsOneOf(held: ReadonlySet<Permission>, needed: Contract['permission']): boolean {
  if (needed === undefined) return true;
  return typeof needed === 'string' ? held.has(needed) : needed.some((permission) => held.has(permission));
}

/** What callers may do, as far as rows ask for it. */
export type Held = Pick<Principal, 'scopes' | 'permissions'>;

/** Whether someone receives the events of this row. */
export const mayReceive = ({ scopes, permissions }: Held, row: Pick<Contract, 'scope' | 'permission'>): boolean =>
  holds(scopes, row.scope) && holdsOneOf(permissions, row.permission);

/**
 * Whether a caller may answer questions about tool calls, and allow calls that would ask. The scope is not enough, because
 * every right to administer something grants it, too.
 */
export const mayDecide = (held: Held): boolean => mayReceive(held, { scope: 'approve', permission: DECIDING });

export const lesserOf = (a: Rights, b: Rights): Rights => (LADDER.indexOf(a) < LADDER.indexOf(b) ? a : b);

function topRung(granted: ReadonlySet<Scope>): number {
  let top = 0;
  for (const scope of granted) top = Math.max(top, rungOf(scope));
  return top;
}

/** Who sends a message, as stored with its run. */
export interface Sender {
  /** The id of the caller. */
  principal: string;
  rights: Rights;
  /** The user, if the caller acts for one. */
  sender?: string;
}
