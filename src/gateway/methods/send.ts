import { GatewayError } from '../../../protocol/errors.ts';
import type { sendContracts } from '../../../protocol/methods/send.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import { type Handlers, keptOf } from '../call.ts';
import type { Channels } from '../channels/channels.ts';
import type { DeliveryQueue } from '../channels/delivery-queue.ts';
import { insertDelivery } from '../channels/delivery-rows.ts';
import { lastChat } from '../channels/run-delivery.ts';
import { type Viewer, viewerOf } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';
import { MAIN } from '../workstreams/session-keys.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';

interface SendMethodDeps {
  workstreams: Pick<Workstreams, 'lookUp'>;
  channels: Channels;
  deliveries: Pick<DeliveryQueue, 'wake'>;
  store: Pick<Store, 'db' | 'commit'>;
  clock: Pick<Clock, 'now'>;
  ids: Pick<Ids, 'id'>;
}

type Accepted = { messageId: string; provider: string; chatId: string };

export const sendMethods = (deps: SendMethodDeps): Handlers<keyof typeof sendContracts> => ({
  send: async ({ to, message, idempotencyKey: runId, mediaUrl, provider }, call) => {
    const kept = keptOf<Accepted>(call);
    if (kept) return { runId, ...kept, ...deps.channels.noticesOf(kept.provider) };
    if (message.trim() === '') throw new GatewayError('INVALID_REQUEST', 'message must not be blank');
    if (to?.trim() === '') throw new GatewayError('INVALID_REQUEST', 'to must not be blank');
    const place = await placeOf({ to, provider }, viewerOf(call), deps);
    const accepted: Accepted = { messageId: deps.ids.id('msg'), provider: place.provider, chatId: place.to };
    const row = insertDelivery({
      messageId: accepted.messageId,
      provider: accepted.provider,
      to: place.to,
      message: message.trim(),
      mediaUrl,
      from: call.principal?.id ?? 'unknown',
      acceptedMs: deps.clock.now(),
    });
    await deps.store.commit({ statements: [row, ...call.keep(accepted)], durable: true });
    deps.deliveries.wake();
    return { runId, ...accepted, ...deps.channels.noticesOf(accepted.provider) };
  },
});

/** The last chat of a session, or the destination of a channel. */
async function placeOf(
  { to = MAIN, provider }: { to?: string | undefined; provider?: string | undefined },
  viewer: Viewer,
  { channels, workstreams, store }: SendMethodDeps,
): Promise<{ provider: string; to: string }> {
  if (provider?.trim().toLowerCase() !== 'last') {
    const found = await channels.resolve({ provider, to, viewer });
    return { provider: found.channel.name, to: found.to };
  }
  const key = to.trim();
  const session = await workstreams.lookUp(key, viewer);
  if (!session) throw new GatewayError('NOT_FOUND', `Unknown session: ${key.slice(0, 80)}`);
  const chat = await lastChat([session.wsId], undefined, { channels, store });
  if (chat) return chat;
  const problem = `nobody has written to the session ${key.slice(0, 80)} from a chat; name a provider and a destination`;
  throw new GatewayError('INVALID_REQUEST', `provider last: ${problem}`);
}
