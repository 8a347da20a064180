import { GatewayError } from '../../../protocol/errors.ts';
import type { sendContracts } from '../../../protocol/methods/send.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import { type Handlers, keptOf } from '../call.ts';
import type { Channels } from '../channels/channels.ts';
import type { DeliveryQueue } from '../channels/delivery-queue.ts';
import { insertDelivery } from '../channels/delivery-rows.ts';
import { viewerOf } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';

interface SendMethodDeps {
  channels: Channels;
  deliveries: Pick<DeliveryQueue, 'wake'>;
  store: Pick<Store, 'commit'>;
  clock: Pick<Clock, 'now'>;
  ids: Pick<Ids, 'id'>;
}

type Accepted = { messageId: string; provider: string; chatId: string };

export const sendMethods = (deps: SendMethodDeps): Handlers<keyof typeof sendContracts> => ({
  send: async ({ to, message, idempotencyKey: runId, mediaUrl, provider }, call) => {
    const kept = keptOf<Accepted>(call);
    if (kept) return { runId, ...kept };
    if (message.trim() === '') throw new GatewayError('INVALID_REQUEST', 'message must not be blank');
    if (to.trim() === '') throw new GatewayError('INVALID_REQUEST', 'to must not be blank');
    const destination = await deps.channels.resolve({ provider, to, viewer: viewerOf(call) });
    const accepted: Accepted = {
      messageId: deps.ids.id('msg'),
      provider: destination.channel.name,
      chatId: destination.to,
    };
    const row = insertDelivery({
      messageId: accepted.messageId,
      provider: accepted.provider,
      to: destination.to,
      message: message.trim(),
      mediaUrl,
      from: call.principal?.id ?? 'unknown',
      acceptedMs: deps.clock.now(),
    });
    await deps.store.commit({ statements: [row, ...call.keep(accepted)], durable: true });
    deps.deliveries.wake();
    return { runId, ...accepted };
  },
});
