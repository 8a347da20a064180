import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';

interface Answered {
  status: number;
  headers: Headers | IncomingHttpHeaders;
  text: string;
}

/**
 * The body of an answer, parsed if it is JSON. The body of an error must name its request as the header `X-Request-Id`
 * does; the rest of it is returned, because ids differ from request to request.
 */
// biome-ignore lint/suspicious/noExplicitAny: whatever the wire carries; tests compare it.
export function bodyOf({ status, headers, text }: Answered): any {
  const body = parsed(text);
  if (status < 400 || typeof body !== 'object' || body === null) return body;
  const { request_id: id, ...rest } = body as Record<string, unknown>;
  assert.match(String(id), /^[\w.-]{1,64}$/, `an error without the id of its request: ${text}`);
  assert.equal(id, headers instanceof Headers ? headers.get('x-request-id') : headers['x-request-id']);
  return rest;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // some answers are plain text
  }
}
