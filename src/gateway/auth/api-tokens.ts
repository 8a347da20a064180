import { hash } from 'node:crypto';
import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { ApiToken, TokenScope } from '../../../protocol/methods/token.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import type { ApiTokenTable } from '../store/schema/schema.ts';
import type { Store } from '../store/store.ts';
import { runExpiry } from './expiry.ts';
import { type Bounds, clampEnd, type Lineage, type Minter, narrow, parentEnded, toColumns } from './lineage.ts';
import type { Principal } from './principal.ts';
import { findOrphans, TokenTree } from './token-tree.ts';

/** What tells a token from a JWT, and a secret scanner what it has found. */
export const TOKEN_PREFIX = 'svc_';
/** A use is written down at most this often. */
const USED_EVERY_MS = 60_000;

/** Credentials of programs, each with a scope of its own. Only their digests are kept. */
export interface ApiTokens extends Lineage {
  /** The answer holds the token itself, this once. CONFLICT when the name is taken or there are too many. */
  create(asked: NewApiToken): Promise<ApiToken & { token: string }>;
  /** Those that count or did until they expired, oldest first. */
  list(): ApiToken[];
  /** A token followed by every token below it; empty when there is none of this id. */
  below(tokenId: string): string[];
  /** Ends what is open under the tokens at once. */
  revoke(tokenIds: readonly string[]): Promise<void>;
  find(token: string): Principal | undefined;
  /** Aborts with the token that this principal acts under; undefined for principals that act under none. */
  endOf(principalId: string): AbortSignal | undefined;
  /** Ends tokens whose time is over, until aborted. */
  run(signal: AbortSignal): Promise<void>;
}

export interface NewApiToken {
  name: string;
  scope: TokenScope;
  /** Left out: as late as its parent. The parent's end comes first in any case. */
  expiresInMs?: number | undefined;
  /** The principal that asked for it. */
  createdBy: string;
  minter: Minter;
}

interface ApiTokensDeps {
  store: Pick<Store, 'db' | 'commit'>;
  clock: Clock;
  ids: Pick<Ids, 'id' | 'secret'>;
  log: Log;
}

export async function openApiTokens(deps: ApiTokensDeps): Promise<ApiTokens> {
  const { store, clock } = deps;
  const tree = await loadTree(deps);
  return {
    boundsOf: (parent) => tree.boundsOf(parent),
    create: (asked) => create(asked, tree, deps),
    list: () => tree.entries.map(({ row }) => toApiToken(row)),
    below: (tokenId) => tree.below(tokenId),
    async revoke(tokenIds) {
      const ended = tokenIds.flatMap((tokenId) => tree.find(tokenId) ?? []);
      // Before the disk is asked: whatever happens there, it is over.
      for (const { end } of ended) end.abort(new Error('the token was revoked'));
      await store.commit({ statements: [revocationOf(tokenIds, deps)], durable: true });
      for (const entry of ended) tree.remove(entry); // only now, so that a revocation that failed can be repeated
    },
    find(token) {
      const entry = tree.findByHash(digestOf(token));
      if (entry === undefined || !tree.isStanding(entry)) return undefined;
      noteUse(entry.row, deps);
      return entry.principal;
    },
    endOf: (principalId) => tree.endOf(principalId),
    run: (signal) =>
      runExpiry(
        {
          sweep: () => {
            for (const entry of tree.entries)
              if (!tree.isStanding(entry)) entry.end.abort(new Error('the token has expired'));
          },
          ends: () => tree.entries.filter((entry) => tree.isStanding(entry)).flatMap(({ row }) => row.expires_ms ?? []),
        },
        { clock, signal },
      ),
  };
}

/** Tokens whose parent is gone, such as an earlier operator token, are revoked here with all below them. */
async function loadTree(deps: ApiTokensDeps): Promise<TokenTree> {
  const { store, clock } = deps;
  const rows = await store.db
    .selectFrom('api_tokens')
    .selectAll()
    .where('revoked_ms', 'is', null)
    .orderBy('created_ms')
    .execute();
  const orphans = findOrphans(rows);
  if (orphans.length > 0) await store.commit({ statements: [revocationOf(orphans, deps)], durable: true });
  const tree = new TokenTree(clock);
  for (const row of rows) if (!orphans.includes(row.token_id)) tree.add(row);
  return tree;
}

const revocationOf = (tokenIds: readonly string[], { store, clock }: ApiTokensDeps) =>
  store.db
    .updateTable('api_tokens')
    .set({ revoked_ms: clock.now() })
    .where('token_id', 'in', tokenIds)
    .where('revoked_ms', 'is', null)
    .compile();

async function create(asked: NewApiToken, tree: TokenTree, deps: ApiTokensDeps): Promise<ApiToken & { token: string }> {
  const { store, clock, ids } = deps;
  const { name, scope, minter } = asked;
  const { entries } = tree;
  if (entries.length >= LIMITS.apiTokens)
    throw new GatewayError('CONFLICT', `There are ${entries.length} tokens already; revoke some`);
  if (entries.some(({ row }) => row.name === name)) throw nameTaken(name);
  const bounds = tree.boundsOf(minter.parent);
  if (bounds === undefined) throw parentEnded();
  if (!narrow(minter.scopes, bounds).includes(scope)) throw scopeTooWide(scope);
  const token = `${TOKEN_PREFIX}${ids.secret(32)}`;
  const row = toRow(asked, { bounds, token, tokenId: ids.id('tok'), nowMs: clock.now() });
  const entry = tree.add(row); // holds the name while it is written
  try {
    await store.commit({ statements: [store.db.insertInto('api_tokens').values(row).compile()], durable: true });
  } catch (error) {
    tree.remove(entry);
    throw error;
  }
  if (!tree.isStanding(entry)) throw parentEnded(); // revoked while it was written
  return { ...toApiToken(row), token };
}

interface Making {
  bounds: Bounds;
  token: string;
  tokenId: string;
  nowMs: number;
}

function toRow(asked: NewApiToken, { bounds, token, tokenId, nowMs }: Making): ApiTokenTable {
  const { name, scope, expiresInMs = Number.POSITIVE_INFINITY, createdBy, minter } = asked;
  const expiresMs = clampEnd(nowMs + expiresInMs, bounds);
  return {
    token_id: tokenId,
    name,
    scope,
    token_hash: digestOf(token),
    ...toColumns(minter.parent),
    created_by: createdBy,
    created_ms: nowMs,
    expires_ms: Number.isFinite(expiresMs) ? expiresMs : null,
    used_ms: null,
    revoked_ms: null,
  };
}

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

const scopeTooWide = (scope: TokenScope) =>
  new GatewayError('FORBIDDEN', `Your credential lacks the scope "${scope}", so it cannot create a token that has it`);

const nameTaken = (name: string) => new GatewayError('CONFLICT', `There is a token named "${name}" already`);

/** A token has 256 random bits: a slow hash would add nothing, and looking up the digest tells no time. */
const digestOf = (token: string): string => hash('sha256', token, 'hex');
