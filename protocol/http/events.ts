import { z } from 'zod';
import { GLOBAL_EVENTS } from '../events/global.ts';
import { TRANSIENT_EVENTS } from '../events/transient.ts';
import { STREAM_EVENTS } from '../stream-events.ts';
import { endpoint } from './endpoint.ts';

const flag = z
  .enum(['1', 'true'])
  .transform(() => true)
  .optional()
  .catch(undefined);

const { history: _logged, ...logged } = STREAM_EVENTS;

/** The event streams (HTTP.md, "Event streams"). */
export const eventsEndpoints = {
  events: endpoint({
    verb: 'get',
    path: '/v1/api/events',
    summary: 'One workstream as an event stream: connected, history, catch-up, live.',
    scope: 'read',
    request: z.object({
      ws_id: z.string().default(''),
      /** Continue exactly after the Last-Event-ID. */
      resume: flag,
      /** Catch up with one in_progress_snapshot instead of replaying the turn. */
      snapshot: flag,
    }),
    reply: z.union([...Object.values(TRANSIENT_EVENTS), ...Object.values(logged)]),
    answers: 'event-stream',
    errors: { 404: 'Unknown workstream' },
  }),
  global: endpoint({
    verb: 'get',
    path: '/v1/api/events/global',
    summary: 'What every workstream does, now and whenever it changes.',
    scope: 'read',
    request: z.object({}),
    reply: z.union([...Object.values(GLOBAL_EVENTS)]),
    answers: 'event-stream',
  }),
};
