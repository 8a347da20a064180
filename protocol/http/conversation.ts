import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { ConversationFile } from '../methods/conversation/conversation-file.ts';
import { Moment } from './accounts/audit.ts';
import { endpoint } from './endpoint.ts';

/** Searching messages (HTTP.md, "Lists"), and conversations as files (HTTP.md, "Export and import"). */
export const conversationEndpoints = {
  find: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/find',
    summary: 'Messages with all words of a query, in open and saved workstreams, the best first.',
    scope: 'read',
    request: () =>
      z.object({
        /** Words, each of which has to be in the message, or begin one of its words. */
        query: z.string().min(1).max(256),
        limit: z.coerce.number().int().min(1).max(50).optional(),
        workdir: z.string().max(4_096).optional(),
        model: z.string().max(256).optional(),
        /** The owner; empty: the operator. */
        user_id: z.string().max(128).optional(),
        /** Only workstreams that were last changed at this time or later. */
        since: Moment.optional(),
        /** Only workstreams that were last changed before. */
        until: Moment.optional(),
      }),
    reply: () =>
      z.object({
        messages: z.array(
          z.object({
            ws_id: z.string(),
            name: z.string(),
            seq: z.int(),
            role: z.enum(['user', 'assistant']),
            created: z.string(),
            excerpt: z.string(),
          }),
        ),
        incomplete: z.boolean(),
      }),
    errors: { 400: 'query: Too small: expected string to have >=1 characters' },
  }),
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
