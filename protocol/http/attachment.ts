import { z } from 'zod';
import { Attachment } from '../stream-events.ts';
import { endpoint } from './endpoint.ts';

const PATH = '/v1/api/workstreams/{ws_id}/attachments';
const UNKNOWN = { 404: 'Unknown workstream' } as const;
const GONE = { 404: 'Unknown attachment' } as const;
const OfWorkstream = z.object({ ws_id: z.string() });
const One = z.object({ ws_id: z.string(), attachment_id: z.string() });

/** Files of messages: upload, list, read and remove (HTTP.md, "Attachments"). */
export const attachmentEndpoints = {
  upload: endpoint({
    verb: 'post',
    path: PATH,
    summary:
      'Upload one file for a later message: an image (PNG, JPEG, GIF, WebP), a PDF, a recording, a video or UTF-8 text.',
    scope: 'write',
    body: 'multipart',
    idempotencyKey: true,
    request: () => z.object({ ws_id: z.string(), file: z.file() }),
    reply: () => Attachment,
    errors: {
      400: 'Only images (PNG, JPEG, GIF, WebP), PDFs, recordings, videos and UTF-8 text can be attached',
      408: 'The request body arrived too slowly',
      409: 'Too many attachments wait to be sent or are on their way, or the key was used for another file',
      413: 'The file is too large',
      ...UNKNOWN,
    },
  }),
  list: endpoint({
    verb: 'get',
    path: PATH,
    summary: 'The caller’s uploaded attachments that were not sent yet, oldest first.',
    scope: 'read',
    request: () => OfWorkstream,
    reply: () => z.object({ attachments: z.array(Attachment) }),
    errors: UNKNOWN,
  }),
  content: endpoint({
    verb: 'get',
    path: `${PATH}/{attachment_id}/content`,
    summary: 'The bytes of an attachment.',
    scope: 'read',
    request: () => One,
    reply: () => z.string(),
    answers: 'file',
    errors: GONE,
  }),
  remove: endpoint({
    verb: 'delete',
    path: `${PATH}/{attachment_id}`,
    summary: 'Remove an attachment that was not sent yet.',
    scope: 'write',
    request: () => One,
    reply: () => z.object({ status: z.literal('ok') }),
    errors: { 409: 'The attachment belongs to a message', ...GONE },
  }),
};
