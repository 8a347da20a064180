import { TRANSIENT_EVENTS } from '../../../protocol/events/transient.ts';
import { STREAM_EVENTS, type StreamEventOf } from '../../../protocol/stream-events.ts';
import { BUDGET_CALL, withBudgetCall } from '../usage/budget-item.ts';
import { asCompaction } from './compaction-events.ts';
import { asPlanResolved, asPlanReview } from './plan-events.ts';

/** Where an event stands: the workstream whose log it is in, and its cursor there. */
interface Place {
  wsId: string;
  cursor: string;
  type: string;
}

/**
 * A log event as SSE frames: with its workstream, and with the names of later releases (decision 3). The log has neither,
 * so events of earlier versions get them, too.
 */
export function toSseFrames({ wsId, cursor, type }: Place, json: string): string {
  switch (type) {
    case 'ws_state':
      return stateFrames(cursor, json);
    case 'compacted': {
      const end = withWorkstream({ wsId, type: 'compaction' }, JSON.stringify(asCompaction(JSON.parse(json))));
      return `data: ${end}\n\n${withId(cursor, withWorkstream({ wsId, type }, json))}`;
    }
    case 'user_turn':
      return withId(cursor, withWorkstream({ wsId, type }, JSON.stringify(asLaterTurn(JSON.parse(json)))));
    case 'approve_request':
      return questionFrame({ wsId, cursor }, JSON.parse(json));
    case 'approval_resolved':
      return decisionFrame({ wsId, cursor }, JSON.parse(json));
    default:
      return withId(cursor, withWorkstream({ wsId, type }, json));
  }
}

/** An event of a workstream's stream with its `ws_id`. The text is not parsed, because most events are short pieces of answers. */
export function withWorkstream({ wsId, type }: Omit<Place, 'cursor'>, json: string): string {
  if (NAMING.has(type)) return json;
  const at = BEFORE_TYPE + type.length + 1;
  return `${json.slice(0, at)},"ws_id":"${wsId}"${json.slice(at)}`;
}

const BEFORE_TYPE = '{"type":"'.length;

/** The types whose events name their workstream themselves. */
const NAMING: ReadonlySet<string> = new Set(
  Object.entries({ ...TRANSIENT_EVENTS, ...STREAM_EVENTS })
    .filter(([, row]) => 'ws_id' in row.shape)
    .map(([type]) => type),
);

/** Their clients find these fields in every message. */
const asLaterTurn = (event: StreamEventOf<'user_turn'>) => ({
  ...event,
  content: event.message,
  attachments: event.attachments ?? [],
  sender: event.sender ?? '',
  client_send_ids: event.client_send_ids ?? [],
});

/** A question about a plan has a name of its own over HTTP. */
function questionFrame({ wsId, cursor }: Omit<Place, 'type'>, event: StreamEventOf<'approve_request'>): string {
  const told = asPlanReview(event) ?? asLaterQuestion(event);
  return withId(cursor, withWorkstream({ wsId, type: told.type }, JSON.stringify(told)));
}

function decisionFrame({ wsId, cursor }: Omit<Place, 'type'>, event: StreamEventOf<'approval_resolved'>): string {
  const told = asPlanResolved(event) ?? asLaterDecision(event);
  return withId(cursor, withWorkstream({ wsId, type: told.type }, JSON.stringify(told)));
}

const asLaterQuestion = (event: StreamEventOf<'approve_request'>) => ({
  ...event,
  items: withBudgetCall(event),
  cycle_id: event.approval_id,
});

/** Only decisions about budgets are about no calls. */
const asLaterDecision = (event: StreamEventOf<'approval_resolved'>) => ({
  ...event,
  call_ids: event.call_ids.length === 0 ? [BUDGET_CALL] : event.call_ids,
  cycle_id: event.approval_id,
});

/**
 * `ws_state` is also sent under its later name `state_change`, and an error is followed by an idle, which HTTP clients
 * wait for. Only the last frame of the group has the id, so a client that disconnects earlier gets the whole group
 * again (decision 3).
 */
function stateFrames(cursor: string, json: string): string {
  const event: StreamEventOf<'ws_state'> = JSON.parse(json);
  if (event.state !== 'error') return `${asChange(event)}${withId(cursor, json)}`;
  const { run: _, ...told } = event;
  const idle = { ...told, state: 'idle' } as const;
  return `${asChange(event)}data: ${json}\n\n${asChange(idle)}${withId(cursor, JSON.stringify(idle))}`;
}

const withId = (cursor: string, json: string): string => `id: ${cursor}\ndata: ${json}\n\n`;

const asChange = ({ acting_user_id = '', ...event }: StreamEventOf<'ws_state'>): string =>
  `data: ${JSON.stringify({ ...event, type: 'state_change', acting_user_id })}\n\n`;
