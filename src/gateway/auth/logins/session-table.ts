import type { Principal } from '../principal.ts';

interface OfUser {
  principal: Pick<Principal, 'userId'>;
}

/** The sessions in the order in which they began, also by their users, because a login must not look at all of them. */
export class SessionTable<S extends OfUser> {
  readonly #all = new Map<string, S>();
  readonly #byUser = new Map<string, Set<string>>();

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
    return [...(this.#byUser.get(userId) ?? [])].flatMap((jti) => {
      const session = this.#all.get(jti);
      return session === undefined ? [] : [[jti, session] as const];
    });
  }

  add(jti: string, session: S): void {
    this.#all.set(jti, session);
    const { userId } = session.principal;
    if (userId === undefined) return;
    const own = this.#byUser.get(userId) ?? new Set();
    this.#byUser.set(userId, own.add(jti));
  }

  remove(jti: string): void {
    const userId = this.#all.get(jti)?.principal.userId;
    this.#all.delete(jti);
    if (userId === undefined) return;
    const own = this.#byUser.get(userId);
    own?.delete(jti);
    if (own?.size === 0) this.#byUser.delete(userId);
  }

  /** The oldest session of the user if there are `mostOfUser`, or otherwise of all if there are `most`. */
  oneTooMany(
    userId: string | undefined,
    { most, mostOfUser }: { most: number; mostOfUser: number },
  ): string | undefined {
    const own = userId === undefined ? undefined : this.#byUser.get(userId);
    if (own !== undefined && own.size >= mostOfUser) return own.values().next().value;
    return this.size >= most ? this.#all.keys().next().value : undefined;
  }
}
