import { z } from 'zod';
import { BackgroundCommand } from '../../events/background-command.ts';
import { endpoint } from '../endpoint.ts';

const Command = z.object({ ws_id: z.string(), command_id: z.string().min(1).max(128) });
const MISSING = 'Unknown workstream or command';

/** Commands that run in the background (HTTP.md, "Background commands"). */
export const backgroundEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/{ws_id}/background',
    summary: 'The background commands of a workstream: those that run, and the latest that have ended.',
    scope: 'read',
    request: () => z.object({ ws_id: z.string() }),
    reply: () => z.object({ commands: z.array(BackgroundCommand) }),
    errors: { 404: 'Unknown workstream' },
  }),
  output: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/{ws_id}/background/{command_id}/output',
    summary: 'A part of the output of a background command, also while it runs; without `offset`, its end.',
    scope: 'read',
    request: () =>
      Command.extend({
        offset: z.coerce.number().int().min(0).optional(),
        limit: z.coerce.number().int().min(1).max(131_072).optional(),
      }),
    reply: () =>
      z.object({
        command: BackgroundCommand,
        text: z.string(),
        offset: z.int(),
        /** Of what is stored: at most the first 64 MiB. */
        total_bytes: z.int(),
      }),
    errors: { 404: MISSING },
  }),
  kill: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/{ws_id}/background/{command_id}/kill',
    summary: 'End a background command, with everything that it has started.',
    scope: 'write',
    request: () => Command,
    reply: () =>
      z.object({
        status: z.literal('ok'),
        /** False: it had ended before. */
        killed: z.boolean(),
        command: BackgroundCommand,
      }),
    errors: { 404: MISSING },
  }),
};
