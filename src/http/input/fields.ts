import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Endpoint } from '../../../protocol/http/endpoint.ts';
import { check, problemsOf } from '../../../protocol/parse.ts';
import type { Exchange } from '../exchange.ts';
import { halfSurrogate, holdsEncodedSurrogate } from './surrogates.ts';

/** Parses request fields with the row's schema. The error names fields and never repeats input. */
export function read<E extends Endpoint>(endpoint: E, input: unknown): z.output<ReturnType<E['request']>> {
  const parsed = check(endpoint.request(), input);
  if (parsed.success) return parsed.data as z.output<ReturnType<E['request']>>;
  throw new GatewayError('INVALID_REQUEST', problemsOf(parsed.error));
}

/**
 * Rejects a query that is not UTF-8. Its bytes would otherwise be replaced silently, and the call would concern another
 * text.
 */
export function queryOf({ query }: Exchange): Record<string, string> {
  if (query === '') return {};
  const bytes = unescaped(query);
  if (holdsEncodedSurrogate(bytes)) throw halfSurrogate('query');
  if (!isUtf8(bytes)) throw new GatewayError('INVALID_REQUEST', 'The query is not UTF-8. Percent-encode UTF-8 text.');
  return Object.fromEntries(new URLSearchParams(query));
}

const unescaped = (text: string): Buffer =>
  Buffer.from(
    text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );

const MAX_KEY_LENGTH = 256;

/** The `Idempotency-Key` header of a request. Throws INVALID_REQUEST. */
export function keyOf(req: IncomingMessage): string | undefined {
  const key = req.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || key === '' || key.length > MAX_KEY_LENGTH) {
    throw new GatewayError('INVALID_REQUEST', `Idempotency-Key: must have 1 to ${MAX_KEY_LENGTH} characters`);
  }
  return key;
}
