import { z } from 'zod';
import { always, contract } from '../../contract.ts';
import { NonEmpty, optionalText } from '../../frames.ts';

const AtMs = z.int().min(0);
const Count = z.int().min(0);
const ChannelName = NonEmpty.max(32);

/** A chat service from which people write. */
export const ChannelRow = z
  .strictObject({
    channel: z.string(),
    /**
     * `off`: it is not set up; `connecting`: it is not connected, and tries again; `polling`: it receives messages;
     * `listening`: the service calls the daemon with messages, so a missing call is not noticed; `conflict`: another program receives the messages of the bot; `error`: nothing is tried until the settings change.
     */
    state: z.enum(['off', 'connecting', 'polling', 'listening', 'conflict', 'error']),
    /** Why it does not receive messages. */
    why: z.string().optional(),
    sinceMs: AtMs,
    /** The name of the bot; absent until the service has answered. */
    bot: z.string().optional(),
    lastPollAtMs: AtMs.optional(),
    lastInAtMs: AtMs.optional(),
    lastOutAtMs: AtMs.optional(),
    /** Received messages that are not handled yet. */
    backlog: Count,
    /** Messages that wait to be sent. */
    waiting: Count,
    /** People who wait for approval. */
    pending: Count,
    /** Messages that were refused, of those that are still stored. */
    blocked: Count,
  })
  .meta({ id: 'ChannelRow' });
export type ChannelRow = z.infer<typeof ChannelRow>;

/** What the health of the daemon shows of a chat service that is set up. */
export const ChannelHealthRow = ChannelRow.pick({
  channel: true,
  state: true,
  why: true,
  sinceMs: true,
  lastPollAtMs: true,
  lastInAtMs: true,
  lastOutAtMs: true,
  backlog: true,
  waiting: true,
}).meta({ id: 'ChannelHealthRow' });
export type ChannelHealthRow = z.infer<typeof ChannelHealthRow>;

/** A destination of `send` outside of Headgate. Messages go there, and none come back. */
export const NotificationRow = z
  .strictObject({
    /** `webhook`. */
    channel: z.string(),
    /** As in `to` of `send`. */
    name: z.string(),
    /** Messages that wait to be sent. */
    waiting: Count,
    /** Messages that were given up, of those that are still stored. */
    failed: Count,
    /** When the last message was delivered, of those that are still stored. */
    lastOutAtMs: AtMs.optional(),
    /** Why the latest attempt failed; only for callers who perceive every workstream. */
    why: z.string().optional(),
  })
  .meta({ id: 'NotificationRow' });
export type NotificationRow = z.infer<typeof NotificationRow>;

/** A person who has written to a channel. */
export const ChannelSender = z
  .strictObject({
    channel: z.string(),
    /** The number that the service gave. */
    senderId: z.string(),
    /** As the person writes it; nothing is decided by it. Empty if it is not known. */
    name: z.string(),
    /**
     * `restored`: a revocation was ended, so that the person can be approved again; `stranger`: messages were refused, and
     * nobody has decided about the person.
     */
    status: z.enum(['pending', 'approved', 'revoked', 'restored', 'stranger']),
    /** The user whom the person is linked to; absent: the operator. */
    userId: z.string().optional(),
    /** Until when a code can be approved. */
    codeExpiresAtMs: AtMs.optional(),
    blocked: Count,
    updatedAtMs: AtMs,
  })
  .meta({ id: 'ChannelSender' });
export type ChannelSender = z.infer<typeof ChannelSender>;

/** A part of a message to a chat. */
export const ChannelPart = z
  .strictObject({
    channel: z.string(),
    to: z.string(),
    messageId: z.string(),
    part: Count,
    /**
     * `accepted`: the service gave it an id; `ambiguous`: nobody knows whether it arrived; `sending`: it is on its way;
     * `unsent`: it waits.
     */
    state: z.enum(['unsent', 'sending', 'accepted', 'ambiguous', 'failed']),
    /** Only with `accepted`. */
    providerId: z.string().optional(),
    /** What the service reported after that, if it reports it. */
    receipt: z.enum(['sent', 'delivered', 'read', 'failed']).optional(),
    reason: z.string().optional(),
    atMs: AtMs,
  })
  .meta({ id: 'ChannelPart' });
export type ChannelPart = z.infer<typeof ChannelPart>;

/** Chat services from which people write. */
export const channelContracts = {
  'channel.list': contract({
    summary:
      'The chat services from which people can write, whether they are connected, and the destinations of notifications.',
    scope: 'read',
    params: () => z.strictObject({}).meta({ id: 'ChannelListParams' }),
    result: () =>
      z
        .strictObject({ channels: z.array(ChannelRow), notifications: z.array(NotificationRow) })
        .meta({ id: 'ChannelListResult' }),
  }),
  'channel.test': contract({
    summary: 'Ask a chat service which account a token belongs to. Nothing is stored.',
    scope: 'approve',
    permission: 'admin.users',
    weight: 10,
    params: () =>
      z
        .strictObject({
          channel: ChannelName,
          /** Default: that of the configuration. */
          token: optionalText(256),
        })
        .meta({ id: 'ChannelTestParams' }),
    result: () =>
      z.strictObject({ channel: z.string(), account: z.string(), bot: z.string() }).meta({ id: 'ChannelTestResult' }),
  }),
  'channel.sender.list': contract({
    summary: 'The people who asked to write, were approved or revoked, or whose messages were refused.',
    scope: 'approve',
    permission: 'admin.users',
    params: () => z.strictObject({}).meta({ id: 'ChannelSenderListParams' }),
    result: () => z.strictObject({ senders: z.array(ChannelSender) }).meta({ id: 'ChannelSenderListResult' }),
  }),
  'channel.pair': contract({
    summary: 'Approve a person by the code that the channel gave to this person.',
    scope: 'approve',
    permission: 'admin.users',
    audit: { action: 'channel.pair', id: 'senderId', by: 'handler' },
    stepUp: always,
    refusesServices: true,
    weight: 10,
    params: () =>
      z
        .strictObject({
          channel: ChannelName,
          code: NonEmpty.max(64),
          /** The name of the user whose workstreams the chats become. Default: the operator. */
          user: optionalText(128),
        })
        .meta({ id: 'ChannelPairParams' }),
    result: () =>
      z.strictObject({ channel: z.string(), senderId: z.string(), name: z.string() }).meta({ id: 'ChannelPairResult' }),
  }),
  'channel.revoke': contract({
    summary:
      'End the approval of a person; messages of this person that wait are dropped, and an answer in progress is cancelled.',
    scope: 'approve',
    permission: 'admin.users',
    audit: { action: 'channel.revoke', id: 'senderId', by: 'handler' },
    stepUp: always,
    params: () =>
      z.strictObject({ channel: ChannelName, senderId: NonEmpty.max(32) }).meta({ id: 'ChannelRevokeParams' }),
    result: () => z.strictObject({ revoked: z.boolean() }).meta({ id: 'ChannelRevokeResult' }),
  }),
  'channel.restore': contract({
    summary:
      'End the revocation of a person, who gets a code with the next message unless the configuration lists them.',
    scope: 'approve',
    permission: 'admin.users',
    audit: { action: 'channel.restore', id: 'senderId', by: 'handler' },
    stepUp: always,
    refusesServices: true,
    params: () =>
      z.strictObject({ channel: ChannelName, senderId: NonEmpty.max(32) }).meta({ id: 'ChannelRestoreParams' }),
    /** `restored` is false if the person is not revoked: nothing changed. */
    result: () => z.strictObject({ restored: z.boolean() }).meta({ id: 'ChannelRestoreResult' }),
  }),
  'channel.part.list': contract({
    summary: 'What was sent to chats, newest first, with the ids that the services gave.',
    scope: 'approve',
    permission: 'admin.users',
    params: () => z.strictObject({ limit: z.int().min(1).max(500).optional() }).meta({ id: 'ChannelPartListParams' }),
    result: () => z.strictObject({ parts: z.array(ChannelPart) }).meta({ id: 'ChannelPartListResult' }),
  }),
};
