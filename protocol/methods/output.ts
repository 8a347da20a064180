import { z } from 'zod';
import { contract } from '../contract.ts';
import { NonEmpty } from '../frames.ts';

const Count = z.int().min(0);

/** Reads long outputs of tools page by page. */
export const outputContracts = {
  'output.read': contract({
    summary: 'A part of the full output of a finished tool call, even if the model and the events have only its ends.',
    scope: 'read',
    weight: 3,
    params: () =>
      z
        .strictObject({
          wsId: z.string(),
          callId: NonEmpty.max(512),
          /** In bytes. A part contains every character that begins in it, so that adjacent parts add up to the whole. */
          offset: Count.optional(),
          limit: z.int().min(1).max(131_072).optional(),
        })
        .meta({ id: 'OutputReadParams' }),
    result: () =>
      z
        .strictObject({
          /** The output, with its colour codes. */
          text: z.string(),
          offset: Count,
          totalBytes: Count,
        })
        .meta({ id: 'OutputReadResult' }),
  }),
};
