import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Timers } from '../../../../protocol/client/timers.ts';
import type { Result } from '../../../../protocol/index.ts';
import type { User } from '../../../../protocol/methods/accounts/user.ts';
import type { ChannelSender } from '../../../../protocol/methods/channels/channel.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { attempt } from '../accounts/refusal.ts';
import { type Reader, Reading } from '../reading/reading.ts';
import { channelName } from './channel-words.ts';

interface Port {
  client: Reader;
  timers: Pick<Timers, 'after'>;
  /** Whether the person may see who writes, and decide about it. */
  mayManage(): boolean;
}

/** No event tells of a change, and people wait for one while they set up a channel. */
const EVERY_MS = 5_000;
/** The most that the daemon lists at once. */
const MOST_USERS = 1_000;

/** The outcome of a test, in words. */
export interface Tested {
  isGood: boolean;
  words: string;
}

/** The channels, and the people who write from them. Nothing is read until they are shown. */
export class ChannelBoard {
  readonly #port: Port;
  readonly reading: Reading;
  /** Of the users to whom people can be linked. */
  readonly choosing: Reading;
  readonly #listing = signal<Result<'channel.list'> | undefined>(undefined);
  readonly #senders = signal<readonly ChannelSender[] | undefined>(undefined);
  readonly #users = signal<readonly User[]>([]);
  readonly #paired = signal<Result<'channel.pair'> | undefined>(undefined);

  constructor(port: Port) {
    this.#port = port;
    this.reading = new Reading(port.client);
    this.choosing = new Reading(port.client);
  }

  /** Undefined until the first answer. */
  get listing(): ReadonlySignal<Result<'channel.list'> | undefined> {
    return this.#listing;
  }

  /** The people who asked to write, or were decided about. Undefined until the first answer, and without the right. */
  get senders(): ReadonlySignal<readonly ChannelSender[] | undefined> {
    return this.#senders;
  }

  /** To whom a person can be linked. */
  readonly choices = computed(() => this.#users.value.filter(({ disabled }) => !disabled));

  /** The person who was approved last. */
  get paired(): ReadonlySignal<Result<'channel.pair'> | undefined> {
    return this.#paired;
  }

  /** Called when the view opens: reads now and then again. Call the returned function when it closes. */
  follow(): () => void {
    const { timers, mayManage } = this.#port;
    let cancel = (): void => undefined;
    let isOver = false;
    const readOn = async () => {
      await this.read();
      if (!isOver) cancel = timers.after(EVERY_MS, () => void readOn());
    };
    void readOn();
    if (mayManage()) void this.#readUsers();
    return () => {
      isOver = true;
      cancel();
      this.#paired.value = undefined;
    };
  }

  read(): Promise<void> {
    const { client, mayManage } = this.#port;
    return this.reading.read(
      () =>
        Promise.all([
          client.call('channel.list', {}),
          mayManage() ? client.call('channel.sender.list', {}) : undefined,
        ]),
      ([listing, people]) => {
        this.#listing.value = listing;
        this.#senders.value = people && waitingFirst(people.senders);
      },
    );
  }

  /** Approves the person who received the code. This, `revoke` and `restore` return an error message, or undefined on success. */
  async pair(asked: { channel: string; code: string; user: string }): Promise<string | undefined> {
    const { client } = this.#port;
    const { channel, code, user } = asked;
    this.#paired.value = undefined;
    return this.#attempt(async () => {
      this.#paired.value = await client.call('channel.pair', { channel, code, ...(user !== '' && { user }) });
    });
  }

  revoke({ channel, senderId }: Pick<ChannelSender, 'channel' | 'senderId'>): Promise<string | undefined> {
    return this.#attempt(() => this.#port.client.call('channel.revoke', { channel, senderId }));
  }

  /** Ends a revocation: the person gets a code with the next message. */
  restore({ channel, senderId }: Pick<ChannelSender, 'channel' | 'senderId'>): Promise<string | undefined> {
    return this.#attempt(() => this.#port.client.call('channel.restore', { channel, senderId }));
  }

  /** Asks the service whether it accepts the stored credential. */
  async test(channel: string): Promise<Tested> {
    let words = '';
    const problem = await attempt(async () => {
      const { account, bot } = await this.#port.client.call('channel.test', { channel });
      words = `${channelName(channel)} accepts the token of ${toVisibleLine(bot)} (${toVisibleLine(account)}).`;
    });
    return problem === undefined ? { isGood: true, words } : { isGood: false, words: problem };
  }

  /** Whose workstreams the chats of a person are. */
  ownerOf({ userId }: Pick<ChannelSender, 'userId'>): string {
    if (userId === undefined) return 'the operator';
    return this.#users.value.find((user) => user.userId === userId)?.displayName ?? userId;
  }

  async #attempt(act: () => Promise<unknown>): Promise<string | undefined> {
    const problem = await attempt(act);
    await this.read(); // after a refusal too: the list may be out of date
    return problem;
  }

  #readUsers(): Promise<void> {
    const { client } = this.#port;
    return this.choosing.read(
      () => client.call('user.list', { limit: MOST_USERS }),
      ({ users }) => {
        this.#users.value = users;
      },
    );
  }
}

/** The daemon lists those first that changed last. People who wait need a decision, so they come before all others. */
const waitingFirst = (senders: readonly ChannelSender[]): ChannelSender[] =>
  senders.toSorted((a, b) => Number(b.status === 'pending') - Number(a.status === 'pending'));
