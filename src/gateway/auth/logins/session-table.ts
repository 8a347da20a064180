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

/** The sessions in the order in which they began, also by whose they are, because a login must not look at all of them. */
export class SessionTable<S extends OfHolder> {
  readonly #all = new Map<string, S>();
  readonly #byHolder = new Map<string, Set<string>>();

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

  add(jti: string, session: S): void {
    this.#all.set(jti, session);
    const key = holderOf(session);
    if (key === undefined) return;
    const own = this.#byHolder.get(key) ?? new Set();
    this.#byHolder.set(key, own.add(jti));
  }

  remove(jti: string): void {
    const session = this.#all.get(jti);
    this.#all.delete(jti);
    const key = session && holderOf(session);
    if (key === undefined) return;
    const own = this.#byHolder.get(key);
    own?.delete(jti);
    if (own?.size === 0) this.#byHolder.delete(key);
  }

  /** The oldest session of the holder if it has `mostOfOne`, or otherwise of all if there are `most`. */
  oneTooMany(holder: Holder, { most, mostOfOne }: { most: number; mostOfOne: number }): string | undefined {
    const key = keyOf(holder);
    const own = key === undefined ? undefined : this.#byHolder.get(key);
    if (own !== undefined && own.size >= mostOfOne) return own.values().next().value;
    return this.size >= most ? this.#all.keys().next().value : undefined;
  }
}

const keyOfUser = (userId: string): string => `user:${userId}`;

/** Undefined for the operator, who may end all sessions anyway. */
function keyOf({ parent, userId }: Holder): string | undefined {
  if (userId !== undefined) return keyOfUser(userId);
  return parent.kind === 'token' ? `token:${parent.id}` : undefined;
}

const holderOf = ({ parent, principal: { userId } }: OfHolder): string | undefined => keyOf({ parent, userId });
