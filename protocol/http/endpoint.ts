import type { z } from 'zod';
import type { Scope } from '../contract.ts';

/** What an endpoint answers instead of one JSON object. */
type OtherAnswer = 'event-stream' | 'text' | 'html' | 'file';

/** One HTTP endpoint as clients see it: the wire names, before any mapping to a gateway method. */
export interface Endpoint<
  Q extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
  A extends OtherAnswer = OtherAnswer,
> {
  verb: 'get' | 'post' | 'put' | 'delete';
  /** `{name}` stands for the request's field of that name, `{+name}` at the end for one that may hold slashes. */
  path: `/${string}`;
  summary: string;
  scope: Scope;
  /** Query and body fields in one lenient object: missing fields take their defaults. */
  request: Q;
  /** The JSON body of a success; for streams the schema of one `data:` object. */
  reply: R;
  /** Left out: 200. A 204 has no body, and a 302 says in the header `Location` where to go: nothing of their reply is sent. */
  status?: 201 | 204 | 302;
  /** Left out: one JSON object. */
  answers?: A;
  /** What is sent instead of JSON: one part per field. */
  body?: 'multipart';
  /** A form is refused: what it carries would be lost without a word. */
  jsonOnly?: true;
  /** Error statuses with their body text, for the documents. */
  errors?: Partial<Record<number, string>>;
  /** A header by which a repeat gets the first answer. */
  idempotencyKey?: true;
}

/** Endpoints by what a client has to read. */
export type JsonEndpoint = Endpoint<z.ZodType, z.ZodType, never>;
/** Answered by the bytes of a file. */
export type FileEndpoint = Endpoint<z.ZodType, z.ZodType, 'file'>;

/** Whether an endpoint's fields come as a body rather than in the query. */
export const hasBody = (verb: Endpoint['verb']): boolean => verb === 'post' || verb === 'put';

/** Types a row; the identity at run time. */
export const endpoint = <Q extends z.ZodType, R extends z.ZodType, A extends OtherAnswer = never>(
  row: Endpoint<Q, R, A>,
) => row;
