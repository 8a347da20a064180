import type { GatewayDeps } from '../gateway-deps.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { createChannels } from './channels.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import { createWebhookChannel } from './webhook.ts';
import { createWorkstreamChannel } from './workstream-note.ts';

/** Where messages go that leave a conversation, and the queue from which they go. */
export function createOutbox(
  { store, webhooks, clock, log }: Pick<GatewayDeps, 'store' | 'webhooks' | 'clock' | 'log'>,
  workstreams: Workstreams,
) {
  const channels = createChannels([
    createWebhookChannel({ destinations: webhooks.destinations, fetch: webhooks.fetch, clock }),
    createWorkstreamChannel({ workstreams, store, clock }),
  ]);
  return { channels, deliveries: new DeliveryQueue({ channels, store, clock, log }) };
}
