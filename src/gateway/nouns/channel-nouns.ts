import { TELEGRAM, WHATSAPP } from '../channels/chats/chat-service.ts';
import { dropWithUsers } from '../channels/drop-of-user.ts';
import { ChannelHealth } from '../channels/health/channel-health.ts';
import { createLazyService } from '../channels/lazy-service.ts';
import type { Conversations } from '../conversations.ts';
import { unlinkedJobs } from '../cron/unlinked-jobs.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { channelMethods } from '../methods/channels/channel.ts';
import { sendMethods } from '../methods/send.ts';
import type { ChannelMetrics } from '../metrics/channel-metrics.ts';
import { DAEMON } from '../sharing/perception.ts';

type ChannelNounDeps = Pick<GatewayDeps, 'store' | 'channelServices' | 'hear' | 'auth' | 'clock' | 'ids' | 'log'>;

/** Messages to the outside, and the chat services from which people write. */
export function channelNouns(deps: ChannelNounDeps, { records, talks, turns }: Conversations, metrics: ChannelMetrics) {
  const parts = {
    workstreams: talks.workstreams,
    runs: turns.runs,
    commands: turns.commands,
    approvals: turns.approvals,
    deliveries: talks.outbox.deliveries,
    previews: talks.outbox.previews,
    push: talks.outbox.push,
    events: records.events,
    attachments: records.attachments,
    metrics,
  };
  const { telegram: bot, whatsapp: number } = deps.channelServices;
  const telegram = createLazyService({
    service: TELEGRAM,
    isSetUp: () => bot.settings() !== undefined,
    alertMs: () => bot.settings()?.alertMs,
    async load() {
      const { createTelegramNoun } = await import('../loaded/loaded-services.ts');
      return createTelegramNoun(deps, bot, parts);
    },
    clock: deps.clock,
  });
  const whatsapp = createLazyService({
    service: WHATSAPP,
    isSetUp: () => number.settings() !== undefined,
    alertMs: () => undefined,
    async load() {
      const { createWhatsAppNoun } = await import('../loaded/loaded-services.ts');
      return createWhatsAppNoun(deps, number, parts);
    },
    clock: deps.clock,
  });
  const { channels, deliveries, push } = talks.outbox;
  const { auth, store, clock, ids, log } = deps;
  const services = [telegram, whatsapp];
  dropWithUsers({ users: auth.users, store, services, log });
  return {
    channels,
    /** How the chat services are doing. */
    health: new ChannelHealth({ services, jobNotices: () => unlinkedJobs(turns.cron.scheduler, channels), store, log }),
    channel: {
      methods: channelMethods({
        store,
        channels,
        accounts: deps.auth,
        services: { telegram, whatsapp },
        push,
        clock,
      }),
    },
    telegram: { once: true as const, run: telegram.run, close: telegram.close },
    whatsapp: { once: true as const, run: whatsapp.run, close: whatsapp.close },
    /** The settings may have changed. */
    look() {
      telegram.look();
      whatsapp.look();
    },
    findHook: async (channel: string) => services.find((one) => one.channel === channel)?.hook(),
    /** Messages, and notifications of what waits. */
    send: {
      once: true as const,
      methods: {
        ...sendMethods({ workstreams: talks.workstreams, channels, deliveries, store, clock, ids }),
        ...push.methods,
      },
      run: (signal: AbortSignal) => tellAgain(talks).then(() => deliveries.run(signal)),
      close: () => Promise.all([deliveries.close(), push.close()]),
    },
  };
}

/** What the daemon before had asked, and what still waits besides, is told again. */
async function tellAgain({ workstreams, outbox: { push } }: Conversations['talks']): Promise<void> {
  for (const { data, current } of workstreams.list(DAEMON)) {
    const approval = current?.pendingApproval();
    if (approval !== undefined) push.asked(data, approval);
  }
  push.look();
}

export type ChannelNouns = ReturnType<typeof channelNouns>;

/** Those of them that are joined with the others. */
export const chatNouns = ({ channel, telegram, whatsapp, send }: ChannelNouns) => ({
  channel,
  telegram,
  whatsapp,
  send,
});
