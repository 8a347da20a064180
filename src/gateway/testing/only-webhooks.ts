import type { ChannelServices } from '../channels/channel-services.ts';

const fetch: ChannelServices['telegram']['fetch'] = () => Promise.reject(new Error('no chat service is set up'));
const none = { settings: () => undefined, fetch, fetchMedia: fetch };

/** The channels of a configuration that has only these webhooks. */
export const onlyWebhooks = (webhooks: ChannelServices['webhooks']): ChannelServices => ({
  webhooks,
  telegram: none,
  whatsapp: none,
  push: {
    settings: () => ({ delayMs: 0, contact: 'mailto:ada@example.org', ntfy: new Map(), webhooks: new Map() }),
    fetch,
    publicFetch: fetch,
    requirePublic: () => undefined,
    holders: { of: () => undefined, standing: () => undefined },
    home: '/nowhere',
  },
});
