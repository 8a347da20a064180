import { createHmac } from 'node:crypto';
import { isSameText } from '../calls/same-text.ts';

const PREFIX = 'sha256=';

/**
 * Whether `X-Hub-Signature-256` signs exactly these bytes. JSON that was parsed and written again has another signature,
 * so the body must be the one that arrived.
 */
export function isSigned(body: Uint8Array, header: string | undefined, appSecret: string): boolean {
  if (appSecret === '' || !header?.startsWith(PREFIX)) return false;
  const expected = createHmac('sha256', appSecret).update(body).digest('hex');
  return isSameText(header.slice(PREFIX.length), expected);
}

/** What the verification of a webhook answers; undefined: it is not Meta's, or the token is wrong. */
export function toChallenge(query: URLSearchParams, verifyToken: string): string | undefined {
  const [mode, token, challenge] = ['mode', 'verify_token', 'challenge'].map((name) => query.get(`hub.${name}`));
  if (mode !== 'subscribe' || verifyToken === '' || !isSameText(token ?? '', verifyToken)) return undefined;
  return challenge ?? undefined;
}
