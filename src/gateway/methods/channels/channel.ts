import { GatewayError } from '../../../../protocol/errors.ts';
import { BUILTIN_ROLES } from '../../../../protocol/methods/accounts/permissions.ts';
import type { ChannelRow, channelContracts } from '../../../../protocol/methods/channels/channel.ts';
import type { Clock } from '../../../clock.ts';
import type { Call, Handlers } from '../../call.ts';
import type { Channels } from '../../channels/channels.ts';
import { hashOfCode } from '../../channels/chats/pairing-code.ts';
import { endWaitingFor } from '../../channels/delivery-rows.ts';
import { readTraffic } from '../../channels/health/channel-traffic.ts';
import { readChatOfOther } from '../../channels/inbox/chat-rows.ts';
import {
  approveSender,
  countBlocked,
  readPending,
  readSender,
  readSenders,
  restoreSender,
  revokeSender,
} from '../../channels/inbox/sender-rows.ts';
import type { LazyService } from '../../channels/lazy-service.ts';
import { readLatestChunks } from '../../channels/ledger/chunk-rows.ts';
import { readNotifications } from '../../channels/notification-rows.ts';
import type { Push } from '../../push/push-noun.ts';
import { seesEverything, viewerOf } from '../../sharing/perception.ts';
import type { ChunkTable, SenderTable } from '../../store/schema/channels/channel-schema.ts';
import { type Store, tookEffect } from '../../store/store.ts';
import type { Roles } from '../../users/roles.ts';
import type { Users } from '../../users/users.ts';
import { requireHeld } from '../accounts/role.ts';
import { requireOver } from '../accounts/user.ts';

type ChannelService = Pick<LazyService, 'report' | 'backlog' | 'check' | 'drop'>;

export interface ChannelMethodDeps {
  store: Pick<Store, 'db' | 'commit'>;
  channels: Pick<Channels, 'all'>;
  accounts: { users: Users; roles: Roles };
  /** By the names of their channels. */
  services: Readonly<Record<string, ChannelService>>;
  push: Pick<Push, 'look'>;
  clock: Pick<Clock, 'now'>;
}

const LOGGED = 50;
const MOST_SENDERS = 1_000;
/** As services write the numbers of people, and of channels that write in groups. Anything else names nobody. */
const SENDER_ID = /^-?[1-9]\d{0,19}$/;

export const channelMethods = ({
  store,
  channels,
  accounts,
  services,
  push,
  clock,
}: ChannelMethodDeps): Handlers<keyof typeof channelContracts> => ({
  'channel.list': async (_, call) => ({
    channels: await Promise.all(
      Object.entries(services).map(async ([channel, service]) => ({
        ...(await readFigures(channel, { store, clock })),
        ...toState(channel, service),
      })),
    ),
    notifications: await readNotifications(store, {
      channels: channels.all,
      withReasons: seesEverything(viewerOf(call)),
    }),
  }),
  'channel.test': async ({ channel, token }, { signal }) => ({
    channel,
    ...(await serviceOf(channel, services).check(token, signal)),
  }),
  'channel.sender.list': async () => {
    const [senders, counts] = await Promise.all([readSenders(store), countBlocked(store)]);
    const known = senders.map((row) => ({ ...toSender(row), blocked: Number(findCount(counts, row)?.count ?? 0) }));
    const strangers = counts.filter((count) => count.sender_id !== '' && !senders.some((row) => isOf(count, row)));
    return { senders: [...known, ...strangers.map(toStranger)].slice(0, MOST_SENDERS) };
  },
  'channel.pair': (params, call) => {
    serviceOf(params.channel, services);
    return pair(params, call, { store, accounts, push, clock });
  },
  'channel.revoke': async ({ channel, senderId }, call) => {
    const service = serviceOf(channel, services);
    checkSenderId(senderId);
    const linkedId = (await readSender(store, { channel, senderId }))?.user_id ?? '';
    if (linkedId !== '') requireOver(call, linkedId, accounts);
    const by = call.principal?.id ?? 'unknown';
    const nowMs = clock.now();
    const revoke = revokeSender({ channel, senderId }, { by, nowMs });
    const record = call.audited({ id: senderId, channel });
    await store.commit({ statements: [revoke, endWaitingFor({ channel, senderId }, nowMs), ...record] });
    push.look();
    await service.drop(senderId);
    return { revoked: true };
  },
  'channel.restore': async ({ channel, senderId }, call) => {
    serviceOf(channel, services);
    checkSenderId(senderId);
    const known = await readSender(store, { channel, senderId });
    if (known) requireOverSender(call, known.user_id, accounts);
    const restore = restoreSender({ channel, senderId }, { by: call.principal?.id ?? 'unknown', nowMs: clock.now() });
    const record = call.audited({ id: senderId, channel });
    return { restored: await tookEffect(store.commit({ statements: [restore, ...record] })) };
  },
  'channel.part.list': async ({ limit = LOGGED }) => ({
    parts: (await readLatestChunks(store, { limit })).map(toPart),
  }),
});

async function pair(
  { channel, code, user }: { channel: string; code: string; user?: string | undefined },
  call: Pick<Call, 'principal' | 'audited'>,
  { store, accounts, push, clock }: Pick<ChannelMethodDeps, 'store' | 'accounts' | 'push' | 'clock'>,
) {
  const linked = user === undefined ? undefined : accounts.users.findLogin(user);
  if (user !== undefined && linked === undefined) throw new GatewayError('NOT_FOUND', 'Unknown user');
  const codeHash = hashOfCode(code);
  const nowMs = clock.now();
  const asking = (await readPending(store, channel, nowMs)).find((row) => row.code_hash === codeHash);
  if (!asking) throw unknownCode();
  const { sender_id: senderId, name } = asking;
  const userId = linked?.userId ?? '';
  const wsId = await readChatOfOther(store, { channel, senderId, userId });
  requireOverSender(call, userId, accounts);
  if (wsId !== undefined) throw new GatewayError('CONFLICT', chatOfOther(wsId));
  const by = call.principal?.id ?? 'unknown';
  const approve = approveSender({ channel, senderId }, { codeHash, userId, by, nowMs });
  const detail = { id: senderId, channel, ...(linked && { userId: linked.userId }) };
  if (!(await tookEffect(store.commit({ statements: [approve, ...call.audited(detail)] })))) throw unknownCode();
  push.look();
  return { channel, senderId, name };
}

/**
 * Whoever may write in a chat has the rights of the linked user, or what the operator lends. Nobody hands out rights that
 * they do not hold.
 */
function requireOverSender(call: Pick<Call, 'principal'>, userId: string, accounts: ChannelMethodDeps['accounts']) {
  if (userId === '') requireHeld(call, BUILTIN_ROLES['builtin-operator'].permissions);
  else requireOver(call, userId, accounts);
}

/** A conversation is read by whoever writes to it. */
const chatOfOther = (wsId: string): string =>
  `The chat of this person is the workstream ${wsId} of somebody else. Delete it or change its owner, then approve the code.`;

function checkSenderId(senderId: string): void {
  if (!SENDER_ID.test(senderId)) throw new GatewayError('INVALID_REQUEST', `senderId is no number: ${senderId}`);
}

function serviceOf(channel: string, services: ChannelMethodDeps['services']): ChannelService {
  const service = Object.entries(services).find(([name]) => name === channel)?.[1];
  if (service) return service;
  const available = Object.keys(services).join(', ');
  throw new GatewayError('INVALID_REQUEST', `unsupported channel: ${channel} (available: ${available})`);
}

function toState(channel: string, { report, backlog }: ChannelService) {
  const { state, why, sinceMs, bot, lastPollMs } = report();
  return {
    channel,
    state,
    sinceMs,
    backlog: backlog(),
    ...(why !== undefined && { why }),
    ...(bot && { bot: bot.username }),
    ...(lastPollMs !== undefined && { lastPollAtMs: lastPollMs }),
  } satisfies Partial<ChannelRow>;
}

const unknownCode = () =>
  new GatewayError(
    'NOT_FOUND',
    'Unknown code. A code is valid for one hour; the person gets a new one by writing again.',
  );

async function readFigures(channel: string, { store, clock }: Pick<ChannelMethodDeps, 'store' | 'clock'>) {
  const [traffic, pending, blocked] = await Promise.all([
    readTraffic(store, channel),
    readPending(store, channel, clock.now()),
    countBlocked(store),
  ]);
  return {
    ...traffic,
    pending: pending.length,
    blocked: blocked.filter((row) => row.channel === channel).reduce((sum, { count }) => sum + Number(count), 0),
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

type BlockedCount = Awaited<ReturnType<typeof countBlocked>>[number];

const isOf = (count: BlockedCount, { channel, sender_id: id }: SenderTable): boolean =>
  count.channel === channel && count.sender_id === id;

const findCount = (counts: readonly BlockedCount[], row: SenderTable) => counts.find((count) => isOf(count, row));

/** Somebody whose messages were refused, and who was not asked to wait for approval. */
const toStranger = ({ channel, sender_id: senderId, count, last_ms: updatedAtMs }: BlockedCount) => ({
  channel,
  senderId,
  name: '',
  status: 'stranger' as const,
  blocked: Number(count),
  updatedAtMs: Number(updatedAtMs),
});

const toPart = (row: ChunkTable) => {
  const { channel, destination, message_id, chunk, state, provider_id, receipt, reason, updated_ms } = row;
  return {
    channel,
    to: destination,
    messageId: message_id,
    part: chunk,
    state,
    ...(provider_id !== null && { providerId: provider_id }),
    ...(receipt !== null && { receipt }),
    ...(reason !== null && { reason }),
    atMs: updated_ms,
  };
};
