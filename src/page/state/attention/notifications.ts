import { type ReadonlySignal, signal } from '@preact/signals';
import type { NoticeContent, PushSubscription } from '../../../../protocol/methods/channels/push.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import { attempt } from '../accounts/refusal.ts';
import { type Reader, Reading } from '../reading/reading.ts';

/** What a browser says of its subscription. */
export interface DeviceSubscription {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

/** The notifications of this browser. */
export interface PushDevice {
  /** `unsupported`: also over plain http from another machine, where browsers have none. */
  permission(): 'unsupported' | NotificationPermission;
  /** Undefined while there is none. Asks nobody, and loads nothing. */
  current(): Promise<DeviceSubscription | undefined>;
  /** Asks for the permission where it is needed. */
  subscribe(publicKey: string): Promise<DeviceSubscription>;
  unsubscribe(): Promise<void>;
  label: string;
}

interface Port {
  client: Reader;
  device: PushDevice;
  /** Storage of this browser. */
  lasting: Pick<Storage, 'getItem' | 'setItem'>;
}

/** The subscription of this browser, as the daemon calls it; empty after it was switched off. */
const OWN = 'headgate.push';

/** Notifications of questions: of this browser, and of the other ones of the person. */
export class Notifications {
  readonly #port: Port;
  readonly reading: Reading;
  readonly #all = signal<readonly PushSubscription[] | undefined>(undefined);
  #publicKey = '';

  constructor(port: Port) {
    this.#port = port;
    this.reading = new Reading(port.client);
  }

  /** Undefined until the first answer. */
  get all(): ReadonlySignal<readonly PushSubscription[] | undefined> {
    return this.#all;
  }

  isOwn({ subscriptionId }: PushSubscription): boolean {
    return subscriptionId === this.#port.lasting.getItem(OWN);
  }

  /**
   * It was switched on here, and is not any more: its login was ended, it was switched off elsewhere, or the push server has
   * forgotten the browser.
   */
  get isLost(): boolean {
    const own = this.#port.lasting.getItem(OWN) ?? '';
    const all = this.#all.value;
    return own !== '' && all !== undefined && !all.some(({ subscriptionId }) => subscriptionId === own);
  }

  read(): Promise<void> {
    const { client } = this.#port;
    return this.reading.read(
      () => client.call('push.list', {}),
      ({ publicKey, subscriptions }) => {
        this.#publicKey = publicKey;
        this.#all.value = subscriptions;
      },
    );
  }

  /** This and the next methods return an error message, or undefined on success. */
  async switchOn(content: NoticeContent): Promise<string | undefined> {
    const { device } = this.#port;
    try {
      const subscription = await device.subscribe(this.#publicKey);
      return await this.#tell(subscription, content);
    } catch (error) {
      return device.permission() === 'denied'
        ? 'This browser does not allow notifications of this page. Change that in its settings.'
        : wordsOf(error);
    }
  }

  async remove(subscription: PushSubscription): Promise<string | undefined> {
    const { client, device, lasting } = this.#port;
    const isOwn = this.isOwn(subscription);
    const { subscriptionId } = subscription;
    const problem = await attempt(() => client.call('push.remove', { subscriptionId }));
    if (problem === undefined && isOwn) {
      lasting.setItem(OWN, '');
      await device.unsubscribe();
    }
    await this.read();
    return problem;
  }

  async test({ subscriptionId }: PushSubscription): Promise<string | undefined> {
    const { client } = this.#port;
    let refused: string | undefined;
    const problem = await attempt(async () => {
      const { accepted, problem: why } = await client.call('push.test', { subscriptionId });
      if (!accepted) refused = `The notification was not accepted: ${why ?? 'no reason was given'}`;
    });
    await this.read();
    return problem ?? refused;
  }

  /**
   * After a login, or when the push server has given this browser a new address, what it asked for before goes on: below the
   * present login, and only if the same person asked for it.
   */
  async renew(): Promise<void> {
    const { device, lasting } = this.#port;
    const own = lasting.getItem(OWN) ?? '';
    if (own === '' || device.permission() !== 'granted') return;
    await this.read();
    const known = this.#all.peek()?.find(({ subscriptionId }) => subscriptionId === own);
    if (known === undefined) return;
    const subscription = (await device.current()) ?? (await device.subscribe(this.#publicKey).catch(() => undefined));
    if (subscription === undefined || (await this.#tell(subscription, known.content)) !== undefined) return;
    if (lasting.getItem(OWN) === own) return;
    await attempt(() => this.#port.client.call('push.remove', { subscriptionId: own })); // the former address gets nothing any more
    await this.read();
  }

  async #tell({ endpoint, keys }: DeviceSubscription, content: NoticeContent): Promise<string | undefined> {
    const { client, device, lasting } = this.#port;
    const problem = await attempt(async () => {
      const params = { endpoint, keys, content, label: device.label };
      const { subscription } = await client.call('push.subscribe', params);
      lasting.setItem(OWN, subscription.subscriptionId);
    });
    await this.read();
    return problem;
  }
}
