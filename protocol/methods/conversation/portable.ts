import { z } from 'zod';
import { contract } from '../../contract.ts';
import { NonEmpty, optionalKey, optionalText } from '../../frames.ts';
import { ConversationFile } from './conversation-file.ts';

const Count = z.int().min(0);

/** Writes a conversation as a file, and reads one into a new workstream. */
export const portableContracts = {
  'workstream.export': contract({
    summary: 'A conversation as a file that can be imported, or as Markdown. Long ones: GET …/export over HTTP.',
    scope: 'read',
    weight: 3,
    params: () =>
      z
        .strictObject({ wsId: z.string(), format: z.enum(['json', 'markdown']).default('json') })
        .meta({ id: 'WorkstreamExportParams' }),
    result: () =>
      z
        .discriminatedUnion('format', [
          z.strictObject({ format: z.literal('json'), conversation: ConversationFile }),
          z.strictObject({ format: z.literal('markdown'), markdown: z.string() }),
        ])
        .meta({ id: 'WorkstreamExportResult' }),
  }),
  'workstream.import': contract({
    summary: 'Create a workstream from an exported conversation. Long ones: POST …/import over HTTP.',
    scope: 'write',
    permission: 'workstreams.create',
    weight: 3,
    params: () =>
      z
        .strictObject({ conversation: ConversationFile, workdir: optionalText(4096), idempotencyKey: optionalKey() })
        .meta({ id: 'WorkstreamImportParams' }),
    result: () =>
      z
        .strictObject({
          wsId: NonEmpty,
          name: NonEmpty,
          messageCount: Count,
          /** The model that the file names, if it is unknown here; the default model is used. */
          unknownModel: z.string().optional(),
          /** Files of messages whose bytes are not in the file; absent if there are none. */
          missingFiles: z.array(z.string()).optional(),
        })
        .meta({ id: 'WorkstreamImportResult' }),
    idempotency: 'optional',
  }),
};
