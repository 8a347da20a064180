import { z } from 'zod';
import { Watch } from '../../events/watch.ts';
import { endpoint } from '../endpoint.ts';

const watches = () => z.object({ watches: z.array(Watch) });

/** Commands that are polled for workstreams (HTTP.md, "Watches"). */
export const watchEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/watches',
    summary: 'The active watches of this daemon, or of one of its workstreams, the newest first.',
    scope: 'write',
    request: () => z.object({ ws_id: z.string().optional() }),
    reply: watches,
  }),
  cancel: endpoint({
    verb: 'post',
    path: '/v1/api/watches/{watch_id}/cancel',
    summary: 'End a watch, and its poll if one runs.',
    scope: 'write',
    request: () => z.object({ watch_id: z.string().min(1).max(128) }),
    reply: () => z.object({ status: z.literal('ok'), watch_id: z.string() }),
    errors: { 403: 'Watch belongs to another node', 404: 'Watch not found' },
  }),
  all: endpoint({
    verb: 'get',
    path: '/v1/api/admin/watches',
    summary: 'All watches, also those that have ended, the newest first.',
    scope: 'approve',
    request: () =>
      z.object({ ws_id: z.string().optional(), limit: z.coerce.number().int().min(1).max(500).optional() }),
    reply: watches,
  }),
};
