import type { Clock } from '../../../../clock.ts';
import type { Store } from '../../../store/store.ts';
import type { ChannelHook, HookRequest } from '../../channel-hook.ts';
import { type ArrivedUpdate, storeUpdates } from '../../inbox/inbox-rows.ts';
import { type DeliveryStatus, readBatch, type WhatsAppMessage } from '../webhook-batch.ts';
import { isSigned, toChallenge } from '../webhook-signature.ts';
import type { WhatsAppSettings } from '../whatsapp-settings.ts';

/** What Meta sends at most. */
const MAX_BYTES = 3 * 1024 * 1024;

/** A stored update. */
export type Arrived = { message: WhatsAppMessage } | { status: DeliveryStatus };

interface HookDeps {
  settings: WhatsAppSettings;
  store: Pick<Store, 'commit'>;
  /** Updates were stored. */
  onStored(): Promise<void>;
  clock: Pick<Clock, 'now'>;
}

/** Receives messages and statuses. Meta sends them again, for days, until it gets a 200: each is stored once. */
export const createHook = ({ settings, store, onStored, clock }: HookDeps): ChannelHook => ({
  maxBytes: MAX_BYTES,
  verify: (query) => toChallenge(query, settings.verifyToken),
  async receive({ headers, body }: HookRequest) {
    const signature = headers['x-hub-signature-256'];
    if (!isSigned(body, typeof signature === 'string' ? signature : undefined, settings.appSecret)) return false;
    const { messages, statuses } = readBatch(toJson(body), settings.phoneNumberId);
    const arrived = [...messages.map(ofMessage), ...statuses.map(ofStatus)];
    if (arrived.length === 0) return true;
    const account = { channel: 'whatsapp', account: settings.phoneNumberId };
    await store.commit({ statements: storeUpdates(account, arrived, clock.now()), durable: true });
    await onStored();
    return true;
  },
});

const ofMessage = (message: WhatsAppMessage): ArrivedUpdate => ({
  updateId: message.messageId,
  chat: message.pressed === undefined ? message.senderId : '',
  senderId: message.senderId,
  body: { message } satisfies Arrived,
});

const ofStatus = (status: DeliveryStatus): ArrivedUpdate => ({
  updateId: `${status.status} ${status.messageId}`,
  chat: '',
  senderId: '',
  body: { status } satisfies Arrived,
});

/** Undefined for a body that is signed and yet no JSON: there is nothing in it to be read again. */
function toJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
