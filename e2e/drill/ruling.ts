import type { StreamEvent } from '../../protocol/stream-events.ts';
import type { Random } from '../checker/random.ts';
import type { RecordedSocket } from '../checker/recording/record-socket.ts';

/** What an actor knows about the rules of its workstream. */
export interface RuleKnowledge {
  /** The rules that a question suggests, and its calls. */
  suggested: Map<string, { choices: { callId: string; id: string }[]; callIds: string[]; questions: string[] }>;
  /** The rules that it made or gave, to be deleted again. */
  given: Set<string>;
}

export const noRules = (): RuleKnowledge => ({ suggested: new Map(), given: new Set() });

export function learnRules({ suggested, given }: RuleKnowledge, event: StreamEvent): void {
  if (event.type === 'approve_request') {
    const choices = event.items.flatMap(({ call_id: callId, rules = [] }) => rules.map(({ id }) => ({ callId, id })));
    const idsOf = (items: typeof event.items) => items.map(({ call_id }) => call_id);
    const questions = idsOf(event.items.filter(({ question }) => question !== undefined));
    suggested.set(event.approval_id, { choices, callIds: idsOf(event.items), questions });
  }
  if (event.type !== 'approval_resolved') return;
  suggested.delete(event.approval_id);
  for (const ruleId of event.rule_ids ?? []) given.add(ruleId);
}

/** The finer parts of a decision that approves: answers, a rule for later calls, or the denial of single ones. */
export function finerParts({ suggested }: RuleKnowledge, approvalId: string, random: Random): object {
  const { choices = [], callIds = [], questions = [] } = suggested.get(approvalId) ?? {};
  if (questions.length > 0) {
    const answer = `number ${random.int(1, 1_000)}`;
    return { decisions: Object.fromEntries(questions.map((callId) => [callId, { approved: true, answer }])) };
  }
  if (choices.length > 0 && random.chance(0.6)) return { rules: [{ ...random.pick(choices), term: 'conversation' }] };
  if (callIds.length < 2) return {};
  return { decisions: { [random.pick(callIds)]: { approved: false, feedback: 'not this one' } } };
}

/** Forbids commands for a while, or takes a rule back, so that most calls still ask. */
export function changeRules(
  known: RuleKnowledge,
  wsId: string,
  { socket, random }: { socket: RecordedSocket; random: Random },
) {
  const [oldest] = known.given;
  if (oldest !== undefined) {
    known.given.delete(oldest);
    socket.request('rule.delete', { ruleId: oldest });
    return;
  }
  const match = random.pick([{ tool: 'bash' }, { program: 'env' }, { path: '/etc' }]);
  const action = random.pick(['deny', 'ask']);
  socket.request('rule.create', { action, match, wsId, expiresInMs: 60_000 }, ({ payload }) => {
    const { ruleId } = Object(payload);
    if (typeof ruleId === 'string') known.given.add(ruleId);
  });
}
