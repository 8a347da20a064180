import { createTelegramNoun } from '../channels/telegram/telegram-noun.ts';
import type { Conversations } from '../conversations.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { channelMethods } from '../methods/channels/channel.ts';
import { sendMethods } from '../methods/send.ts';

type ChannelNounDeps = Pick<GatewayDeps, 'store' | 'telegram' | 'hear' | 'auth' | 'clock' | 'ids' | 'log'>;

/** Messages to the outside, and the chat services from which people write. */
export function channelNouns(deps: ChannelNounDeps, { records, talks, turns }: Conversations) {
  const telegram = createTelegramNoun(deps, {
    workstreams: talks.workstreams,
    runs: turns.runs,
    commands: turns.commands,
    approvals: turns.approvals,
    deliveries: talks.deliveries,
    attachments: records.attachments,
  });
  const { channels, deliveries } = talks;
  const { store, clock, ids } = deps;
  return {
    channel: { methods: channelMethods({ store, channels, users: deps.auth.users, telegram, clock }) },
    telegram: { look: telegram.look, run: telegram.run, close: telegram.close },
    send: {
      methods: sendMethods({ channels, deliveries, store, clock, ids }),
      run: (signal: AbortSignal) => deliveries.run(signal),
      close: () => deliveries.close(),
    },
  };
}
