import type { z } from 'zod';

/** What credentials are given; each includes those before it. */
export const GRANTED = ['read', 'write', 'approve'] as const;
/** How far up a caller stands; `public` is held by all. */
export const LADDER = ['public', ...GRANTED] as const;

/**
 * What a caller must have been granted. `read` < `write` < `approve`; the others stand beside the ladder. `pairing` is
 * what a machine may do that wants to become a node; `approve` may do that for it.
 */
export type Scope = (typeof LADDER)[number] | 'service' | 'node' | 'pairing';

/** One row of the protocol: what a method is called with, what it answers, who may call it. */
export interface Contract<P extends z.ZodType = z.ZodType, R extends z.ZodType = z.ZodType> {
  summary: string;
  scope: Scope;
  params: P;
  result: R;
  /** The first of two answers on one request id (only `agent` has one). */
  interim?: z.ZodType;
  /** The method takes `idempotencyKey`: a repeat with the same key and params gets the first answer, for 24 h. */
  idempotency?: 'required' | 'optional';
  /** What one call takes of a connection's inbound budget, in requests; 1 where it says nothing. */
  weight?: number;
  /** Calls that share this key never overlap. */
  serial?(params: z.output<P>): string;
}

/** Types a row; the identity at run time. */
export const contract = <P extends z.ZodType, R extends z.ZodType>(row: Contract<P, R>) => row;
