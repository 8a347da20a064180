import type { z } from 'zod';
import type { Permission } from './methods/accounts/permissions.ts';

/** The scopes of credentials; each includes the ones before it. */
export const GRANTED = ['read', 'write', 'approve'] as const;
/** The scopes that an API token can have. */
export const TOKEN_SCOPES = [...GRANTED, 'service'] as const;
/** The scopes in ascending order; every caller has `public`. */
export const LADDER = ['public', ...GRANTED] as const;

/**
 * The right that a method requires. `read` < `write` < `approve`; the others are separate. `pairing` is for a machine that
 * wants to become a node; callers with `approve` have it, too. `service` is for a machine that calls the daemon as part of
 * the same installation; its token has the ladder, too, and no permission check stops it.
 */
export type Scope = (typeof LADDER)[number] | 'service' | 'node' | 'pairing';

/**
 * One row of the protocol: the params, the result and the scope of a method. Its schemas are made at their first use: most
 * starts need few of them, and three thousand delay a start.
 */
export interface Contract<P extends z.ZodType = z.ZodType, R extends z.ZodType = z.ZodType> {
  summary: string;
  scope: Scope;
  /**
   * Needed in addition to the scope; a user holds it through a role. Of several, one is enough. The scope `approve` alone is
   * no right to anything that is not the caller's own: each `admin.…` permission grants it.
   */
  permission?: Permission | readonly Permission[];
  /**
   * Service tokens are refused although no permission stops them: the method creates credentials or gives rights, and
   * both would outlive the hour of such a token; or only people decide about it, as about what coordinators do.
   */
  refusesServices?: true;
  /**
   * Whether a browser session must have proved less than five minutes ago whose it is. Other credentials are not asked:
   * they are no session that somebody left open.
   */
  stepUp?(params: z.output<P>): boolean;
  params(): P;
  result(): R;
  /** The first of two answers on one request id (only `agent` has one). */
  interim?(): z.ZodType;
  /** The method accepts an `idempotencyKey`: for 24 h, a repeat with the same key and params gets the first answer. */
  idempotency?: 'required' | 'optional';
  /**
   * Calls are recorded under this action. `id`: the field of the params or of the result that names what was acted on, a
   * `user` for `user.create`.
   */
  audit?: {
    action: `${string}.${string}`;
    id?: string;
    /** The kind of thing that `id` names. Default: the beginning of the action. */
    of?: string;
    /** Only calls with such params, which are not checked yet, are recorded; others, if the handler asks for it. */
    when?(params: Readonly<Record<string, unknown>>): boolean;
    /** The param with a typed username. A refused call records it only if a user has it: people type passwords there. */
    username?: string;
    /** Only the handler knows whether something happened. */
    by?: 'handler';
  };
  /** How much one call takes of a connection's rate limit, in requests. Default: 1. */
  weight?: number;
  /** Calls that share this key never overlap. */
  serial?(params: z.output<P>): string;
}

/** For rows whose every call needs a fresh proof of a browser session. */
export const always = () => true;

/** Types a row, and keeps its schemas once they are made. */
export const contract = <P extends z.ZodType, R extends z.ZodType>(row: Contract<P, R>) => ({
  ...row,
  params: kept(row.params),
  result: kept(row.result),
});

/** Returns what `make` made the first time. */
export function kept<T>(make: () => T): () => T {
  let made: { it: T } | undefined;
  return () => {
    made ??= { it: make() };
    return made.it;
  };
}
