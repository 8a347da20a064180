import type { JWTVerifyGetKey } from 'jose';
import { jwtVerify } from 'jose';
import { ProviderError } from './provider-error.ts';

/** Only asymmetric ones: with HS256, a public key could be used as the secret. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const TOLERANCE_SECS = 60;
/** A token is issued in answer to the request for it. */
const MAX_AGE_SECS = 10 * 60;

interface Expected {
  issuer: string;
  clientId: string;
  nonce: string;
  nowMs: number;
}

/** The claims of an ID token for this client and this login (OpenID Connect Core, 3.1.3.7). Throws otherwise. */
export async function verifyIdToken(
  token: string,
  keys: JWTVerifyGetKey,
  { issuer, clientId, nonce, nowMs }: Expected,
): Promise<Record<string, unknown>> {
  const { payload } = await jwtVerify(token, keys, {
    algorithms: ALGORITHMS,
    issuer,
    audience: clientId,
    requiredClaims: ['sub', 'exp', 'iat', 'nonce'],
    currentDate: new Date(nowMs),
    clockTolerance: TOLERANCE_SECS,
    maxTokenAge: MAX_AGE_SECS,
  });
  const { sub, aud, azp } = payload;
  if (typeof sub !== 'string' || sub === '') throw invalid('the ID token has no subject');
  if (payload.nonce !== nonce) throw invalid('the ID token is for another login (nonce)');
  if (azp !== undefined && azp !== clientId) throw invalid('the ID token is for another client (azp)');
  if (Array.isArray(aud) && aud.length > 1 && azp === undefined)
    throw invalid('the ID token is for several clients and names none of them (azp)');
  return payload;
}

const invalid = (message: string) => new ProviderError('invalid_token', message);
