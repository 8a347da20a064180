import { z } from 'zod';
import { contract } from '../../contract.ts';
import { MODES } from '../../events/modes.ts';
import { optionalText } from '../../frames.ts';
import { Effort } from '../../stream-events.ts';
import { ALLOWING } from './allowing.ts';
import { WorkstreamRow } from './listing.ts';

/** Names, titles and settings. A model writes the titles. */
export const titleContracts = {
  'workstream.update': contract({
    summary: 'Rename, choose another model or effort, or set auto-approve or folders (which needs the approve scope).',
    scope: 'write',
    ...ALLOWING,
    params: () =>
      z
        .strictObject({
          wsId: z.string(),
          /** Empty: removes the name, so that the generated one is used. */
          name: z.string().max(128).optional(),
          /** The name becomes the title, too, in place of the model's. */
          asTitle: z.literal(true).optional(),
          model: optionalText(256),
          /** From the next run on. */
          effort: Effort.optional(),
          autoApprove: z.boolean().optional(),
          /** From the next decision on. The modes `edits`, `auto` and `full` need what autoApprove needs. */
          mode: z.enum(MODES).optional(),
          /** Accepts the folder that is now at the path of the working directory. */
          confirmWorkdir: z.literal(true).optional(),
          /** Absolute paths of all further folders that may be read without asking. */
          readable: z.array(z.string().min(1).max(4096)).max(32).optional(),
        })
        .meta({ id: 'WorkstreamUpdateParams' }),
    result: () => WorkstreamRow,
  }),
  'workstream.retitle': contract({
    summary: 'Let the model write a new title. UNAVAILABLE, without a change, if it cannot.',
    scope: 'write',
    weight: 3,
    params: () => z.strictObject({ wsId: z.string() }).meta({ id: 'WorkstreamRetitleParams' }),
    result: () => z.strictObject({ title: z.string() }).meta({ id: 'WorkstreamRetitleResult' }),
    serial: ({ wsId }: { wsId: string }) => `title ${wsId}`,
  }),
};
