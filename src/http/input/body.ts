import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../../protocol/errors.ts';
import { isRecord } from '../../../protocol/is-record.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { findPrototypeName } from './prototype-names.ts';
import { halfSurrogate, holdsEncodedSurrogate, holdsHalfSurrogate } from './surrogates.ts';

/** Stands for a body that cannot be parsed or is not an object. */
export const UNREADABLE: Record<string, unknown> = Object.freeze({});

/** Receives a body. Called once; a promise would cost as much as reading a small body. */
interface Taker<T> {
  take(body: T): void;
  fail(error: unknown): void;
  /** The largest body, in bytes. */
  most?: number | undefined;
}

/**
 * Reads a JSON body, whatever its declared type: `curl -d` sends "form". A body that cannot be parsed or is not an
 * object counts as an empty object, as specified: UNREADABLE. Requests from other sites' pages have been refused
 * before. Fails with PAYLOAD_TOO_LARGE beyond the limit; the caller then answers and closes. Fails with INVALID_REQUEST
 * when a text in it holds half of a surrogate pair or a property is named `__proto__`. Never decompresses.
 */
export function readBody(
  req: IncomingMessage,
  { take, fail, most = LIMITS.maxPayloadBytes }: Taker<Record<string, unknown>>,
): void {
  const { 'content-length': length, 'content-type': type } = req.headers;
  if (Number(length ?? 0) > most) return void fail(tooLarge());
  const parse = isMultipart(type) ? () => ({}) : toObject;
  readAll(req, {
    most,
    fail,
    take(bytes) {
      let body: Record<string, unknown>;
      try {
        body = parse(bytes);
      } catch (error) {
        return void fail(error);
      }
      take(body);
    },
  });
}

/** Uploads have separate endpoints. JSON sent as multipart is ignored. */
export const isMultipart = (contentType: string | undefined): boolean => /^\s*multipart\//i.test(contentType ?? '');

export const isDeclaredJson = (contentType: string | undefined): boolean =>
  contentType !== undefined && /^\s*application\/json\s*(;|$)/i.test(contentType);

const tooLarge = () => new GatewayError('PAYLOAD_TOO_LARGE', 'Request body too large');

/** The bytes of a body. Rejects as `readBody` fails. */
export const readBytes = (req: IncomingMessage, most: number): Promise<Buffer> =>
  new Promise((take, fail) => {
    if (Number(req.headers['content-length'] ?? 0) > most) fail(tooLarge());
    else readAll(req, { most, take, fail });
  });

function readAll(req: IncomingMessage, { take, fail, most }: Taker<Buffer> & { most: number }): void {
  const length = Number(req.headers['content-length'] ?? Number.NaN);
  const chunks: Buffer[] = [];
  let size = 0;
  let isSettled = false;
  const settle = (tell: () => void) => {
    if (!isSettled) {
      isSettled = true;
      tell();
    }
  };
  const end = () => settle(() => take(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
  req.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > most) {
      chunks.length = 0; // the rest is read and discarded while the client gets its answer
      settle(() => fail(tooLarge()));
    } else chunks.push(chunk);
    if (size === length) end(); // Node emits `end` one turn later
  });
  if (!(length > 0)) req.on('end', end); // chunked or empty
  req.on('error', (cause) =>
    settle(() => fail(new GatewayError('INVALID_REQUEST', 'The request body ended early', { cause }))),
  );
}

/** The JSON object that bytes hold, or UNREADABLE. Throws INVALID_REQUEST as `readBody` does. */
export function toObject(bytes: Buffer): Record<string, unknown> {
  if (bytes.length === 0) return {};
  if (!isUtf8(bytes)) {
    if (holdsEncodedSurrogate(bytes)) throw halfSurrogate('body');
    return UNREADABLE;
  }
  const text = bytes.toString('utf8');
  const value = parsed(text);
  if (!isRecord(value)) return UNREADABLE;
  // Valid UTF-8 can hold half of a pair only as an escape.
  if (text.includes('\\u') && holdsHalfSurrogate(value)) throw halfSurrogate('body');
  const refusal = findPrototypeName(text, value);
  if (refusal) throw refusal;
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
