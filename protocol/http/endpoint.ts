import type { z } from 'zod';
import type { Scope } from '../contract.ts';

/** One HTTP endpoint as clients see it: the wire names, before any mapping to a gateway method. */
export interface Endpoint<Q extends z.ZodType = z.ZodType, R extends z.ZodType = z.ZodType> {
  verb: 'get' | 'post';
  path: `/${string}`;
  summary: string;
  scope: Scope;
  /** Query and body fields in one lenient object: missing fields take their defaults. */
  request: Q;
  /** The JSON body of a 200; for streams the schema of one `data:` object. */
  reply: R;
  /** What is answered instead of one JSON object. */
  answers?: 'event-stream' | 'text' | 'html';
  /** Error statuses with their body text, for the documents. */
  errors?: Partial<Record<number, string>>;
  /** A header by which a repeat gets the first answer. */
  idempotencyKey?: true;
}

export const endpoint = <Q extends z.ZodType, R extends z.ZodType>(row: Endpoint<Q, R>) => row;
