import { createGuardedEgress } from '../../../egress/guarded-egress.ts';
import { classifyHere } from '../../../egress/host-decision.ts';
import { createPublicFetch, requirePublic } from '../../../egress/public-fetch.ts';
import type { ChannelServices } from '../../../gateway/channels/channel-services.ts';
import type { LiveConfig } from '../live-config.ts';

interface Machine extends Pick<ChannelServices['push'], 'fetch' | 'holders' | 'home'> {
  environment: Readonly<Record<string, string | undefined>>;
}

/** The channels of the configuration in force. */
export const channelServices = (
  live: Pick<LiveConfig, 'channels' | 'privateHosts'>,
  { fetch, environment, home, holders }: Machine,
): ChannelServices => {
  const privateHosts = () => live.privateHosts;
  // Unlike `fetch`, it also refuses names that resolve to an address of this machine.
  const outside = createGuardedEgress({ privateHosts, environment, classify: classifyHere });
  const fetchMedia = createPublicFetch(outside.fetch, privateHosts);
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
