import type { Scope } from '../../../protocol/contract.ts';
import type { TokenScope } from '../../../protocol/methods/accounts/token.ts';
import type { Clock } from '../../clock.ts';
import { expandScopes, lesserOf, rightsOf } from '../rights.ts';
import type { ApiTokenTable } from '../store/schema/credential-schema.ts';
import { NO_PERMISSIONS } from '../users/grant.ts';
import {
  type Bounds,
  type Lineage,
  OPERATOR_BOUNDS,
  parentOf,
  principalIdOf,
  tokenIdOf,
  type UserBounds,
  userIdOf,
} from './lineage.ts';
import type { Parent } from './parent.ts';
import type { Principal } from './principal.ts';
import { RightsChanged } from './rights-changed.ts';
import { FormerSecrets } from './services/former-secrets.ts';
import { SERVICE_SCOPES } from './services/service-tokens.ts';

export interface TokenEntry {
  row: ApiTokenTable;
  /** With the rights of now; another one after they changed. */
  principal: Principal;
  end: AbortController;
}

/** The columns that change with a token's secret. */
export type TokenSecret = Pick<ApiTokenTable, 'token_hash' | 'token_prefix'> & { expires_ms: number };

interface TokenTreeDeps {
  clock: Pick<Clock, 'now'>;
  users: UserBounds;
}

/** The API tokens that are not revoked, and their parents. */
export class TokenTree implements Lineage {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #users: UserBounds;
  readonly #byId = new Map<string, TokenEntry>();
  readonly #byHash = new Map<string, TokenEntry>();
  readonly #former: FormerSecrets;

  constructor({ clock, users }: TokenTreeDeps) {
    this.#clock = clock;
    this.#users = users;
    this.#former = new FormerSecrets(clock);
  }

  /** In the order of creation. */
  get entries(): TokenEntry[] {
    return [...this.#byId.values()];
  }

  /** Those that act for the user, in the order of creation. */
  entriesOf(userId: string): TokenEntry[] {
    return this.entries.filter(({ principal }) => principal.userId === userId);
  }

  add(row: ApiTokenTable): TokenEntry {
    const end = new AbortController();
    const entry = { row, end, principal: this.#toPrincipal(row, end.signal) };
    this.#byId.set(row.token_id, entry);
    this.#byHash.set(row.token_hash, entry);
    return entry;
  }

  remove({ row }: TokenEntry): void {
    this.#byId.delete(row.token_id);
    this.#byHash.delete(row.token_hash);
    this.#former.forget(row.token_id);
  }

  /** Gives a token another secret. The one before works until its own end. */
  renew({ row }: TokenEntry, secret: TokenSecret): void {
    const entry = this.#byId.get(row.token_id);
    if (entry === undefined) return; // revoked in the meantime
    this.#former.add({ tokenId: row.token_id, tokenHash: row.token_hash, endsMs: row.expires_ms ?? 0 });
    this.#byHash.delete(row.token_hash);
    Object.assign(row, secret);
    this.#byHash.set(row.token_hash, entry);
  }

  find(tokenId: string): TokenEntry | undefined {
    return this.#byId.get(tokenId);
  }

  findByHash(tokenHash: string): TokenEntry | undefined {
    const formerId = this.#former.tokenIdOf(tokenHash);
    return formerId === undefined ? this.#byHash.get(tokenHash) : this.#byId.get(formerId);
  }

  boundsOf(parent: Parent): Bounds | undefined {
    if (parent.kind === 'operator') return OPERATOR_BOUNDS;
    if (parent.kind === 'user') return this.#users.boundsOf(parent.id);
    const entry = this.#byId.get(parent.id);
    if (entry === undefined || !this.isStanding(entry)) return undefined;
    const { scopes, permissions, userId } = entry.principal;
    return { scopes, permissions, expiresAtMs: entry.row.expires_ms ?? undefined, userId };
  }

  /** The user at the top of a chain of parents; undefined below the operator. */
  userAbove(parent: Parent): string | undefined {
    if (parent.kind === 'operator') return undefined;
    if (parent.kind === 'user') return parent.id;
    const entry = this.#byId.get(parent.id);
    return entry && this.userAbove(parentOf(entry.row));
  }

  /** After a change of a user's rights: open connections of the user's tokens end, and later ones have the new rights. */
  renewBelow(userId: string): void {
    // In the order of creation, so that parents come before their children.
    for (const entry of this.#byId.values()) {
      if (this.userAbove(parentOf(entry.row)) !== userId || entry.end.signal.aborted) continue;
      const before = entry.end;
      entry.end = new AbortController();
      entry.principal = this.#toPrincipal(entry.row, entry.end.signal);
      before.abort(new RightsChanged());
    }
  }

  /** Whether neither it nor any credential above it was revoked or has expired. */
  isStanding({ row, end }: TokenEntry): boolean {
    if (end.signal.aborted || (row.expires_ms !== null && row.expires_ms <= this.#clock.now())) return false;
    return this.boundsOf(parentOf(row)) !== undefined;
  }

  /** Aborts with the token or the user that this principal acts under; undefined for other principals. */
  endOf(principalId: string): AbortSignal | undefined {
    const userId = userIdOf(principalId);
    if (userId !== undefined) return this.#users.endOf(userId);
    const tokenId = tokenIdOf(principalId);
    if (tokenId === undefined) return undefined;
    const entry = this.#byId.get(tokenId);
    return entry && this.isStanding(entry) ? entry.end.signal : AbortSignal.abort();
  }

  /** A token followed by all its descendants; empty for an unknown id. */
  below(tokenId: string): string[] {
    if (!this.#byId.has(tokenId)) return [];
    const found = new Set([tokenId]);
    // Iterating over a set includes entries added meanwhile, so all descendants follow.
    for (const id of found)
      for (const { row } of this.#byId.values())
        if (row.parent_kind === 'token' && row.parent_id === id) found.add(row.token_id);
    return [...found];
  }

  #toPrincipal(row: ApiTokenTable, ended: AbortSignal): Principal {
    const bounds = this.boundsOf(parentOf(row));
    const userId = this.userAbove(parentOf(row));
    return {
      id: principalIdOf({ kind: 'token', id: row.token_id }),
      scopes: bounds === undefined ? new Set() : scopesOf(row.scope, bounds),
      permissions: bounds?.permissions ?? NO_PERMISSIONS,
      source: { kind: 'token', tokenId: row.token_id },
      ended,
      ...(userId !== undefined && { userId }),
    };
  }
}

/**
 * A token keeps its scope; what it may do changes with its user. A service token is the operator's, so it has every
 * permission: that is how it passes all permission checks. Below a user, the scope would mean nothing.
 */
function scopesOf(scope: TokenScope, { scopes, userId }: Bounds): ReadonlySet<Scope> {
  if (scope !== 'service') return expandScopes([lesserOf(scope, rightsOf(scopes))]);
  return userId === undefined ? SERVICE_SCOPES : new Set();
}

/** The ids of tokens whose chain of parents leads neither to the operator nor to a known user. */
export function findOrphans(rows: readonly ApiTokenTable[], isUser: (userId: string) => boolean): string[] {
  const attached = new Set<string>();
  const isAttached = ({ parent_kind, parent_id }: ApiTokenTable) =>
    parent_kind === 'operator' || (parent_kind === 'user' ? isUser(parent_id) : attached.has(parent_id));
  let before: number;
  do {
    before = attached.size;
    for (const row of rows) if (isAttached(row)) attached.add(row.token_id);
  } while (attached.size > before);
  return rows.filter(({ token_id }) => !attached.has(token_id)).map(({ token_id }) => token_id);
}
