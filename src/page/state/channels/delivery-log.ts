import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { ChannelPart } from '../../../../protocol/methods/channels/channel.ts';
import { type Reader, Reading } from '../reading/reading.ts';
import { isProblem } from './channel-words.ts';

const PAGE = 50;
/** The most that the daemon lists. */
const MOST = 500;

/** What was sent to chats, part by part, newest first. */
export class DeliveryLog {
  readonly #client: Reader & Pick<GatewayClient, 'on'>;
  readonly reading: Reading;
  readonly #parts = signal<readonly ChannelPart[] | undefined>(undefined);
  #limit = PAGE;
  /** Only those that a person should look at. */
  readonly onlyProblems = signal(false);
  /** Undefined until the first answer. */
  readonly shown = computed(() => (this.onlyProblems.value ? this.#parts.value?.filter(isProblem) : this.#parts.value));

  constructor(client: Reader & Pick<GatewayClient, 'on'>) {
    this.#client = client;
    this.reading = new Reading(client);
  }

  /** All that were read. Undefined until the first answer. */
  get parts(): ReadonlySignal<readonly ChannelPart[] | undefined> {
    return this.#parts;
  }

  /** There are, or may be, older ones that can be read. */
  readonly hasMore = computed(() => {
    const count = this.#parts.value?.length ?? 0;
    return count >= this.#limit && count < MOST;
  });

  /** Called when the log is shown. Call the returned function when it is not any more. */
  follow(): () => void {
    void this.read();
    return this.#client.on('tick', () => void this.read());
  }

  read(): Promise<void> {
    return this.reading.read(
      () => this.#client.call('channel.part.list', { limit: this.#limit }),
      ({ parts }) => {
        this.#parts.value = parts;
      },
    );
  }

  more(): Promise<void> {
    this.#limit = Math.min(MOST, this.#limit * 2);
    return this.read();
  }
}
