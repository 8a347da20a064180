import { hash } from 'node:crypto';
import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { ApiToken, TokenScope } from '../../../protocol/methods/accounts/token.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import type { ApiTokenTable } from '../store/schema/credential-schema.ts';
import { type Statement, type Store, UnitRefused } from '../store/store.ts';
import { runExpiry } from './expiry.ts';
import {
  type Bounds,
  clampEnd,
  type Lineage,
  type Minter,
  narrow,
  parentEnded,
  parentOf,
  toColumns,
  type UserBounds,
} from './lineage.ts';
import type { Principal } from './principal.ts';
import { renewal, requireOperator, serviceLifeMs } from './services/service-tokens.ts';
import { findOrphans, type TokenEntry, TokenTree } from './token-tree.ts';

/** Distinguishes a token from a JWT, and identifies it for secret scanners. */
export const TOKEN_PREFIX = 'svc_';
/** Shown, so that people can tell tokens apart; four of its characters are secret. */
const PREFIX_LENGTH = 8;
/** The last use is stored at most this often. */
const USED_EVERY_MS = 60_000;

/** Credentials of programs, each with its own scopes. Only digests are stored. */
export interface ApiTokens extends Lineage {
  /**
   * The result contains the token itself, only this once. Throws CONFLICT when the name is taken or the limit is
   * reached. `also` is stored in the same unit.
   */
  create(asked: NewApiToken, also?: (tokenId: string) => readonly Statement[]): Promise<ApiToken & { token: string }>;
  /** All tokens that are not revoked, including expired ones, oldest first. `userId`: only those that act for this user. */
  list(userId?: string): ApiToken[];
  find(token: string): Principal | undefined;
  /**
   * Gives a service token a new secret that lasts an hour, which only this result contains. The earlier one works until its own end, and open
   * connections go on. Throws UNAUTHORIZED for a token that was revoked or has expired.
   */
  refresh(tokenId: string, also?: readonly Statement[]): Promise<ApiToken & { token: string }>;
  /** The user that a token acts for; undefined below the operator, and for an unknown token. */
  userOf(tokenId: string): string | undefined;
  /** For the unit that deletes a user: revokes all tokens of the user. */
  revocationOf(userId: string): Statement[];
  /** After a change of a user: open connections of the user's tokens end. Those of a deleted user leave the list. */
  renewBelow(userId: string): void;
  /** A token followed by all its descendants; empty for an unknown id. */
  below(tokenId: string): string[];
  /** Revokes tokens and ends everything open under them at once. */
  revoke(tokenIds: readonly string[], also?: readonly Statement[]): Promise<void>;
  /** Aborts with the token that this principal acts under; undefined for other principals. */
  endOf(principalId: string): AbortSignal | undefined;
  /** Ends expired tokens, until aborted. */
  run(signal: AbortSignal): Promise<void>;
}

export interface NewApiToken {
  name: string;
  scope: TokenScope;
  /** Default: the parent's expiry, which is also the maximum; of a service token an hour, if that is earlier. */
  expiresInMs?: number | undefined;
  /** The principal that requested it. */
  createdBy: string;
  minter: Minter;
}

interface ApiTokensDeps {
  store: Pick<Store, 'db' | 'commit' | 'machine'>;
  users: UserBounds & { find(userId: string): object | undefined };
  clock: Clock;
  ids: Pick<Ids, 'id' | 'secret'>;
  log: Log;
}

export async function openApiTokens(deps: ApiTokensDeps): Promise<ApiTokens> {
  const { store, clock } = deps;
  const tree = await loadTree(deps);
  return {
    boundsOf: (parent) => tree.boundsOf(parent),
    create: (asked, also = () => []) => create({ ...asked, also }, tree, deps),
    refresh: (tokenId, also = []) => refresh(tree.find(tokenId), also, { tree, deps }),
    list: (userId) => (userId === undefined ? tree.entries : tree.entriesOf(userId)).map((entry) => toApiToken(entry)),
    userOf: (tokenId) => tree.find(tokenId)?.principal.userId,
    revocationOf(userId) {
      const own = tree.entriesOf(userId).map(({ row }) => row.token_id);
      return own.length === 0 ? [] : [revocationOf(own, deps)];
    },
    renewBelow(userId) {
      if (deps.users.find(userId) !== undefined) return tree.renewBelow(userId);
      for (const entry of tree.entriesOf(userId)) {
        entry.end.abort(new Error('the user was deleted'));
        tree.remove(entry);
      }
    },
    below: (tokenId) => tree.below(tokenId),
    async revoke(tokenIds, also = []) {
      const ended = tokenIds.flatMap((tokenId) => tree.find(tokenId) ?? []);
      // Before the write: the tokens end even if the write fails.
      for (const { end } of ended) end.abort(new Error('the token was revoked'));
      await store.commit({ statements: [revocationOf(tokenIds, deps), ...also], durable: true });
      for (const entry of ended) tree.remove(entry); // only now, so that a failed revocation can be repeated
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
            for (const entry of tree.entries) if (!tree.isStanding(entry)) entry.end.abort(expired());
          },
          ends: () => tree.entries.filter((entry) => tree.isStanding(entry)).flatMap(({ row }) => row.expires_ms ?? []),
        },
        { clock, signal },
      ),
  };
}

/** Tokens whose parent is gone, such as an earlier operator token, are revoked here with their descendants. */
async function loadTree(deps: ApiTokensDeps): Promise<TokenTree> {
  const { store, users, clock } = deps;
  const rows = await store.db
    .selectFrom('api_tokens')
    .selectAll()
    .where('revoked_ms', 'is', null)
    .orderBy('created_ms')
    .execute();
  const orphans = findOrphans(rows, (userId) => users.find(userId) !== undefined);
  // A worker may have read the users before the active daemon added one with a token: it revokes none.
  if (orphans.length > 0 && store.machine === null)
    await store.commit({ statements: [revocationOf(orphans, deps)], durable: true });
  const tree = new TokenTree({ clock, users });
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

interface Asked extends NewApiToken {
  also(tokenId: string): readonly Statement[];
}

async function create(asked: Asked, tree: TokenTree, deps: ApiTokensDeps): Promise<ApiToken & { token: string }> {
  const { store, clock, ids } = deps;
  const { name, scope, minter } = asked;
  const over = dropOverServices(tree);
  const { entries } = tree;
  if (entries.length >= LIMITS.apiTokens)
    throw new GatewayError('CONFLICT', `Token limit (${entries.length}) reached; revoke one first`);
  const bounds = tree.boundsOf(minter.parent);
  if (bounds === undefined) throw parentEnded();
  if (entries.some(({ row, principal }) => row.name === name && principal.userId === bounds.userId))
    throw nameTaken(name);
  if (scope === 'service') requireOperator(minter);
  else if (!narrow(minter.scopes, bounds).includes(scope)) throw scopeTooWide(scope);
  const token = newSecret(ids);
  const row = toRow(asked, { bounds, token, tokenId: ids.id('tok'), nowMs: clock.now() });
  const entry = tree.add(row); // reserves the name during the write
  try {
    const insert = store.db.insertInto('api_tokens').values(row).compile();
    const statements = [...over.map((tokenId) => revocationOf([tokenId], deps)), insert, ...asked.also(row.token_id)];
    await store.commit({ statements, durable: true });
  } catch (error) {
    tree.remove(entry);
    throw error;
  }
  if (!tree.isStanding(entry)) throw parentEnded(); // revoked during the write
  return { ...toApiToken(entry), token };
}

/**
 * Service tokens that have expired leave the list when another token is created: a service that creates one at each of its starts would
 * soon reach the limit. Nothing hangs below them.
 */
function dropOverServices(tree: TokenTree): string[] {
  const over = tree.entries.filter((entry) => entry.row.scope === 'service' && !tree.isStanding(entry));
  for (const entry of over) {
    entry.end.abort(expired()); // nothing finds it later
    tree.remove(entry);
  }
  return over.map(({ row }) => row.token_id);
}

async function refresh(
  entry: TokenEntry | undefined,
  also: readonly Statement[],
  { tree, deps }: { tree: TokenTree; deps: ApiTokensDeps },
): Promise<ApiToken & { token: string }> {
  const { store, clock, ids } = deps;
  const bounds = entry && tree.isStanding(entry) ? tree.boundsOf(parentOf(entry.row)) : undefined;
  if (entry === undefined || bounds === undefined) throw parentEnded();
  const token = newSecret(ids);
  const secret = { ...toSecret(token), expires_ms: clampEnd(clock.now() + serviceLifeMs(), bounds) };
  try {
    await store.commit({ statements: [renewal(entry.row.token_id, secret, store), ...also], durable: true });
  } catch (error) {
    throw error instanceof UnitRefused ? parentEnded() : error;
  }
  tree.renew(entry, secret);
  if (!tree.isStanding(entry)) throw parentEnded(); // revoked during the write
  return { ...toApiToken(entry), token };
}

const newSecret = (ids: Pick<Ids, 'secret'>): string => `${TOKEN_PREFIX}${ids.secret(32)}`;

const toSecret = (token: string) => ({ token_hash: digestOf(token), token_prefix: token.slice(0, PREFIX_LENGTH) });

interface Making {
  bounds: Bounds;
  token: string;
  tokenId: string;
  nowMs: number;
}

function toRow(asked: NewApiToken, { bounds, token, tokenId, nowMs }: Making): ApiTokenTable {
  const { name, scope, createdBy, minter } = asked;
  const expiresMs = clampEnd(nowMs + lifeMsOf(asked), bounds);
  return {
    token_id: tokenId,
    name,
    scope,
    ...toSecret(token),
    ...toColumns(minter.parent),
    created_by: createdBy,
    created_ms: nowMs,
    expires_ms: Number.isFinite(expiresMs) ? expiresMs : null,
    used_ms: null,
    revoked_ms: null,
  };
}

const lifeMsOf = ({ scope, expiresInMs }: NewApiToken): number =>
  scope === 'service' ? serviceLifeMs(expiresInMs) : (expiresInMs ?? Number.POSITIVE_INFINITY);

const toApiToken = ({ row, principal: { userId } }: TokenEntry): ApiToken => ({
  tokenId: row.token_id,
  tokenPrefix: row.token_prefix,
  name: row.name,
  scope: row.scope,
  createdBy: row.created_by,
  createdAtMs: row.created_ms,
  expiresAtMs: row.expires_ms,
  lastUsedAtMs: row.used_ms,
  ...(userId !== undefined && { userId }),
});

/** Stores when a token was last used, for operators. Does not delay the request, and nothing depends on it. */
function noteUse(row: ApiTokenTable, { store, clock, log }: ApiTokensDeps): void {
  const nowMs = clock.now();
  if (row.used_ms !== null && Math.abs(nowMs - row.used_ms) < USED_EVERY_MS) return;
  row.used_ms = nowMs;
  const mark = store.db.updateTable('api_tokens').set({ used_ms: nowMs }).where('token_id', '=', row.token_id);
  store.commit({ statements: [mark.compile()] }).catch((error: unknown) => {
    log.warn({ err: error, tokenId: row.token_id }, 'the last use of a token could not be stored');
  });
}

const expired = () => new Error('the token has expired');

const scopeTooWide = (scope: TokenScope) =>
  new GatewayError('FORBIDDEN', `A credential without the scope "${scope}" cannot create a token with it`);

const nameTaken = (name: string) => new GatewayError('CONFLICT', `A token named "${name}" already exists`);

/** A token has 256 random bits, so a slow hash would add nothing, and the lookup by digest leaks no timing. */
const digestOf = (token: string): string => hash('sha256', token, 'hex');
