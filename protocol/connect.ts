import { z } from 'zod';
import { contract } from './contract.ts';
import { NonEmpty, optionalText, StateVersion } from './frames.ts';
import { PlainName } from './text/plain-text.ts';

const Count = z.int().min(0);
const Name = PlainName.min(1);

/** One connected machine or client. All fields except `ip` and `ts` are its own claims. */
export const PresenceEntry = z
  .strictObject({
    ts: Count,
    host: NonEmpty.optional(),
    ip: NonEmpty.optional(),
    version: NonEmpty.optional(),
    platform: NonEmpty.optional(),
    deviceFamily: NonEmpty.optional(),
    modelIdentifier: NonEmpty.optional(),
    mode: NonEmpty.optional(),
    reason: NonEmpty.optional(),
    instanceId: NonEmpty.optional(),
    lastInputSeconds: Count.optional(),
    tags: z.array(NonEmpty).optional(),
    text: z.string().optional(),
  })
  .meta({ id: 'PresenceEntry' });

/** The protocol versions of a client, its identity and its token (PROTOCOL.md, "Opening a connection"). */
export const ConnectParams = z
  .strictObject({
    minProtocol: z.int().min(1),
    maxProtocol: z.int().min(1),
    client: z.strictObject({
      name: Name,
      version: Name,
      platform: Name,
      mode: Name,
      deviceFamily: Name.optional(),
      modelIdentifier: Name.optional(),
      instanceId: Name.optional(),
    }),
    caps: z.array(Name).default([]),
    auth: z.strictObject({ token: optionalText() }).optional(),
    locale: optionalText(),
    userAgent: optionalText(),
  })
  .meta({ id: 'ConnectParams' });

/** The initial state for a client: who is connected, and the daemon's health. */
const Snapshot = z
  .strictObject({
    presence: z.array(PresenceEntry),
    health: z.unknown(),
    stateVersion: StateVersion,
    uptimeMs: Count,
  })
  .meta({ id: 'Snapshot' });

/** The answer to `connect`: the gateway's features, the initial state and the limits. */
export const HelloOk = z
  .strictObject({
    type: z.literal('hello-ok'),
    protocol: z.int().min(1),
    server: z.strictObject({
      version: NonEmpty,
      connId: NonEmpty,
      commit: NonEmpty.optional(),
      host: NonEmpty.optional(),
    }),
    features: z.strictObject({ methods: z.array(NonEmpty), events: z.array(NonEmpty) }),
    snapshot: Snapshot,
    policy: z.strictObject({
      maxPayload: z.int().min(1),
      maxBufferedBytes: z.int().min(1),
      tickIntervalMs: z.int().min(1),
    }),
  })
  .meta({ id: 'HelloOk' });

export type PresenceEntry = z.infer<typeof PresenceEntry>;
export type ConnectParams = z.infer<typeof ConnectParams>;
export type HelloOk = z.infer<typeof HelloOk>;

/** Not in `features.methods`: valid only as the first request, which the handshake answers. */
export const connectContracts = {
  connect: contract({
    summary: 'Open the session, with the client’s protocol versions, identity and token.',
    scope: 'public',
    params: () => ConnectParams,
    result: () => HelloOk,
  }),
};
