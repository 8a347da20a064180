import type { Authenticator } from '../auth/authenticator.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { ChannelMetrics } from '../metrics/channel-metrics.ts';
import { Push } from '../push/push-noun.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { createChannels } from './channels.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import { createBots } from './telegram/bots.ts';
import { PreviewGate } from './telegram/preview/preview-gate.ts';
import { createTelegramChannel } from './telegram/telegram-channel.ts';
import { createWebhookChannel } from './webhook.ts';
import { createNumbers } from './whatsapp/numbers.ts';
import { createWhatsAppChannel } from './whatsapp/whatsapp-channel.ts';
import { createWorkstreamChannel } from './workstream-note.ts';

type OutboxDeps = Pick<
  GatewayDeps,
  'store' | 'channelServices' | 'nodes' | 'memories' | 'auth' | 'server' | 'clock' | 'ids' | 'log'
> & {
  authenticator: Pick<Authenticator, 'viewerOf'>;
  metrics: ChannelMetrics;
};

/** Where messages go that leave a conversation, the queue from which they go, and who is notified of what waits. */
export function createOutbox(
  { store, channelServices, nodes, memories, auth, authenticator, server, metrics, clock, ids, log }: OutboxDeps,
  workstreams: Workstreams,
) {
  const { webhooks, telegram, whatsapp } = channelServices;
  const previews = new PreviewGate();
  const channels = createChannels([
    createWebhookChannel({ destinations: webhooks.destinations, fetch: webhooks.fetch, clock }),
    createWorkstreamChannel({ workstreams, store, clock }),
    createTelegramChannel({
      bot: createBots(telegram, clock),
      settings: telegram.settings,
      fetchMedia: telegram.fetchMedia,
      users: auth.users,
      store,
      clock,
      metrics,
      previews,
    }),
    createWhatsAppChannel({
      number: createNumbers(whatsapp, clock),
      settings: whatsapp.settings,
      fetchMedia: whatsapp.fetchMedia,
      users: auth.users,
      store,
      clock,
      metrics,
    }),
  ]);
  const deliveries = new DeliveryQueue({ channels, viewerOf: authenticator.viewerOf, store, clock, log });
  const { push: services } = channelServices;
  const { consents } = auth;
  const push = new Push({
    store,
    services,
    holders: services.holders,
    requests: nodes.requests,
    servers: () => consents.servers(),
    url: server.url,
    clock,
    ids,
    log,
  });
  memories.quarantine.onChanged(() => push.look());
  consents.onWaiting(() => push.look());
  return { channels, deliveries, previews, push };
}
