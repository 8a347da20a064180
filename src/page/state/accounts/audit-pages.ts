import { type ReadonlySignal, signal } from '@preact/signals';
import type { Result } from '../../../../protocol/index.ts';
import type { AuditEvent } from '../../../../protocol/methods/accounts/audit.ts';
import { type Reader, Reading } from '../reading/reading.ts';

interface Listing {
  events: readonly AuditEvent[];
  hasMore: boolean;
}

/** Which records are shown; an empty text: all. */
export interface AuditFilter {
  action: string;
  userId: string;
}

export type Verdict = Result<'audit.verify'>;

const PAGE = 50;

/** The audit trail, newest first and page by page. Only the last filter is shown. */
export class AuditPages {
  readonly #client: Reader;
  readonly reading: Reading;
  readonly verifying: Reading;
  readonly #listing = signal<Listing | undefined>(undefined);
  readonly #filter = signal<AuditFilter>({ action: '', userId: '' });
  readonly #people = signal<ReadonlyMap<string, string>>(new Map());
  readonly #targets = signal<ReadonlyMap<string, string>>(new Map());
  readonly #verdict = signal<Verdict | undefined>(undefined);

  constructor(client: Reader) {
    this.#client = client;
    this.reading = new Reading(client);
    this.verifying = new Reading(client);
  }

  /** Undefined until the first answer. */
  get listing(): ReadonlySignal<Listing | undefined> {
    return this.#listing;
  }

  get filter(): ReadonlySignal<AuditFilter> {
    return this.#filter;
  }

  /** The names of those who have acted in any record read so far, by user id. */
  get people(): ReadonlySignal<ReadonlyMap<string, string>> {
    return this.#people;
  }

  /** The name of a user that a record is about; undefined for what is no user, and for deleted ones. */
  targetOf({ resourceId }: AuditEvent): string | undefined {
    return this.#nameOf(resourceId);
  }

  /** Who acted: the user’s name, or what acted where no user did. */
  actorOf({ username, userId, principal }: AuditEvent): string {
    return username || this.#nameOf(userId) || userId || principal || 'nobody logged in';
  }

  /** The result of the last verification. */
  get verdict(): ReadonlySignal<Verdict | undefined> {
    return this.#verdict;
  }

  read(filter: AuditFilter = this.#filter.peek()): Promise<void> {
    this.#filter.value = filter;
    return this.#read([]);
  }

  more(): Promise<void> {
    return this.#read(this.#listing.peek()?.events ?? []);
  }

  verify(): Promise<void> {
    this.#verdict.value = undefined;
    return this.verifying.read(
      () => this.#client.call('audit.verify', {}),
      (verdict) => {
        this.#verdict.value = verdict;
      },
    );
  }

  #read(before: readonly AuditEvent[]): Promise<void> {
    const { action, userId } = this.#filter.peek();
    const filter = { ...(action !== '' && { action }), ...(userId !== '' && { userId }) };
    const page = { limit: PAGE, offset: before.length };
    return this.reading.read(
      () => this.#client.call('audit.list', { ...filter, ...page }),
      ({ events, total }) => {
        // Records that were added meanwhile push those already shown onto this page.
        const oldest = before.at(-1)?.seq ?? Number.POSITIVE_INFINITY;
        const shown = [...before, ...events.filter(({ seq }) => seq < oldest)];
        this.#listing.value = { events: shown, hasMore: before.length + events.length < total };
        this.#meet(events);
      },
    );
  }

  #meet(events: readonly AuditEvent[]): void {
    const named = events.filter(({ userId, username }) => userId !== '' && (username !== '' || !isUserId(userId)));
    const met = named.map(({ userId, username }) => [userId, username || userId] as const);
    this.#people.value = new Map([...this.#people.peek(), ...met]);
    void this.#readNames(events);
  }

  /** Of users without a name in the records: they were acted on, or created themselves as the first user. */
  async #readNames(events: readonly AuditEvent[]): Promise<void> {
    const actors = new Set(events.map(({ userId }) => userId));
    const ids = new Set([...actors, ...events.map(({ resourceId }) => resourceId)]);
    const userIds = [...ids].filter((id) => isUserId(id) && this.#nameOf(id) === undefined);
    if (userIds.length === 0) return;
    try {
      const { users } = await this.#client.call('user.names', { userIds });
      const found = users.map(({ userId, username }) => [userId, username] as const);
      this.#targets.value = new Map([...this.#targets.peek(), ...found]);
      const acted = found.filter(([userId]) => actors.has(userId));
      this.#people.value = new Map([...this.#people.peek(), ...acted]);
    } catch {
      // their ids stay
    }
  }

  #nameOf(userId: string): string | undefined {
    return this.#people.value.get(userId) ?? this.#targets.value.get(userId);
  }
}

/** And not that of the operator or an API token. */
const isUserId = (id: string): boolean => id.startsWith('user_');
