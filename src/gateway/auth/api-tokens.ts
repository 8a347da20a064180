import { hash } from 'node:crypto';
import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { ApiToken, TokenScope } from '../../../protocol/methods/token.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import type { Principal } from '../call.ts';
import type { ApiTokenTable } from '../store/schema.ts';
import type { Store } from '../store/store.ts';
import { runExpiry } from './expiry.ts';
import { expandScopes } from './scopes.ts';

/** What tells a token from a JWT, and a secret scanner what it has found. */
export const TOKEN_PREFIX = 'svc_';
/** A use is written down at most this often. */
const USED_EVERY_MS = 60_000;

/** Credentials of programs, each with a scope of its own. Only their digests are kept. */
export interface ApiTokens {
  /** The answer holds the token itself, this once. CONFLICT when the name is taken or there are too many. */
  create(asked: NewApiToken): Promise<ApiToken & { token: string }>;
  /** Those that count or did until they expired, oldest first. */
  list(): ApiToken[];
  /** Ends what is open under the token at once. False when there is none of this id. */
  revoke(tokenId: string): Promise<boolean>;
  find(token: string): Principal | undefined;
  /** Ends tokens whose time is over, until aborted. */
  run(signal: AbortSignal): Promise<void>;
}

export interface NewApiToken {
  name: string;
  scope: TokenScope;
  /** Never when left out. */
  expiresInMs?: number | undefined;
  /** The principal that asked for it. */
  createdBy: string;
}

interface ApiTokensDeps {
  store: Pick<Store, 'db' | 'commit'>;
  clock: Clock;
  ids: Pick<Ids, 'id' | 'secret'>;
  log: Log;
}

interface Entry {
  row: ApiTokenTable;
  principal: Principal;
  end: AbortController;
}

export async function openApiTokens(deps: ApiTokensDeps): Promise<ApiTokens> {
  const { store, clock, ids } = deps;
  const entries = new Map((await loadRows(store)).map((row) => [row.token_hash, toEntry(row)]));

  const isStanding = ({ row }: Entry) => row.expires_ms === null || row.expires_ms > clock.now();
  const end = ({ end }: Entry, why: string) => end.abort(new Error(why));

  return {
    async create({ name, scope, expiresInMs, createdBy }) {
      if (entries.size >= LIMITS.apiTokens)
        throw new GatewayError('CONFLICT', `There are ${entries.size} tokens already; revoke some`);
      if ([...entries.values()].some(({ row }) => row.name === name)) throw nameTaken(name);
      const token = `${TOKEN_PREFIX}${ids.secret(32)}`;
      const createdMs = clock.now();
      const row: ApiTokenTable = {
        token_id: ids.id('tok'),
        name,
        scope,
        token_hash: digestOf(token),
        created_by: createdBy,
        created_ms: createdMs,
        expires_ms: expiresInMs === undefined ? null : createdMs + expiresInMs,
        used_ms: null,
        revoked_ms: null,
      };
      const entry = toEntry(row);
      entries.set(row.token_hash, entry); // holds the name while it is written
      try {
        await store.commit({ statements: [store.db.insertInto('api_tokens').values(row).compile()], durable: true });
      } catch (error) {
        entries.delete(row.token_hash);
        throw error;
      }
      return { ...toApiToken(row), token };
    },
    list: () => [...entries.values()].map(({ row }) => toApiToken(row)),
    async revoke(tokenId) {
      const entry = [...entries.values()].find(({ row }) => row.token_id === tokenId);
      if (entry === undefined) return false;
      end(entry, 'the token was revoked'); // before the disk is asked: whatever happens there, it is over
      entries.delete(entry.row.token_hash);
      const mark = store.db.updateTable('api_tokens').set({ revoked_ms: clock.now() }).where('token_id', '=', tokenId);
      await store.commit({ statements: [mark.compile()], durable: true });
      return true;
    },
    find(token) {
      const entry = entries.get(digestOf(token));
      if (entry === undefined || !isStanding(entry)) return undefined;
      noteUse(entry.row, deps);
      return entry.principal;
    },
    run: (signal) =>
      runExpiry(
        {
          sweep: () => {
            for (const entry of entries.values()) if (!isStanding(entry)) end(entry, 'the token has expired');
          },
          ends: () => [...entries.values()].filter(isStanding).flatMap(({ row }) => row.expires_ms ?? []),
        },
        { clock, signal },
      ),
  };
}

const loadRows = (store: ApiTokensDeps['store']): Promise<ApiTokenTable[]> =>
  store.db.selectFrom('api_tokens').selectAll().where('revoked_ms', 'is', null).orderBy('created_ms').execute();

function toEntry(row: ApiTokenTable): Entry {
  const end = new AbortController();
  const principal: Principal = {
    id: principalIdOf(row.token_id),
    scopes: expandScopes([row.scope]),
    source: { kind: 'token', tokenId: row.token_id, expiresAtMs: row.expires_ms ?? undefined },
    revoked: end.signal,
  };
  return { row, principal, end };
}

/** As whom a token acts. */
export const principalIdOf = (tokenId: string): string => `token:${tokenId}`;

const toApiToken = (row: ApiTokenTable): ApiToken => ({
  tokenId: row.token_id,
  name: row.name,
  scope: row.scope,
  createdBy: row.created_by,
  createdAtMs: row.created_ms,
  expiresAtMs: row.expires_ms,
  lastUsedAtMs: row.used_ms,
});

/** Nobody waits for it, and nothing depends on it: an operator wants to know which tokens are in use. */
function noteUse(row: ApiTokenTable, { store, clock, log }: ApiTokensDeps): void {
  const nowMs = clock.now();
  if (row.used_ms !== null && Math.abs(nowMs - row.used_ms) < USED_EVERY_MS) return;
  row.used_ms = nowMs;
  const mark = store.db.updateTable('api_tokens').set({ used_ms: nowMs }).where('token_id', '=', row.token_id);
  store.commit({ statements: [mark.compile()] }).catch((error: unknown) => {
    log.warn({ err: error, tokenId: row.token_id }, 'the use of a token could not be noted');
  });
}

const nameTaken = (name: string) => new GatewayError('CONFLICT', `There is a token named "${name}" already`);

/** A token has 256 random bits: a slow hash would add nothing, and looking up the digest tells no time. */
const digestOf = (token: string): string => hash('sha256', token, 'hex');
