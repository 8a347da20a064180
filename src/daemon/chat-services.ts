import type { GatewayDeps } from '../gateway/gateway-deps.ts';
import type { LiveConfig } from './config/live-config.ts';

type Fetch = GatewayDeps['chats']['telegram']['fetch'];

/** The chat services of the configuration in force. */
export const chatServices = (live: Pick<LiveConfig, 'channels'>, fetch: Fetch): GatewayDeps['chats'] => ({
  telegram: { settings: () => live.channels.telegram, fetch },
  whatsapp: { settings: () => live.channels.whatsapp, fetch },
});
