import { z } from 'zod';
import { contract } from '../../contract.ts';
import { NonEmpty } from '../../frames.ts';

/** Opens and deletes stored workstreams by id. Names, prefixes and session keys are not accepted. */
export const storedContracts = {
  'workstream.open': contract({
    summary: 'Load a stored workstream. RATE_LIMITED if the limit of loaded workstreams is reached.',
    scope: 'write',
    permission: 'workstreams.create',
    weight: 3,
    params: () => z.strictObject({ wsId: z.string() }).meta({ id: 'WorkstreamOpenParams' }),
    result: () =>
      z
        .strictObject({
          wsId: NonEmpty,
          name: NonEmpty,
          /** It was loaded before. */
          wasOpen: z.boolean(),
        })
        .meta({ id: 'WorkstreamOpenResult' }),
  }),
  'workstream.delete': contract({
    summary: 'Delete a workstream, loaded or stored, with its messages.',
    scope: 'approve',
    permission: 'approve',
    audit: { action: 'sessions.delete', id: 'wsId' },
    params: () => z.strictObject({ wsId: z.string() }).meta({ id: 'WorkstreamDeleteParams' }),
    result: () => z.strictObject({ deleted: z.literal(true) }).meta({ id: 'WorkstreamDeleteResult' }),
  }),
};
