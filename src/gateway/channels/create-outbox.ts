import type { Authenticator } from '../auth/authenticator.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { createChannels } from './channels.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import { createBots } from './telegram/bots.ts';
import { createTelegramChannel } from './telegram/telegram-channel.ts';
import { createWebhookChannel } from './webhook.ts';
import { createWorkstreamChannel } from './workstream-note.ts';

type OutboxDeps = Pick<GatewayDeps, 'store' | 'webhooks' | 'telegram' | 'clock' | 'log'> & {
  authenticator: Pick<Authenticator, 'viewerOf'>;
};

/** Where messages go that leave a conversation, and the queue from which they go. */
export function createOutbox(
  { store, webhooks, telegram, authenticator, clock, log }: OutboxDeps,
  workstreams: Workstreams,
) {
  const channels = createChannels([
    createWebhookChannel({ destinations: webhooks.destinations, fetch: webhooks.fetch, clock }),
    createWorkstreamChannel({ workstreams, store, clock }),
    createTelegramChannel({
      bot: createBots(telegram, clock),
      settings: telegram.settings,
      fetchMedia: telegram.fetchMedia,
      store,
      clock,
    }),
  ]);
  return { channels, deliveries: new DeliveryQueue({ channels, viewerOf: authenticator.viewerOf, store, clock, log }) };
}
