import { z } from 'zod';
import { FileChanges, FileDiff, FileFound } from '../../methods/conversation/file.ts';
import { endpoint } from '../endpoint.ts';
import { changeReply } from './checkpoint.ts';

const Place = { ws_id: z.string() };
const text = z.string().nullish();
const whole = (least: number) => z.coerce.number().int().min(least).optional();
const UNKNOWN = 'Unknown workstream, or no such file in its folders';
const REPLACED = 'The working directory was replaced';

/** The files of a workstream (HTTP.md, "Files"). */
export const fileEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/{ws_id}/files',
    summary: 'The entries of a folder of a workstream, folders first.',
    scope: 'write',
    request: () => z.object({ ...Place, path: text, offset: whole(0), limit: whole(1) }),
    reply: () =>
      z.object({
        path: z.string(),
        folders: z.array(z.string()),
        entries: z.array(
          z.object({
            name: z.string(),
            path: z.string().optional(),
            kind: z.enum(['folder', 'file', 'link', 'other']),
            size: z.int().optional(),
            modified: z.string().optional(),
            ignored: z.boolean(),
            secret: z.boolean(),
          }),
        ),
        total: z.int(),
      }),
    errors: { 404: UNKNOWN, 409: REPLACED },
  }),
  find: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/{ws_id}/files/find',
    summary: 'Files of a workstream whose paths resemble a text.',
    scope: 'write',
    request: () => z.object({ ...Place, query: text, limit: whole(1) }),
    reply: () => FileFound,
    errors: { 404: 'Unknown workstream', 409: REPLACED },
  }),
  read: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/{ws_id}/files/content',
    summary: 'Lines of a text file of a workstream.',
    scope: 'write',
    request: () => z.object({ ...Place, path: z.string(), offset: whole(1), limit: whole(1) }),
    reply: () =>
      z.object({
        path: z.string(),
        size: z.int(),
        modified: z.string(),
        text: z.string().optional(),
        first: z.int(),
        last: z.int(),
        lines: z.int(),
        cut: z.boolean(),
        without: z.enum(['binary', 'large', 'secret']).optional(),
      }),
    errors: { 404: UNKNOWN, 409: REPLACED },
  }),
  changes: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/{ws_id}/files/changes',
    summary: 'What git reports as changed in the folders of a workstream.',
    scope: 'write',
    request: () => z.object(Place),
    reply: () => FileChanges,
    errors: { 404: 'Unknown workstream', 409: REPLACED },
  }),
  diff: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/{ws_id}/files/diff',
    summary: 'How one file has changed since the last commit.',
    scope: 'write',
    request: () => z.object({ ...Place, path: z.string(), part: z.enum(['staged', 'unstaged']).nullish() }),
    reply: () => FileDiff,
    errors: { 404: 'Unknown workstream, or git knows no change of this file', 409: REPLACED },
  }),
  discard: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/{ws_id}/files/discard',
    summary: 'Put one file back to what the last commit has.',
    scope: 'write',
    request: () => z.object({ ...Place, path: z.string(), seen: z.string() }),
    reply: changeReply,
    errors: { 404: UNKNOWN, 409: 'An answer is in progress, or the file has changed since' },
    idempotencyKey: true,
  }),
};
