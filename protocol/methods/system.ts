import { z } from 'zod';
import { PresenceEntry } from '../connect.ts';
import { contract } from '../contract.ts';
import { LIMITS } from '../limits.ts';
import { isPlainName, PLAIN_NAME_RULE, PlainText } from '../text/plain-text.ts';

/** A value of the wrong type counts as absent, as clients of the protocol expect. */
const lenient = (max = 200) => z.string().min(1).max(max).optional().catch(undefined).refine(isPlain, PLAIN_NAME_RULE);
const isPlain = (said: string | undefined) => said === undefined || isPlainName(said);

/** Presence, and texts for the main session. */
export const systemContracts = {
  'system-presence': contract({
    summary: 'Who is connected, newest first: a bare array.',
    scope: 'read',
    params: () => z.unknown(),
    result: () => z.array(PresenceEntry).meta({ id: 'SystemPresenceResult' }),
  }),
  'system-event': contract({
    summary: 'Report an event, or that a client is alive; updates the presence and the main session’s next turn.',
    scope: 'write',
    params: () =>
      z
        .object({
          text: PlainText.max(LIMITS.systemEventChars).regex(/\S/, 'text required'),
          instanceId: lenient(),
          host: lenient(),
          ip: lenient(),
          mode: lenient(),
          version: lenient(),
          platform: lenient(),
          deviceFamily: lenient(),
          modelIdentifier: lenient(),
          reason: lenient(),
          lastInputSeconds: z.int().min(0).optional().catch(undefined),
          tags: z
            .array(z.string().min(1).max(64))
            .max(20)
            .optional()
            .catch(undefined)
            .refine((tags = []) => tags.every(isPlainName), PLAIN_NAME_RULE),
        })
        .meta({ id: 'SystemEventParams' }),
    result: () => z.strictObject({ ok: z.literal(true) }).meta({ id: 'SystemEventResult' }),
  }),
};
