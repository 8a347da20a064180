import { hash } from 'node:crypto';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import { type Store, UnitRefused } from '../store/store.ts';

const CODE_BYTES = 16;

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
  return {
    async issue(principalId) {
      const code = ids.secret(CODE_BYTES);
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
