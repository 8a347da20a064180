import { z } from 'zod';
import { contract } from '../contract.ts';
import { ChannelHealthRow } from './channels/channel.ts';
import { SessionRow } from './sessions.ts';

const Count = z.int().min(0);

/** A session in `status`: how old it is, and how much of its context is used. */
const StatusSession = SessionRow.extend({
  /** Milliseconds since it was updated. */
  age: Count.nullable(),
  /** Of the model's context; null as long as no model has answered, or its context is unknown. */
  remainingTokens: Count.nullable(),
  percentUsed: Count.nullable(),
  /** `think:LEVEL`, `verbose:LEVEL` and `aborted`. */
  flags: z.array(z.string()),
}).meta({ id: 'StatusSession' });
export type StatusSession = z.infer<typeof StatusSession>;

/** A summary for people: sessions, channels and queued events. */
export const statusContracts = {
  status: contract({
    summary: 'A short overview of sessions, defaults and queued events.',
    scope: 'read',
    params: () => z.unknown(),
    result: () =>
      z
        .strictObject({
          // Shown by clients of the specification. This provider does not exist here.
          web: z.strictObject({ linked: z.literal(false) }),
          heartbeatSeconds: Count,
          providerSummary: z.array(z.string()),
          queuedSystemEvents: z.array(z.string()),
          sessions: z.strictObject({
            path: z.string(),
            count: Count,
            defaults: z.strictObject({ model: z.string().nullable(), contextTokens: Count.nullable() }),
            recent: z.array(StatusSession),
          }),
          /** The chat services that are set up. */
          channels: z.array(ChannelHealthRow),
        })
        .meta({ id: 'StatusSummary' }),
  }),
};
