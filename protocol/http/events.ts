import { z } from 'zod';
import { GLOBAL_EVENTS } from '../events/global.ts';
import { TRANSIENT_EVENTS } from '../events/transient.ts';
import { Attachment, STREAM_EVENTS } from '../stream-events.ts';
import { endpoint } from './endpoint.ts';

const flag = z
  .enum(['1', 'true'])
  .transform(() => true)
  .optional()
  .catch(undefined);

const {
  history: _logged,
  user_turn: Turn,
  approve_request: Asked,
  approval_resolved: Resolved,
  ...logged
} = STREAM_EVENTS;

/** Some events have more fields than in the log: their names in later releases. */
const Cycle = { cycle_id: z.string() };
const sent = () => [
  Turn.extend({
    /** The same as `message`. */
    content: z.string(),
    attachments: z.array(Attachment),
    /** The user; empty for the operator and the daemon. */
    sender: z.string(),
    client_send_ids: z.array(z.string()),
  }),
  Asked.extend(Cycle),
  Resolved.extend(Cycle),
];

/** The event streams (HTTP.md, "Event streams"). */
export const eventsEndpoints = {
  events: endpoint({
    verb: 'get',
    path: '/v1/api/events',
    summary: 'One workstream as an event stream: connected, history, catch-up, live.',
    scope: 'read',
    request: () =>
      z.object({
        ws_id: z.string().default(''),
        /** Continue exactly after the Last-Event-ID. */
        resume: flag,
        /** Catch up with one in_progress_snapshot instead of replaying the turn. */
        snapshot: flag,
        /** Like `resume` with the header Last-Event-ID, which takes precedence. */
        last_event_id: z.string().max(256).optional(),
        /** The `handoff_token` of the history; the same as `last_event_id`. */
        history_token: z.string().max(256).optional(),
        /** The most messages in the first `history`. */
        history: z.coerce.number().int().min(0).max(2_000).optional(),
      }),
    reply: () =>
      z
        .union([...Object.values(TRANSIENT_EVENTS), ...Object.values(logged), ...sent()])
        .and(z.object({ ws_id: z.string() })),
    answers: 'event-stream',
    errors: { 400: 'history: must be at most 2000', 404: 'Unknown workstream' },
  }),
  global: endpoint({
    verb: 'get',
    path: '/v1/api/events/global',
    summary: 'What every workstream does, now and whenever it changes.',
    scope: 'read',
    request: () => z.object({}),
    reply: () => z.union([...Object.values(GLOBAL_EVENTS)]),
    answers: 'event-stream',
  }),
};
