import { timingSafeEqual, webcrypto } from 'node:crypto';
import type { Clock } from '../../../clock.ts';
import type { Ids } from '../../../ids.ts';

/** How long a person may stay at the provider. */
export const PENDING_MS = 10 * 60_000;
const ID_BYTES = 16;
/** Beyond this, the oldest used logins are forgotten; their codes are still used up at the provider. */
const MAX_USED = 10_000;

export interface AskedLogin {
  /** The person has to prove again who they are, even with a session at the provider. */
  isFresh: boolean;
  /** The session that the browser has before. Its cookie does not come with the answer, which another site causes. */
  follows?: string | undefined;
}

/** What ties the answer of the provider to the request and the browser. */
export interface LoginChecks extends AskedLogin {
  state: string;
  nonce: string;
  /** Of PKCE. */
  verifier: string;
}

/**
 * Logins between the request and the answer of the provider. The browser keeps each one as a sealed text, from which its
 * checks follow, so that nobody fills the memory of the daemon, and a restart does not interrupt logins.
 */
export interface PendingLogins {
  begin(asked: AskedLogin): Promise<{ sealed: string; checks: LoginChecks; expiresAtMs: number }>;
  /** Uses it up. Undefined if it is not ours, has expired, was used, or the state is that of another login. */
  finish(sealed: string, state: string): Promise<LoginChecks | undefined>;
}

interface PendingDeps {
  /** Signs; of this machine. */
  key: webcrypto.CryptoKey;
  /** A pending login counts only for the same provider and client. */
  context: readonly string[];
  clock: Pick<Clock, 'now'>;
  ids: Pick<Ids, 'secret'>;
}

export function createPendingLogins({ key, context, clock, ids }: PendingDeps): PendingLogins {
  const used = new Map<string, number>();

  /** The line breaks keep it apart from everything else that the key signs. */
  async function derive(purpose: string, ...parts: readonly string[]): Promise<string> {
    const text = JSON.stringify(['oidc login', purpose, context, parts], null, 1);
    const mac = await webcrypto.subtle.sign('HMAC', key, Buffer.from(text));
    return Buffer.from(mac).toString('base64url');
  }

  async function toChecks(body: string, { isFresh, follows }: AskedLogin): Promise<LoginChecks> {
    const [state, nonce, verifier] = await Promise.all(
      ['state', 'nonce', 'verifier'].map((purpose) => derive(purpose, body)),
    );
    return { state: state ?? '', nonce: nonce ?? '', verifier: verifier ?? '', isFresh, follows };
  }

  /** False for the second use. */
  function use(body: string, expiresAtMs: number): boolean {
    if (used.has(body)) return false;
    for (const [other, endMs] of used) if (endMs <= clock.now()) used.delete(other);
    used.set(body, expiresAtMs);
    const [oldest] = used.keys();
    if (used.size > MAX_USED && oldest !== undefined) used.delete(oldest);
    return true;
  }

  return {
    async begin(asked) {
      const expiresAtMs = clock.now() + PENDING_MS;
      const body = `${ids.secret(ID_BYTES)}.${expiresAtMs}.${asked.isFresh ? 1 : 0}${asked.follows ? `.${asked.follows}` : ''}`;
      return { sealed: `${body}.${await derive('seal', body)}`, checks: await toChecks(body, asked), expiresAtMs };
    },
    async finish(sealed, state) {
      const [body, endText, fresh, follows, seal] =
        /^([0-9a-f]{32}\.(\d{1,15})\.([01])(?:\.([\w.-]{1,200}))?)\.([\w-]{43})$/.exec(sealed)?.slice(1) ?? [];
      if (body === undefined || seal === undefined) return undefined;
      if (!isSame(seal, await derive('seal', body))) return undefined;
      const leftMs = Number(endText) - clock.now();
      if (leftMs <= 0 || leftMs > PENDING_MS) return undefined;
      const checks = await toChecks(body, { isFresh: fresh === '1', follows });
      return isSame(state, checks.state) && use(body, Number(endText)) ? checks : undefined;
    },
  };
}

function isSame(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
