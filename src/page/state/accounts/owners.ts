import { signal } from '@preact/signals';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { Result } from '../../../../protocol/index.ts';
import type { WorkstreamRow } from '../../../../protocol/methods/conversation/listing.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { isUser, type Who } from './who.ts';

/** A user, as everyone here may know them. */
export type UserName = Result<'user.names'>['users'][number];

/** Who owns what no user owns. */
export const OPERATOR: UserName = { userId: '', username: '', displayName: 'the operator' };

type Owned = Pick<WorkstreamRow, 'userId' | 'visibility'>;

const MOST_AT_ONCE = 500;

/** The names of those who own workstreams, read once each, and of those who could own one. */
export class Owners {
  readonly #client: Pick<GatewayClient, 'call'>;
  /** By user id. */
  readonly #names = signal<ReadonlyMap<string, string>>(new Map());
  readonly #asked = new Set<string>();

  constructor(client: Pick<GatewayClient, 'call'>) {
    this.#client = client;
  }

  /** Reads the names that are not known yet. */
  async read(rows: readonly Pick<Owned, 'userId'>[]): Promise<void> {
    const owners = new Set(rows.map(({ userId }) => userId));
    const userIds = [...owners].filter((id) => id !== '' && !this.#asked.has(id)).slice(0, MOST_AT_ONCE);
    if (userIds.length === 0) return;
    for (const id of userIds) this.#asked.add(id);
    try {
      const { users } = await this.#client.call('user.names', { userIds });
      const deleted = userIds.map((id) => [id, 'a deleted user'] as const);
      const found = users.map(({ userId, displayName }) => [userId, toVisibleLine(displayName)] as const);
      this.#names.value = new Map([...this.#names.value, ...deleted, ...found]);
    } catch {
      for (const id of userIds) this.#asked.delete(id); // a lost connection: the next list asks again
    }
  }

  /** The users with this text in a name, 50 at most. Throws what the call throws. */
  async find(query: string): Promise<readonly UserName[]> {
    return (await this.#client.call('user.names', { query })).users;
  }

  /** The name of the owner if that is somebody else; undefined for one’s own, and until it is known. */
  otherThan(who: Who | undefined, row: Pick<Owned, 'userId'>): string | undefined {
    if (isOwn(who, row)) return undefined;
    return row.userId === OPERATOR.userId ? OPERATOR.displayName : this.#names.value.get(row.userId);
  }

  /** Whose it is: `Me`, or a name once it is known. */
  nameOf(who: Who | undefined, userId: string): string {
    return isOwn(who, { userId }) ? 'Me' : (this.otherThan(who, { userId }) ?? toVisibleLine(userId));
  }

  /** Who did something: `you`, the name of a user once it is known, or what acted where no user did. */
  actorWords(who: Who | undefined, actor: string): string {
    if (actor === who?.userId) return 'you';
    return this.#names.value.get(actor) ?? toVisibleLine(actor);
  }

  /** Who sees a workstream if it is private. */
  onlyWords(who: Who | undefined, row: Pick<Owned, 'userId'>): string {
    if (isOwn(who, row)) return 'Only me and administrators';
    return `Only ${this.otherThan(who, row) ?? 'its owner'} and administrators`;
  }
}

const isOwn = (who: Who | undefined, { userId }: Pick<Owned, 'userId'>): boolean =>
  isUser(who) ? who?.userId === userId : userId === '';

/** What happens when a workstream is given to another user or the operator, in words for the person who is about to do it. */
export function toGiftWords(who: Who | undefined, { visibility }: Pick<Owned, 'visibility'>, to: UserName): string {
  const name = toVisibleLine(to.displayName);
  const keepsSight = who?.permissions.includes('workstreams.all') === true;
  if (visibility === 'private')
    return keepsSight
      ? `This workstream is private. Afterwards ${name} and administrators see it; you are one of these.`
      : `This workstream is private. Afterwards only ${name} and administrators see it. It disappears from your list at once, and you cannot take it back.`;
  return keepsSight
    ? `Everyone here still sees this workstream. Afterwards ${name} and administrators decide who sees it; you are one of these.`
    : `Everyone here still sees this workstream. Afterwards only ${name} and administrators decide who sees it, and you cannot take it back.`;
}
