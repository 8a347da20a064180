import { hash, type webcrypto } from 'node:crypto';
import type { Clock } from '../../../clock.ts';

const ISSUER = 'headgate';
const AUDIENCE = 'headgate';
/** A separate token type, so that other JWTs are not accepted as logins. */
const TYPE = 'headgate-login+jwt';
const MAX_VERIFIED = 1_024;

interface JwtDeps {
  key: webcrypto.CryptoKey;
  clock: Pick<Clock, 'now'>;
}

interface SignedClaims {
  jti: string;
  subject: string;
  /** Of the user; a login of an earlier version has ended. */
  version: number;
  expiresAtMs: number;
  /** It takes the place of a cookie, so it stays a browser's wherever it is used. */
  browser: boolean;
}

// The package is loaded with the first login, because many daemons have none.

export async function signLogin(deps: JwtDeps, claims: SignedClaims): Promise<string> {
  const { SignJWT } = await import('jose/jwt/sign');
  const nowSecs = Math.floor(deps.clock.now() / 1000);
  return new SignJWT({ ver: claims.version, ...(claims.browser && { brw: true }) })
    .setProtectedHeader({ alg: 'HS256', typ: TYPE })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(claims.subject)
    .setJti(claims.jti)
    .setIssuedAt(nowSecs)
    .setNotBefore(nowSecs)
    .setExpirationTime(Math.floor(claims.expiresAtMs / 1000))
    .sign(deps.key);
}

/** The session of a token that we signed, and its version of the user. */
interface Claims {
  jti: string;
  version: number;
  browser: boolean;
}

/** The algorithm is fixed here and not taken from the token. */
async function readClaims(jwt: string, { key, clock }: JwtDeps): Promise<Claims | undefined> {
  const { jwtVerify } = await import('jose/jwt/verify');
  try {
    const { payload } = await jwtVerify(jwt, key, {
      algorithms: ['HS256'],
      issuer: ISSUER,
      audience: AUDIENCE,
      typ: TYPE,
      requiredClaims: ['sub', 'jti', 'iat', 'nbf', 'exp'],
      currentDate: new Date(clock.now()),
    });
    const { jti, ver = 0, brw } = payload; // logins of earlier releases have no version
    return jti !== undefined && typeof ver === 'number' ? { jti, version: ver, browser: brw === true } : undefined;
  } catch {
    return undefined; // an invalid token authenticates nobody
  }
}

/** Reads the claims of logins that we signed. Remembers verified signatures by digest; the session itself must still be checked. */
export function createClaimsReader(deps: JwtDeps): (jwt: string) => Promise<Claims | undefined> {
  const known = new Map<string, Claims>();
  const remember = (digest: string, claims: Claims) => {
    known.delete(digest);
    known.set(digest, claims);
    const [oldest] = known.keys();
    if (known.size > MAX_VERIFIED && oldest !== undefined) known.delete(oldest);
  };
  return async (jwt) => {
    const digest = hash('sha256', jwt, 'base64');
    const claims = known.get(digest) ?? (await readClaims(jwt, deps));
    if (claims !== undefined) remember(digest, claims);
    return claims;
  };
}
