import { z } from 'zod';
import { contract } from '../contract.ts';
import { NonEmpty } from '../frames.ts';

const Count = z.int().min(0);

/** Outputs of tools that are too long for a result, page by page. */
export const outputContracts = {
  'output.read': contract({
    summary: 'A part of all that a finished tool call has printed, also where the model and events have its ends only.',
    scope: 'read',
    weight: 3,
    params: z
      .strictObject({
        wsId: z.string(),
        callId: NonEmpty.max(512),
        /** In bytes. A part has every character that begins in it: parts side by side make up the whole. */
        offset: Count.optional(),
        limit: z.int().min(1).max(131_072).optional(),
      })
      .meta({ id: 'OutputReadParams' }),
    result: z
      .strictObject({
        /** What was printed, with its colour codes. */
        text: z.string(),
        offset: Count,
        totalBytes: Count,
      })
      .meta({ id: 'OutputReadResult' }),
  }),
};
