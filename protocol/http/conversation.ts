import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { ConversationFile } from '../methods/conversation/conversation-file.ts';
import { endpoint } from './endpoint.ts';

/** Conversations as files (HTTP.md, "Export and import"). */
export const conversationEndpoints = {
  export: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/{ws_id}/export',
    summary: 'A conversation as a file that can be imported, or as Markdown.',
    scope: 'read',
    request: () => z.object({ ws_id: z.string(), format: z.enum(['json', 'markdown']).default('json') }),
    reply: () => z.string(),
    answers: 'file',
    errors: {
      400: 'This conversation has no messages to export.',
      404: 'Unknown workstream',
      413: 'The conversation is too long for a file that can be imported',
    },
  }),
  import: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/import',
    summary: 'Create a workstream from an exported conversation, the body.',
    scope: 'write',
    jsonOnly: true,
    bodyBytes: LIMITS.conversationFileBytes,
    request: () => z.object({ ...ConversationFile.shape, workdir: z.string().nullish() }),
    reply: () =>
      z.object({
        ws_id: z.string(),
        name: z.string(),
        message_count: z.int(),
        unknown_model: z.string().optional(),
        missing_files: z.array(z.string()).optional(),
      }),
    errors: {
      400: 'messages.3.callId: no call before it has this id and no result yet',
      408: 'The request body arrived too slowly',
      409: 'Too many simultaneous imports (limit 2); retry later',
      413: 'Request body too large',
    },
    idempotencyKey: true,
  }),
};
