import { TRANSIENT_EVENTS } from '../../protocol/events/transient.ts';
import type { StreamEvent } from '../../protocol/stream-events.ts';

/** An event of a stream as it is in the log: without what the stream adds. */
export function asLogged(sent: Record<string, unknown>): StreamEvent {
  const plan = planAsLogged(sent);
  if (plan) return plan;
  const added = new Set(['content', 'cycle_id', 'ws_id'].filter((name) => !isOwn(sent, name)));
  const isEmpty = ([name, value]: [string, unknown]) =>
    sent.type === 'user_turn' && (EMPTY.get(name) ?? '?') === JSON.stringify(value);
  const fields = Object.entries(sent)
    .filter((field) => !added.has(field[0]) && !isEmpty(field))
    .map(([name, value]) => [name, isBudgetCall(name, value) ? [] : value]);
  return Object.fromEntries(fields) as unknown as StreamEvent; // as the stream has encoded it
}

/** The events about a plan have other names on a stream. */
export function planAsLogged(sent: Record<string, unknown>): StreamEvent | undefined {
  if (sent.type === 'plan_review') {
    const { content, round, revisions_left, goal, call_id, approval_id, expires_at_ms } =
      TRANSIENT_EVENTS.plan_review.parse(sent);
    // In the order of the log.
    const item = {
      ...{ call_id, header: `plan_agent: ${goal}`, subject: goal, preview: content },
      ...{ func_name: 'plan_agent', approval_label: 'plan_review', needs_approval: true, error: null },
      plan: { content, round, revisions_left },
    };
    return { type: 'approve_request', items: [item], approval_id, kind: 'plan', expires_at_ms };
  }
  if (sent.type !== 'plan_resolved') return undefined;
  const { outcome: plan, feedback, by, call_id, approval_id } = TRANSIENT_EVENTS.plan_resolved.parse(sent);
  const decided = { approval_id, approved: plan === 'approved', feedback, by, always: false };
  return { type: 'approval_resolved', ...decided, call_ids: [call_id], plan };
}

/** Events of the state, of names and of watches are about a workstream in the log, too. */
const isOwn = ({ type }: Record<string, unknown>, name: string): boolean =>
  name === 'ws_id' && (type === 'ws_state' || type === 'ws_rename' || type === 'watch');

/** The pseudo call of a question about a budget, or its id in the decision. */
function isBudgetCall(name: string, value: unknown): boolean {
  if ((name !== 'items' && name !== 'call_ids') || !Array.isArray(value)) return false;
  const [call, ...others] = value;
  return others.length === 0 && (call === BUDGET_CALL || call?.call_id === BUDGET_CALL);
}

const BUDGET_CALL = '__budget_override__';

/** What a message without these fields is sent with. */
const EMPTY = new Map([
  ['attachments', '[]'],
  ['sender', '""'],
  ['client_send_ids', '[]'],
]);
