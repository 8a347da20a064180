import { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from './errors.ts';

/** A string that must not be empty: the specification's "minLength 1". */
export const NonEmpty = z.string().min(1);
const MAX_KEY = 256;
/** Names a call, so that one made again under it has no second effect. */
export const IdempotencyKey = NonEmpty.max(MAX_KEY);
/** For an optional field of a request: clients that have nothing to say may send `""`, which counts as left out. */
const emptyIsAbsent = (text: z.ZodString) => text.transform((said) => (said === '' ? undefined : said));
const textOf = (maxLength?: number) => (maxLength === undefined ? z.string() : z.string().max(maxLength));
/** A text that may be left out; `""` counts as left out. */
export const optionalText = (maxLength?: number) => emptyIsAbsent(textOf(maxLength)).optional();
/** As optionalText, of a length that keys may have. */
export const optionalKey = () => optionalText(MAX_KEY);
/** As optionalText, for clients that write null for nothing. */
export const nullishText = (maxLength?: number) => emptyIsAbsent(textOf(maxLength)).nullish();
const codes = Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]];

/** Why a request was refused. `retryable`: the same request may succeed later; `retryAfterMs`: not before that. */
export const ErrorShape = z
  .strictObject({
    code: z.enum(codes),
    message: NonEmpty,
    details: z.unknown().optional(),
    retryable: z.boolean().optional(),
    retryAfterMs: z.int().min(0).optional(),
  })
  .meta({ id: 'ErrorShape' });

/** Counters of the states that events carry: a client drops what is older than what it has. */
export const StateVersion = z
  .strictObject({ presence: z.int().min(0), health: z.int().min(0) })
  .meta({ id: 'StateVersion' });

/** A call; `id` is the client’s own and comes back with the answer. */
export const RequestFrame = z
  .strictObject({ type: z.literal('req'), id: NonEmpty, method: NonEmpty, params: z.unknown().optional() })
  .meta({ id: 'RequestFrame' });

/** The answer to the request with this `id`: `payload` where `ok`, otherwise `error`. */
export const ResponseFrame = z
  .strictObject({
    type: z.literal('res'),
    id: NonEmpty,
    ok: z.boolean(),
    payload: z.unknown().optional(),
    error: ErrorShape.optional(),
  })
  .meta({ id: 'ResponseFrame' });

/** News without a request. `seq` counts the broadcasts of a connection, so that a client notices a gap. */
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
