import { z } from 'zod';
import { contract } from '../../contract.ts';

/** Titles, which a model writes. */
export const titleContracts = {
  'workstream.retitle': contract({
    summary: 'Let the model write a new title. UNAVAILABLE, without a change, if it cannot.',
    scope: 'write',
    weight: 3,
    params: () => z.strictObject({ wsId: z.string() }).meta({ id: 'WorkstreamRetitleParams' }),
    result: () => z.strictObject({ title: z.string() }).meta({ id: 'WorkstreamRetitleResult' }),
    serial: ({ wsId }: { wsId: string }) => `title ${wsId}`,
  }),
};
