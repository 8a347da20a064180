import { LIMITS } from '../../protocol/limits.ts';
import type { Via } from './bind.ts';

export const COOKIE = 'service_auth';

/** The cookie of a login session. */
export const loginCookie = (jwt: string, via: Via): string => cookie(jwt, LIMITS.cookieMs / 1000, via);

export const expiredCookie = (via: Via): string => cookie('', 0, via);

function cookie(value: string, maxAgeSecs: number, { loopback }: Via): string {
  const secure = loopback ? '' : '; Secure';
  return `${COOKIE}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSecs}${secure}`;
}
