import { ChannelHealth } from '../channels/health/channel-health.ts';
import { createTelegramNoun } from '../channels/telegram/telegram-noun.ts';
import { createWhatsAppNoun } from '../channels/whatsapp/whatsapp-noun.ts';
import type { Conversations } from '../conversations.ts';
import { unlinkedJobs } from '../cron/unlinked-jobs.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { channelMethods } from '../methods/channels/channel.ts';
import { sendMethods } from '../methods/send.ts';
import type { ChannelMetrics } from '../metrics/channel-metrics.ts';

type ChannelNounDeps = Pick<GatewayDeps, 'store' | 'channelServices' | 'auth' | 'clock' | 'ids' | 'log'>;

/** Messages to the outside, and the chat services from which people write. */
export function channelNouns(deps: ChannelNounDeps, { talks, turns }: Conversations, metrics: ChannelMetrics) {
  const parts = {
    workstreams: talks.workstreams,
    runs: turns.runs,
    commands: turns.commands,
    approvals: turns.approvals,
    deliveries: talks.deliveries,
    metrics,
  };
  const telegram = createTelegramNoun(deps, deps.channelServices.telegram, parts);
  const whatsapp = createWhatsAppNoun(deps, deps.channelServices.whatsapp, parts);
  const { channels, deliveries } = talks;
  const { store, clock, ids } = deps;
  return {
    channels,
    /** How the chat services are doing. */
    health: new ChannelHealth({
      services: [telegram, whatsapp],
      jobNotices: () => unlinkedJobs(turns.cron.scheduler, channels),
      store,
      log: deps.log,
    }),
    channel: {
      methods: channelMethods({ store, channels, users: deps.auth.users, services: { telegram, whatsapp }, clock }),
    },
    telegram: { look: telegram.look, run: telegram.run, close: telegram.close },
    whatsapp: { run: whatsapp.run, close: whatsapp.close },
    findHook: (channel: string) => (channel === 'whatsapp' ? whatsapp.hook() : undefined),
    send: {
      methods: sendMethods({ workstreams: talks.workstreams, channels, deliveries, store, clock, ids }),
      run: (signal: AbortSignal) => deliveries.run(signal),
      close: () => deliveries.close(),
    },
  };
}

export type ChannelNouns = ReturnType<typeof channelNouns>;
