import { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from './errors.ts';

/** A string that must not be empty: the specification's "minLength 1". */
export const NonEmpty = z.string().min(1);
const MAX_KEY = 256;
/** PostgreSQL cannot store a NUL character and gets another one instead, so two keys would become the same one there. */
const isWithoutNul = (key: string): boolean => !key.includes('\0');
const NUL_IN_KEY = 'must not contain NUL characters';
/** A name for a call; repeating the call with it has no second effect. */
export const IdempotencyKey = NonEmpty.max(MAX_KEY).refine(isWithoutNul, NUL_IN_KEY);
/** For optional fields of requests: clients may send `""`, which counts as absent. */
const emptyIsAbsent = (text: z.ZodString) => text.transform((said) => (said === '' ? undefined : said));
const textOf = (maxLength?: number) => (maxLength === undefined ? z.string() : z.string().max(maxLength));
/** An optional text; `""` counts as absent. */
export const optionalText = (maxLength?: number) => emptyIsAbsent(textOf(maxLength)).optional();
/** Like optionalText, with the maximum length of keys. */
export const optionalKey = () => emptyIsAbsent(textOf(MAX_KEY).refine(isWithoutNul, NUL_IN_KEY)).optional();
/** Like optionalText, for clients that send null for an absent value. */
export const nullishText = (maxLength?: number) => emptyIsAbsent(textOf(maxLength)).nullish();
const codes = Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]];

/** Why a request was refused. `retryable`: the same request may succeed later, but not before `retryAfterMs`. */
export const ErrorShape = z
  .strictObject({
    code: z.enum(codes),
    message: NonEmpty,
    details: z.unknown().optional(),
    retryable: z.boolean().optional(),
    retryAfterMs: z.int().min(0).optional(),
  })
  .meta({ id: 'ErrorShape' });

/** Version counters of the state in events: a client ignores a state older than its own. */
export const StateVersion = z
  .strictObject({ presence: z.int().min(0), health: z.int().min(0) })
  .meta({ id: 'StateVersion' });

/** A call; the client chooses its `id`, which the answer repeats. */
export const RequestFrame = z
  .strictObject({ type: z.literal('req'), id: NonEmpty, method: NonEmpty, params: z.unknown().optional() })
  .meta({ id: 'RequestFrame' });

/** The answer to the request with this `id`: `payload` if `ok`, otherwise `error`. */
export const ResponseFrame = z
  .strictObject({
    type: z.literal('res'),
    id: NonEmpty,
    ok: z.boolean(),
    payload: z.unknown().optional(),
    error: ErrorShape.optional(),
  })
  .meta({ id: 'ResponseFrame' });

/** An event of the gateway. `seq` counts the broadcasts of a connection, so that a client notices a gap. */
export const EventFrame = z
  .strictObject({
    type: z.literal('event'),
    event: NonEmpty,
    payload: z.unknown().optional(),
    seq: z.int().min(0).optional(),
    stateVersion: StateVersion.optional(),
  })
  .meta({ id: 'EventFrame' });

/** Any frame of the gateway protocol. Unknown properties are refused. */
export const Frame = z.discriminatedUnion('type', [RequestFrame, ResponseFrame, EventFrame]).meta({ id: 'Frame' });

export type ErrorShape = z.infer<typeof ErrorShape>;
export type StateVersion = z.infer<typeof StateVersion>;
export type RequestFrame = z.infer<typeof RequestFrame>;
export type ResponseFrame = z.infer<typeof ResponseFrame>;
export type EventFrame = z.infer<typeof EventFrame>;
export type Frame = z.infer<typeof Frame>;
