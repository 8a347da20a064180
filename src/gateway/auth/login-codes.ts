import { hash } from 'node:crypto';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import { type Store, UnitRefused } from '../store/store.ts';

const CODE_BYTES = 16;
/** Beyond it the oldest code is held against the wall clock alone, like one of an earlier process. */
const MAX_REMEMBERED = 1_000;

/** One-time codes that a browser exchanges for a login session. */
export interface LoginCodes {
  issue(principalId: string): Promise<{ code: string; expiresAtMs: number }>;
  /** Whose code it is. Uses it up: of two that come at once, one gets the answer. */
  redeem(code: string): Promise<string | undefined>;
}

interface LoginCodesDeps {
  store: Pick<Store, 'db' | 'commit'>;
  clock: Clock;
  ids: Pick<Ids, 'secret'>;
}

export function createLoginCodes({ store, clock, ids }: LoginCodesDeps): LoginCodes {
  /** When codes of this process are over, in monotonic milliseconds, by digest: a clock set back prolongs none. */
  const ends = new Map<string, number>();
  const remember = (digest: string) => {
    ends.set(digest, clock.monotonic() + LIMITS.loginCodeMs);
    const [oldest] = ends.keys();
    if (ends.size > MAX_REMEMBERED && oldest !== undefined) ends.delete(oldest);
  };
  const isOver = (digest: string) => (ends.get(digest) ?? Number.POSITIVE_INFINITY) <= clock.monotonic();

  return {
    async issue(principalId) {
      const code = ids.secret(CODE_BYTES);
      remember(digestOf(code));
      const expiresAtMs = clock.now() + LIMITS.loginCodeMs;
      const row = { code_hash: digestOf(code), principal: principalId, expires_ms: expiresAtMs, used_ms: null };
      const stale = store.db.deleteFrom('login_codes').where('expires_ms', '<=', clock.now());
      const issued = store.db.insertInto('login_codes').values(row);
      await store.commit({ statements: [stale.compile(), issued.compile()] });
      return { code, expiresAtMs };
    },
    async redeem(code) {
      const nowMs = clock.now();
      const digest = digestOf(code);
      if (isOver(digest)) return undefined;
      const row = await store.db
        .selectFrom('login_codes')
        .select('principal')
        .where('code_hash', '=', digest)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const use = store.db
        .updateTable('login_codes')
        .set({ used_ms: nowMs })
        .where('code_hash', '=', digest)
        .where('used_ms', 'is', null)
        .where('expires_ms', '>', nowMs);
      try {
        await store.commit({ statements: [{ ...use.compile(), expect: 1 }] });
        return row.principal;
      } catch (error) {
        if (error instanceof UnitRefused) return undefined; // used before, or too late
        throw error;
      }
    },
  };
}

const digestOf = (code: string) => hash('sha256', code);
