import { channelEndpoints } from '../../../../protocol/http/channels/channel.ts';
import { bind, given } from '../../bind.ts';
import { iso } from '../../iso.ts';

const isoOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : iso(ms));

export const channelRoutes = [
  bind(channelEndpoints.list, 'channel.list', {
    params: () => ({}),
    reply: ({ channels, notifications }) => ({
      channels: channels.map(({ why = '', sinceMs, bot = null, lastPollAtMs, lastInAtMs, lastOutAtMs, ...same }) => ({
        ...same,
        why,
        since: iso(sinceMs),
        bot,
        last_poll: isoOrNull(lastPollAtMs),
        last_in: isoOrNull(lastInAtMs),
        last_out: isoOrNull(lastOutAtMs),
      })),
      notifications: notifications.map(({ why = '', lastOutAtMs, ...same }) => ({
        ...same,
        why,
        last_out: isoOrNull(lastOutAtMs),
      })),
    }),
  }),
  bind(channelEndpoints.test, 'channel.test', {
    params: ({ channel, token }) => ({ channel, token: given(token) }),
    reply: ({ channel, account, bot }) => ({ channel, account, bot }),
  }),
  bind(channelEndpoints.senders, 'channel.sender.list', {
    params: () => ({}),
    reply: ({ senders }) => ({
      senders: senders.map(({ senderId, userId = null, codeExpiresAtMs, updatedAtMs, ...same }) => ({
        ...same,
        sender_id: senderId,
        user_id: userId,
        code_expires: isoOrNull(codeExpiresAtMs),
        updated: iso(updatedAtMs),
      })),
    }),
  }),
  bind(channelEndpoints.pair, 'channel.pair', {
    params: ({ channel, code, username }) => ({ channel, code, user: given(username) }),
    fieldNames: { user: 'username' },
    reply: ({ channel, senderId, name }) => ({ channel, sender_id: senderId, name }),
  }),
  bind(channelEndpoints.revoke, 'channel.revoke', {
    params: ({ channel, sender_id }) => ({ channel, senderId: sender_id }),
    reply: () => ({ status: 'ok' as const }),
  }),
  bind(channelEndpoints.restore, 'channel.restore', {
    params: ({ channel, sender_id }) => ({ channel, senderId: sender_id }),
    reply: ({ restored }) => ({ restored }),
  }),
  bind(channelEndpoints.deliveries, 'channel.part.list', {
    params: ({ limit }) => ({ limit }),
    reply: ({ parts }) => ({
      deliveries: parts.map(({ messageId, providerId = null, receipt = null, reason = '', atMs, ...same }) => ({
        ...same,
        message_id: messageId,
        provider_id: providerId,
        receipt,
        reason,
        updated: iso(atMs),
      })),
    }),
  }),
];
