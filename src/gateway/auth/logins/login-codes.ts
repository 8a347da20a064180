import { hash } from 'node:crypto';
import { LIMITS } from '../../../../protocol/limits.ts';
import type { Clock } from '../../../clock.ts';
import type { Ids } from '../../../ids.ts';
import { expandScopes } from '../../rights.ts';
import { type Statement, type Store, UnitRefused } from '../../store/store.ts';
import type { Users } from '../../users/users.ts';
import { clampEnd, type Lineage, type Minter, narrow, parentEnded, parentOf, toColumns } from '../lineage.ts';
import type { Parent } from '../parent.ts';

const CODE_BYTES = 16;
/** Beyond this, the oldest codes expire by the wall clock only, like those of an earlier process. */
const MAX_REMEMBERED = 1_000;

/** One-time codes that a browser exchanges for a login session. */
export interface LoginCodes {
  /** Throws UNAUTHORIZED when the minter's parent has ended. */
  issue(minter: Minter, also?: readonly Statement[]): Promise<{ code: string; expiresAtMs: number }>;
  /** Uses up the code and returns the parent for the session. Of two simultaneous calls, one succeeds. */
  redeem(code: string): Promise<Minter | undefined>;
  /** Deletes the codes below these tokens. */
  revokeBelow(tokenIds: readonly string[]): Promise<void>;
}

interface LoginCodesDeps {
  store: Pick<Store, 'db' | 'commit'>;
  clock: Clock;
  ids: Pick<Ids, 'secret'>;
  lineage: Lineage;
  users: Pick<Users, 'versionOf'>;
}

export function createLoginCodes({ store, clock, ids, lineage, users }: LoginCodesDeps): LoginCodes {
  /**
   * Expiry of this process's codes by digest, in monotonic milliseconds, so that a clock set back does not prolong
   * them.
   */
  const ends = new Map<string, number>();
  const remember = (digest: string) => {
    ends.set(digest, clock.monotonic() + LIMITS.loginCodeMs);
    const [oldest] = ends.keys();
    if (ends.size > MAX_REMEMBERED && oldest !== undefined) ends.delete(oldest);
  };
  const versionOf = ({ kind, id }: Parent) => (kind === 'user' ? users.versionOf(id) : undefined);
  const isOver = (digest: string) => (ends.get(digest) ?? Number.POSITIVE_INFINITY) <= clock.monotonic();

  return {
    async issue({ parent, scopes }, also = []) {
      const bounds = lineage.boundsOf(parent);
      if (bounds === undefined) throw parentEnded();
      const code = ids.secret(CODE_BYTES);
      remember(digestOf(code));
      const expiresAtMs = clampEnd(clock.now() + LIMITS.loginCodeMs, bounds);
      const row = {
        code_hash: digestOf(code),
        ...toColumns(parent),
        scopes: narrow(scopes, bounds).join(','),
        expires_ms: expiresAtMs,
        used_ms: null,
      };
      const stale = store.db.deleteFrom('login_codes').where('expires_ms', '<=', clock.now());
      const issued = store.db.insertInto('login_codes').values(row);
      // Every start issues one; after a power loss, the next start issues another.
      await store.commit({ statements: [stale.compile(), issued.compile(), ...also], mayWait: also.length === 0 });
      return { code, expiresAtMs };
    },
    async redeem(code) {
      const nowMs = clock.now();
      const digest = digestOf(code);
      if (isOver(digest)) return undefined;
      const row = await store.db
        .selectFrom('login_codes')
        .select(['parent_kind', 'parent_id', 'scopes'])
        .where('code_hash', '=', digest)
        .executeTakeFirst();
      // A code whose parent has ended is invalid, and is not used up.
      if (row === undefined || lineage.boundsOf(parentOf(row)) === undefined) return undefined;
      const parent = parentOf(row);
      // A new password deletes the user's codes. If it comes after the use, the login has the version from before it.
      const version = versionOf(parent);
      const use = store.db
        .updateTable('login_codes')
        .set({ used_ms: nowMs })
        .where('code_hash', '=', digest)
        .where('used_ms', 'is', null)
        .where('expires_ms', '>', nowMs);
      try {
        await store.commit({ statements: [{ ...use.compile(), expect: 1 }] });
        return { parent, scopes: expandScopes(row.scopes.split(',')), version };
      } catch (error) {
        if (error instanceof UnitRefused) return undefined; // already used, or expired
        throw error;
      }
    },
    async revokeBelow(tokenIds) {
      const gone = store.db
        .deleteFrom('login_codes')
        .where('parent_kind', '=', 'token')
        .where('parent_id', 'in', tokenIds);
      await store.commit({ statements: [gone.compile()] });
    },
  };
}

const digestOf = (code: string) => hash('sha256', code);
