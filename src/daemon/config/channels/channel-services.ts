import { createPublicFetch, requirePublic } from '../../../egress/public-fetch.ts';
import type { ChannelServices } from '../../../gateway/channels/channel-services.ts';
import type { LiveConfig } from '../live-config.ts';

type Machine = Pick<ChannelServices['push'], 'fetch' | 'holders' | 'home'>;

/** The channels of the configuration in force. */
export const channelServices = (
  live: Pick<LiveConfig, 'channels' | 'privateHosts'>,
  { fetch, home, holders }: Machine,
): ChannelServices => {
  const fetchMedia = createPublicFetch(fetch, () => live.privateHosts);
  return {
    webhooks: { destinations: () => live.channels.webhooks, fetch },
    telegram: {
      settings: () => live.channels.telegram,
      fetch,
      fetchMedia,
    },
    whatsapp: { settings: () => live.channels.whatsapp, fetch, fetchMedia },
    push: {
      settings: () => live.channels.push,
      holders,
      fetch,
      publicFetch: fetchMedia,
      requirePublic: (address) => requirePublic(address, live.privateHosts),
      home,
    },
  };
};
