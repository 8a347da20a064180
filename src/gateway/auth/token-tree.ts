import type { Clock } from '../../clock.ts';
import { expandScopes } from '../rights.ts';
import type { ApiTokenTable } from '../store/schema/schema.ts';
import { type Bounds, type Lineage, OPERATOR, parentOf, principalIdOf, tokenIdOf } from './lineage.ts';
import type { Parent } from './parent.ts';
import type { Principal } from './principal.ts';

export interface TokenEntry {
  row: ApiTokenTable;
  principal: Principal;
  end: AbortController;
}

/** The API tokens that are not revoked, and their parents. */
export class TokenTree implements Lineage {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #byId = new Map<string, TokenEntry>();
  readonly #byHash = new Map<string, TokenEntry>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** In the order of creation. */
  get entries(): TokenEntry[] {
    return [...this.#byId.values()];
  }

  add(row: ApiTokenTable): TokenEntry {
    const entry = toEntry(row);
    this.#byId.set(row.token_id, entry);
    this.#byHash.set(row.token_hash, entry);
    return entry;
  }

  remove({ row }: TokenEntry): void {
    this.#byId.delete(row.token_id);
    this.#byHash.delete(row.token_hash);
  }

  find(tokenId: string): TokenEntry | undefined {
    return this.#byId.get(tokenId);
  }

  findByHash(tokenHash: string): TokenEntry | undefined {
    return this.#byHash.get(tokenHash);
  }

  boundsOf(parent: Parent): Bounds | undefined {
    if (parent.kind === 'operator') return { scopes: OPERATOR.scopes, expiresAtMs: undefined };
    const entry = this.#byId.get(parent.id);
    if (entry === undefined || !this.isStanding(entry)) return undefined;
    return { scopes: entry.principal.scopes, expiresAtMs: entry.row.expires_ms ?? undefined };
  }

  /** Whether neither it nor any credential above it was revoked or has expired. */
  isStanding({ row, end }: TokenEntry): boolean {
    if (end.signal.aborted || (row.expires_ms !== null && row.expires_ms <= this.#clock.now())) return false;
    return this.boundsOf(parentOf(row)) !== undefined;
  }

  /** Aborts with the token that this principal acts under; undefined for other principals. */
  endOf(principalId: string): AbortSignal | undefined {
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
}

/** The ids of tokens whose chain of parents does not lead to the operator or a known token. */
export function findOrphans(rows: readonly ApiTokenTable[]): string[] {
  const attached = new Set<string>();
  const isAttached = ({ parent_kind, parent_id }: ApiTokenTable) =>
    parent_kind === 'operator' || attached.has(parent_id);
  let before: number;
  do {
    before = attached.size;
    for (const row of rows) if (isAttached(row)) attached.add(row.token_id);
  } while (attached.size > before);
  return rows.filter(({ token_id }) => !attached.has(token_id)).map(({ token_id }) => token_id);
}

function toEntry(row: ApiTokenTable): TokenEntry {
  const end = new AbortController();
  const principal: Principal = {
    id: principalIdOf({ kind: 'token', id: row.token_id }),
    scopes: expandScopes([row.scope]),
    source: { kind: 'token', tokenId: row.token_id },
    ended: end.signal,
  };
  return { row, principal, end };
}
