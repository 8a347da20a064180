import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

/** As `ChannelRow` has it. */
const HttpChannel = z.object({
  channel: z.string(),
  state: z.string(),
  /** Empty while messages are received. */
  why: z.string(),
  since: z.string(),
  /** Null until the service has answered. */
  bot: z.string().nullable(),
  last_poll: z.string().nullable(),
  last_in: z.string().nullable(),
  last_out: z.string().nullable(),
  backlog: z.number(),
  waiting: z.number(),
  pending: z.number(),
  blocked: z.number(),
});

const HttpNotification = z.object({
  channel: z.string(),
  name: z.string(),
  waiting: z.number(),
  failed: z.number(),
  last_out: z.string().nullable(),
  /** Empty for callers who do not perceive every workstream. */
  why: z.string(),
});

const HttpSender = z.object({
  channel: z.string(),
  sender_id: z.string(),
  name: z.string(),
  status: z.string(),
  /** Null: the operator. */
  user_id: z.string().nullable(),
  code_expires: z.string().nullable(),
  blocked: z.number(),
  updated: z.string(),
});

const HttpPart = z.object({
  channel: z.string(),
  to: z.string(),
  message_id: z.string(),
  part: z.number(),
  state: z.string(),
  provider_id: z.string().nullable(),
  receipt: z.string().nullable(),
  reason: z.string(),
  updated: z.string(),
});

const UNKNOWN = 'unsupported channel: x (available: telegram, whatsapp)';

/** Chat services from which people write (HTTP.md, "Channels"). */
export const channelEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/channels',
    summary: 'The chat services, whether they are connected, and the destinations of notifications.',
    scope: 'read',
    request: () => z.object({}),
    reply: () => z.object({ channels: z.array(HttpChannel), notifications: z.array(HttpNotification) }),
  }),
  test: endpoint({
    verb: 'post',
    path: '/v1/api/admin/channels/{channel}/test',
    summary: 'Ask a chat service which account a token belongs to. Nothing is stored.',
    scope: 'approve',
    request: () =>
      z.object({
        channel: z.string(),
        /** Default: that of the configuration. */
        token: z.string().nullish(),
      }),
    reply: () => z.object({ channel: z.string(), account: z.string(), bot: z.string() }),
    errors: { 400: UNKNOWN, 409: 'Telegram is not set up.' },
  }),
  senders: endpoint({
    verb: 'get',
    path: '/v1/api/admin/channels/senders',
    summary: 'The people who asked to write, or were approved or revoked.',
    scope: 'approve',
    request: () => z.object({}),
    reply: () => z.object({ senders: z.array(HttpSender) }),
  }),
  pair: endpoint({
    verb: 'post',
    path: '/v1/api/admin/channels/{channel}/pair',
    summary: 'Approve a person by the code that the channel gave to this person.',
    scope: 'approve',
    request: () =>
      z.object({
        channel: z.string(),
        code: z.string().catch('').default(''),
        /** The name of the user whose workstreams the chats become. Default: the operator. */
        username: z.string().nullish(),
      }),
    reply: () => z.object({ channel: z.string(), sender_id: z.string(), name: z.string() }),
    errors: { 400: UNKNOWN, 404: 'Unknown user' },
  }),
  revoke: endpoint({
    verb: 'delete',
    path: '/v1/api/admin/channels/{channel}/senders/{sender_id}',
    summary:
      'End the approval of a person; messages of this person that wait are dropped, and an answer in progress is cancelled.',
    scope: 'approve',
    request: () => z.object({ channel: z.string(), sender_id: z.string() }),
    reply: () => z.object({ status: z.literal('ok') }),
    errors: { 400: UNKNOWN },
  }),
  restore: endpoint({
    verb: 'post',
    path: '/v1/api/admin/channels/{channel}/senders/{sender_id}/restore',
    summary:
      'End the revocation of a person, who gets a code with the next message unless the configuration lists them.',
    scope: 'approve',
    request: () => z.object({ channel: z.string(), sender_id: z.string() }),
    /** `restored` is false if the person is not revoked: nothing changed. */
    reply: () => z.object({ restored: z.boolean() }),
    errors: { 400: UNKNOWN },
  }),
  deliveries: endpoint({
    verb: 'get',
    path: '/v1/api/admin/channels/deliveries',
    summary: 'What was sent to chats, part by part, newest first.',
    scope: 'approve',
    request: () => z.object({ limit: z.coerce.number().int().min(1).max(500).optional() }),
    reply: () => z.object({ deliveries: z.array(HttpPart) }),
  }),
};
