import { signal } from '@preact/signals';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { HeldRights } from '../accounts/held-rights.ts';
import { Newest } from '../reading/newest.ts';

interface Port {
  client: Pick<GatewayClient, 'call' | 'on'>;
  rights: Pick<HeldRights, 'decide' | 'releaseMemories' | 'manageChannels'>;
}

/**
 * How many people in chats, accounts and memories wait for this person. No event says so: it is read with each tick. What they
 * are is read by the inbox.
 */
export class OtherCount {
  readonly #port: Port;
  readonly #reads = new Newest();
  readonly count = signal(0);

  constructor(port: Port) {
    this.#port = port;
    port.client.on('tick', () => void this.read());
  }

  async read(): Promise<void> {
    const { client, rights } = this.#port;
    const isNewest = this.#reads.ask();
    try {
      const counts = await Promise.all([
        rights.releaseMemories.peek()
          ? client.call('memory.quarantine.list', { limit: 1 }).then(({ total }) => total)
          : 0,
        rights.manageChannels.peek()
          ? client
              .call('channel.sender.list', {})
              .then(({ senders }) => senders.filter(({ status }) => status === 'pending').length)
          : 0,
        rights.decide.peek() ? client.call('mcp.consent.pending', {}).then(({ pending }) => pending.length) : 0,
      ]);
      if (isNewest()) this.count.value = counts.reduce((sum, count) => sum + count, 0);
    } catch {
      // The connection was lost, or the rights have changed: the next tick reads again.
    }
  }
}
