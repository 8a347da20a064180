import { z } from 'zod';
import { contract } from '../../contract.ts';
import { NonEmpty, optionalText } from '../../frames.ts';
import { DECIDING } from '../accounts/permissions.ts';

/**
 * How much of a question a notification says. `none`: only that something waits; `title`: what kind of question it is; `full`:
 * also its conversation, and what the agent wants to do.
 */
export const NOTICE_CONTENTS = ['none', 'title', 'full'] as const;
/** One of them. */
export const NoticeContent = z.enum(NOTICE_CONTENTS);
/** One of them. */
export type NoticeContent = z.infer<typeof NoticeContent>;

const AtMs = z.int().min(0);

/** A browser that gets notifications. Never has its address or its keys. */
export const PushSubscription = z
  .strictObject({
    subscriptionId: NonEmpty,
    /** What its person calls it, such as the browser. */
    label: z.string(),
    /** The server that brings the notifications to the browser. */
    host: z.string(),
    content: NoticeContent,
    createdAtMs: AtMs,
    /** When a notification was last accepted. */
    lastSentAtMs: AtMs.optional(),
    /** Why the last notification was not accepted. */
    problem: z.string().optional(),
    /** The login that it belongs to has expired: until the next login it says no more than `title`. */
    isExpired: z.boolean(),
  })
  .meta({ id: 'PushSubscription' });
export type PushSubscription = z.infer<typeof PushSubscription>;

/** URL-safe base64 of so many bytes. */
const bytes = (count: number) =>
  z
    .string()
    .regex(new RegExp(`^[A-Za-z0-9_-]{${Math.ceil((count * 4) / 3)}}={0,2}$`), `must be ${count} bytes in base64url`);

/** Notifications of questions in browsers (Web Push). Each caller has its own subscriptions, which end with the login. */
export const pushContracts = {
  'push.list': contract({
    summary: 'The browsers of the caller that get notifications, and the key to subscribe with.',
    scope: 'approve',
    permission: DECIDING,
    params: () => z.strictObject({}).meta({ id: 'PushListParams' }),
    result: () =>
      z
        .strictObject({
          /** The `applicationServerKey` of a browser. */
          publicKey: z.string(),
          subscriptions: z.array(PushSubscription),
        })
        .meta({ id: 'PushListResult' }),
  }),
  'push.subscribe': contract({
    summary: 'Notify a browser of questions, until its login is revoked.',
    scope: 'approve',
    permission: DECIDING,
    weight: 5,
    audit: { action: 'push.subscribe', id: 'subscriptionId', by: 'handler' },
    params: () =>
      z
        .strictObject({
          /** As the browser says: an https address. Private ones are refused, unless `egress.privateHosts` names them. */
          endpoint: z.url({ protocol: /^https?$/ }).max(2_048),
          keys: z.strictObject({ p256dh: bytes(65), auth: bytes(16) }),
          /** Default: `title`. */
          content: NoticeContent.optional(),
          label: optionalText(100),
        })
        .meta({ id: 'PushSubscribeParams' }),
    result: () => z.strictObject({ subscription: PushSubscription }).meta({ id: 'PushSubscribeResult' }),
  }),
  'push.remove': contract({
    summary: 'End the notifications of one of the caller’s browsers.',
    scope: 'approve',
    permission: DECIDING,
    audit: { action: 'push.remove', id: 'subscriptionId', by: 'handler' },
    params: () => z.strictObject({ subscriptionId: NonEmpty.max(128) }).meta({ id: 'PushRemoveParams' }),
    result: () => z.strictObject({ status: z.literal('ok') }).meta({ id: 'PushRemoveResult' }),
  }),
  'push.test': contract({
    summary: 'Send a notification to one of the caller’s browsers.',
    scope: 'approve',
    permission: DECIDING,
    weight: 5,
    params: () => z.strictObject({ subscriptionId: NonEmpty.max(128) }).meta({ id: 'PushTestParams' }),
    result: () =>
      z
        .strictObject({ accepted: z.boolean(), /** Why not. */ problem: z.string().optional() })
        .meta({ id: 'PushTestResult' }),
  }),
};
