import { GatewayError } from '../../../../protocol/errors.ts';
import type { ChannelRow, channelContracts } from '../../../../protocol/methods/channels/channel.ts';
import type { Clock } from '../../../clock.ts';
import type { Handlers } from '../../call.ts';
import type { Channels } from '../../channels/channels.ts';
import { hashOfCode } from '../../channels/chats/pairing-code.ts';
import {
  approveSender,
  countBlocked,
  readPending,
  readSenders,
  revokeSender,
} from '../../channels/inbox/sender-rows.ts';
import { readLatestChunks } from '../../channels/ledger/chunk-rows.ts';
import { readNotifications } from '../../channels/notification-rows.ts';
import type { PollReport } from '../../channels/telegram/poll-state.ts';
import { seesEverything, viewerOf } from '../../sharing/perception.ts';
import type { ChunkTable, SenderTable } from '../../store/schema/channels/channel-schema.ts';
import { type Store, tookEffect } from '../../store/store.ts';

export interface ChannelMethodDeps {
  store: Pick<Store, 'db' | 'commit'>;
  channels: Pick<Channels, 'all'>;
  users: { findLogin(username: string): { userId: string } | undefined };
  telegram: {
    report(): PollReport;
    backlog(): number;
    /** Asks Telegram for the bot of a token; undefined: that of the settings. */
    check(token: string | undefined, signal: AbortSignal): Promise<{ account: string; bot: string }>;
    /** Drops the messages of a person that wait. */
    drop(senderId: string): Promise<void>;
  };
  clock: Pick<Clock, 'now'>;
}

const LOGGED = 50;
const TELEGRAM = 'telegram';

export const channelMethods = ({
  store,
  channels,
  users,
  telegram,
  clock,
}: ChannelMethodDeps): Handlers<keyof typeof channelContracts> => ({
  'channel.list': async (_, call) => {
    const { state, why, sinceMs, bot, lastPollMs } = telegram.report();
    const about = {
      channel: TELEGRAM,
      state,
      sinceMs,
      backlog: telegram.backlog(),
      ...(await readFigures(store, clock)),
    };
    const row: ChannelRow = {
      ...about,
      ...(why !== undefined && { why }),
      ...(bot && { bot: bot.username }),
      ...(lastPollMs !== undefined && { lastPollAtMs: lastPollMs }),
    };
    const withReasons = seesEverything(viewerOf(call));
    return { channels: [row], notifications: await readNotifications(store, { channels: channels.all, withReasons }) };
  },
  'channel.test': async ({ channel, token }, { signal }) => {
    requireKnown(channel);
    return { channel, ...(await telegram.check(token, signal)) };
  },
  'channel.sender.list': async () => {
    const [senders, counts] = await Promise.all([readSenders(store), countBlocked(store)]);
    const countOf = ({ channel, sender_id: id }: SenderTable) =>
      Number(counts.find((row) => row.channel === channel && row.sender_id === id)?.count ?? 0);
    return { senders: senders.map((row) => ({ ...toSender(row), blocked: countOf(row) })) };
  },
  'channel.pair': async ({ channel, code, user }, call) => {
    requireKnown(channel);
    const linked = user === undefined ? undefined : users.findLogin(user);
    if (user !== undefined && linked === undefined) throw new GatewayError('NOT_FOUND', 'Unknown user');
    const codeHash = hashOfCode(code);
    const nowMs = clock.now();
    const asking = (await readPending(store, channel, nowMs)).find((row) => row.code_hash === codeHash);
    if (!asking) throw unknownCode();
    const { sender_id: senderId, name } = asking;
    const by = call.principal?.id ?? 'unknown';
    const approve = approveSender({ channel, senderId }, { codeHash, userId: linked?.userId ?? '', by, nowMs });
    const detail = { id: senderId, channel, ...(linked && { userId: linked.userId }) };
    if (!(await tookEffect(store.commit({ statements: [approve, ...call.audited(detail)] })))) throw unknownCode();
    return { channel, senderId, name };
  },
  'channel.revoke': async ({ channel, senderId }, call) => {
    requireKnown(channel);
    const by = call.principal?.id ?? 'unknown';
    const revoke = revokeSender({ channel, senderId }, { by, nowMs: clock.now() });
    const record = call.audited({ id: senderId, channel });
    await store.commit({ statements: [revoke, ...record] });
    await telegram.drop(senderId);
    return { revoked: true };
  },
  'channel.part.list': async ({ limit = LOGGED }) => ({
    parts: (await readLatestChunks(store, { limit })).map(toPart),
  }),
});

function requireKnown(channel: string): void {
  if (channel !== TELEGRAM)
    throw new GatewayError('INVALID_REQUEST', `unsupported channel: ${channel} (available: ${TELEGRAM})`);
}

const unknownCode = () =>
  new GatewayError(
    'NOT_FOUND',
    'Unknown code. A code is valid for one hour; the person gets a new one by writing again.',
  );

async function readFigures({ db }: Pick<Store, 'db'>, clock: Pick<Clock, 'now'>) {
  const [times, waiting, pending, blocked] = await Promise.all([
    db
      .selectFrom('channel_chats')
      .select(({ fn }) => [fn.max('last_in_ms').as('inMs'), fn.max('last_out_ms').as('outMs')])
      .where('channel', '=', TELEGRAM)
      .executeTakeFirst(),
    db
      .selectFrom('outbox')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('status', '=', 'pending')
      .where('provider', '=', TELEGRAM)
      .executeTakeFirst(),
    readPending({ db }, TELEGRAM, clock.now()),
    countBlocked({ db }),
  ]);
  return {
    ...(times?.inMs != null && { lastInAtMs: times.inMs }),
    ...(times?.outMs != null && { lastOutAtMs: times.outMs }),
    waiting: Number(waiting?.count ?? 0),
    pending: pending.length,
    blocked: blocked.reduce((sum, { count }) => sum + Number(count), 0),
  };
}

const toSender = ({ channel, sender_id, name, status, user_id, code_expires_ms, updated_ms }: SenderTable) => ({
  channel,
  senderId: sender_id,
  name,
  status,
  ...(user_id !== '' && { userId: user_id }),
  ...(code_expires_ms !== null && { codeExpiresAtMs: code_expires_ms }),
  updatedAtMs: updated_ms,
});

const toPart = ({ channel, destination, message_id, chunk, state, provider_id, reason, updated_ms }: ChunkTable) => ({
  channel,
  to: destination,
  messageId: message_id,
  part: chunk,
  state,
  ...(provider_id !== null && { providerId: provider_id }),
  ...(reason !== null && { reason }),
  atMs: updated_ms,
});
