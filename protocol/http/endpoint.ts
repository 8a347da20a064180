import type { z } from 'zod';
import { kept, type Scope } from '../contract.ts';

/** Answers other than one JSON object. */
type OtherAnswer = 'event-stream' | 'text' | 'html' | 'file';

/** Statuses of a success other than 200. With `200 or 201`, the binding says whether the call created something. */
type OtherStatus = 201 | 204 | 302 | '200 or 201';

/** One HTTP endpoint as clients see it, before its fields are mapped to a gateway method. */
export interface Endpoint<
  Q extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
  A extends OtherAnswer = OtherAnswer,
  S extends OtherStatus = OtherStatus,
> {
  verb: 'get' | 'post' | 'put' | 'delete';
  /** `{name}` stands for the request's field of that name; `{+name}`, only at the end, for one that may contain slashes. */
  path: `/${string}`;
  summary: string;
  scope: Scope;
  /** Query and body fields in one lenient object: missing fields take their defaults. */
  request(): Q;
  /** The JSON body of a success; for streams the schema of one `data:` object. Only documents and tests make it. */
  reply(): R;
  /** Default: 200. A 204 has no body, and a 302 only the header `Location`: their reply is not sent. */
  status?: S;
  /** Default: one JSON object. */
  answers?: A;
  /** The request is a form with one part per field, not JSON. */
  body?: 'multipart';
  /** The largest body, if it is more than `LIMITS.maxPayloadBytes`. */
  bodyBytes?: number;
  /** Refuse a form, because its fields would be ignored silently. */
  jsonOnly?: true;
  /** A form is accepted, too: its field `meta` has the JSON, and its fields `file` have files. */
  formToo?: true;
  /** Refuse a body that is not a JSON object, instead of treating it as an empty one. */
  strictBody?: true;
  /** A DELETE whose fields may be in a JSON body instead of the query, as clients of later releases send them. */
  bodyToo?: true;
  /** It takes no body, so a cookie counts whatever its type, and without one. Only for calls that other sites may well cause. */
  noBody?: true;
  /** Error statuses with their body text, for the documents. */
  errors?: Partial<Record<number, string>>;
  /** Accepts the header `Idempotency-Key`: a repeat gets the first answer. */
  idempotencyKey?: true;
}

/** An endpoint that answers with a JSON body. */
export type JsonEndpoint = Endpoint<z.ZodType, z.ZodType, never>;
/** An endpoint that answers with the bytes of a file. */
export type FileEndpoint = Endpoint<z.ZodType, z.ZodType, 'file'>;

/** Whether an endpoint's fields are in the body rather than in the query. */
export const hasBody = (verb: Endpoint['verb']): boolean => verb === 'post' || verb === 'put';

/** Types a row, and keeps the schema of its requests once it is made. */
export const endpoint = <
  Q extends z.ZodType,
  R extends z.ZodType,
  A extends OtherAnswer = never,
  S extends OtherStatus = never,
>(
  row: Endpoint<Q, R, A, S>,
) => ({ ...row, request: kept(row.request) });
