import { z } from 'zod';
import { contract } from '../contract.ts';
import { ChannelHealthRow } from './channels/channel.ts';
import { SessionRow } from './sessions.ts';

const Count = z.int().min(0);

/** A summary for people: sessions, channels and queued events. */
export const statusContracts = {
  status: contract({
    summary: 'A short overview of sessions, defaults and queued events.',
    scope: 'read',
    params: () => z.unknown(),
    result: () =>
      z
        .strictObject({
          heartbeatSeconds: Count,
          providerSummary: z.array(z.string()),
          queuedSystemEvents: z.array(z.string()),
          sessions: z.strictObject({
            path: z.string(),
            count: Count,
            defaults: z.strictObject({ model: z.string().nullable(), contextTokens: Count.nullable() }),
            recent: z.array(SessionRow),
          }),
          /** The chat services that are set up. */
          channels: z.array(ChannelHealthRow),
        })
        .meta({ id: 'StatusSummary' }),
  }),
};
