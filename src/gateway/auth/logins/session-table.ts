import type { Parent } from '../parent.ts';
import type { Principal } from '../principal.ts';

/** Whose a session is: a user's, also below a token of the user, or that of a token without one. */
interface Holder {
  parent: Parent;
  userId?: string | undefined;
}

interface OfHolder {
  parent: Parent;
  principal: Pick<Principal, 'userId'>;
}

/**
 * The sessions that one browser had one after the other: a refresh, or another login, replaces only its cookie, while open
 * connections stay in the session before. They end together. The first part of their ids names them, also in the database.
 */
export const familyOf = (jti: string): string => jti.split('.', 1)[0] ?? jti;

/** The id of a session that follows another one. */
export const following = (jti: string, id: string): string => `${familyOf(jti)}.${id}`;

/** The sessions in the order in which they began, also by whose they are, because a login must not look at all of them. */
export class SessionTable<S extends OfHolder> {
  readonly #all = new Map<string, S>();
  readonly #byHolder = new Map<string, Set<string>>();
  readonly #byFamily = new Map<string, Set<string>>();

  constructor(sessions: Iterable<readonly [jti: string, session: S]>) {
    for (const [jti, session] of sessions) this.add(jti, session);
  }

  get size(): number {
    return this.#all.size;
  }

  find(jti: string): S | undefined {
    return this.#all.get(jti);
  }

  all(): MapIterator<[jti: string, session: S]> {
    return this.#all.entries();
  }

  /** Oldest first. */
  ofUser(userId: string): (readonly [jti: string, session: S])[] {
    return [...(this.#byHolder.get(keyOfUser(userId)) ?? [])].flatMap((jti) => {
      const session = this.#all.get(jti);
      return session === undefined ? [] : [[jti, session] as const];
    });
  }

  /** The ids of its family, also without itself. */
  familyOf(jti: string): string[] {
    return [...(this.#byFamily.get(familyOf(jti)) ?? [])];
  }

  add(jti: string, session: S): void {
    this.#all.set(jti, session);
    put(this.#byFamily, familyOf(jti), jti);
    const key = holderOf(session);
    if (key !== undefined) put(this.#byHolder, key, jti);
  }

  remove(jti: string): void {
    const session = this.#all.get(jti);
    this.#all.delete(jti);
    drop(this.#byFamily, familyOf(jti), jti);
    const key = session && holderOf(session);
    if (key !== undefined) drop(this.#byHolder, key, jti);
  }

  /** The oldest session of the holder if it has `mostOfOne`, or otherwise of all if there are `most`. */
  oneTooMany(holder: Holder, { most, mostOfOne }: { most: number; mostOfOne: number }): string | undefined {
    const key = keyOf(holder);
    const own = key === undefined ? undefined : this.#byHolder.get(key);
    if (own !== undefined && own.size >= mostOfOne) return own.values().next().value;
    return this.size >= most ? this.#all.keys().next().value : undefined;
  }
}

function put(sets: Map<string, Set<string>>, key: string, jti: string): void {
  const own = sets.get(key) ?? new Set();
  sets.set(key, own.add(jti));
}

function drop(sets: Map<string, Set<string>>, key: string, jti: string): void {
  const own = sets.get(key);
  own?.delete(jti);
  if (own?.size === 0) sets.delete(key);
}

const keyOfUser = (userId: string): string => `user:${userId}`;

/** Undefined for the operator, who may end all sessions anyway. */
function keyOf({ parent, userId }: Holder): string | undefined {
  if (userId !== undefined) return keyOfUser(userId);
  return parent.kind === 'token' ? `token:${parent.id}` : undefined;
}

const holderOf = ({ parent, principal: { userId } }: OfHolder): string | undefined => keyOf({ parent, userId });
