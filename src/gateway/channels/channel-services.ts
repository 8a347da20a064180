import type { PushServices } from '../push/push-services.ts';
import type { TelegramDeps } from './telegram/bots.ts';
import type { WebhookDeps } from './webhook.ts';
import type { WhatsAppDeps } from './whatsapp/numbers.ts';

/** The settings of channels, read at each use, and how they reach their servers. */
export interface ChannelServices {
  webhooks: Pick<WebhookDeps, 'destinations' | 'fetch'>;
  telegram: TelegramDeps;
  whatsapp: WhatsAppDeps;
  push: PushServices;
}
