import { GatewayError } from '../../../protocol/errors.ts';
import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import type { RuleChoice, RuleTerm, SuggestedRule } from '../../../protocol/events/rules.ts';
import type { Rule } from '../../../protocol/methods/admin/rule.ts';
import type { Approval, CallDecisions } from '../../../protocol/methods/approval.ts';
import type { Answer, Decision } from '../../agent/run/journal.ts';
import type { Viewer } from '../sharing/perception.ts';
import type { Statement } from '../store/store.ts';
import { requireGiver } from './rule-givers.ts';
import type { NewRule, Rules, RulesPlace } from './rules.ts';

/** A decision as a client gives it. */
export interface AskedDecision extends Decision {
  decisions?: CallDecisions | undefined;
  choices?: readonly RuleChoice[] | undefined;
}

/** A decision with the rules that are given with it; `apply` puts them into force once it is stored. */
export interface WholeDecision {
  decision: Decision;
  rules: readonly Rule[];
  statements: Statement[];
  apply(): void;
}

interface Deciding {
  approval: Pick<Approval, 'approvalId' | 'kind' | 'items'>;
  place: RulesPlace;
  giver: Viewer;
}

/** Completes a decision about single calls. Throws INVALID_REQUEST for calls and rules that the approval does not have. */
export function completeDecision(
  { decisions = {}, choices = [], ...decision }: AskedDecision,
  { approval, place, giver }: Deciding,
  rules: Pick<Rules, 'prepare'>,
): WholeDecision {
  const isPlain = Object.keys(decisions).length === 0 && choices.length === 0;
  if (isPlain) return { decision, rules: [], statements: [], apply: () => undefined };
  if (approval.kind !== 'tools' && approval.kind !== 'outcome')
    throw new GatewayError(
      'INVALID_REQUEST',
      `decisions and rules belong to calls, but this question is about ${approval.kind}`,
    );
  const whole = withSingle(decision, decisions, approval.items);
  const given = choices.map((choice) => {
    const suggested = suggestionOf(choice, approval.items, whole);
    const rule = toNewRule(choice.term, suggested, place);
    requireGiver(giver, rule);
    return rules.prepare({ ...rule, by: idOf(decision), given: { approvalId: approval.approvalId, wsId: place.wsId } });
  });
  return {
    decision: { ...whole, ...(given.length > 0 && { rules: given.map(({ rule }) => rule.ruleId) }) },
    rules: given.map(({ rule }) => rule),
    statements: given.flatMap(({ statements }) => statements),
    apply() {
      for (const each of given) each.apply();
    },
  };
}

const idOf = ({ by }: Decision): string => (by.kind === 'principal' ? by.id : by.kind);

/** If any call is approved, the others are denied one by one. */
function withSingle(decision: Decision, single: CallDecisions, items: readonly ApprovalItem[]): Decision {
  const ids = items.map(({ call_id }) => call_id);
  const unknown = Object.keys(single).find((callId) => !ids.includes(callId));
  if (unknown !== undefined)
    throw new GatewayError('INVALID_REQUEST', `decisions: the question has no call ${unknown}`);
  const answers = answersIn(single, items);
  const denied = ids.filter((callId) => !(single[callId]?.approved ?? decision.approved));
  if (denied.length === ids.length) return { ...decision, approved: false };
  if (denied.length === 0) return { ...decision, approved: true, ...answers };
  const reasons = denied.map((callId) => [callId, single[callId]?.feedback?.trim() ?? textFor(decision)] as const);
  return {
    ...decision,
    approved: true,
    feedback: decision.approved ? decision.feedback : '',
    denied: Object.fromEntries(reasons),
    ...answers,
  };
}

/** The answers to questions of the agent. Throws INVALID_REQUEST for those that do not fit their call. */
function answersIn(single: CallDecisions, items: readonly ApprovalItem[]): Pick<Decision, 'answers'> {
  const given = Object.entries(single).filter(([, { answer, choice }]) => answer !== undefined || choice !== undefined);
  for (const [callId, { approved, choice }] of given) {
    const question = items.find(({ call_id }) => call_id === callId)?.question;
    const refuse = (why: string) => new GatewayError('INVALID_REQUEST', `decisions: ${callId} ${why}`);
    if (question === undefined) throw refuse('asks nothing that an answer could be given to');
    if (!approved) throw refuse('cannot be denied and answered at once');
    if (choice !== undefined && !question.choices.some(({ label }) => label === choice))
      throw refuse(`has no choice "${choice}"`);
  }
  if (given.length === 0) return {};
  const answers = given.map(([callId, { answer, choice }]): [string, Answer] => [
    callId,
    { ...(answer !== undefined && { text: answer }), ...(choice !== undefined && { choice }) },
  ]);
  return { answers: Object.fromEntries(answers) };
}

/** Words about a denial are about all calls that it denies. */
const textFor = ({ approved, feedback }: Decision): string => (approved ? '' : feedback);

function suggestionOf(
  { callId, id, term }: RuleChoice,
  items: readonly ApprovalItem[],
  decision: Decision,
): SuggestedRule {
  const asking = items.filter(({ rules }) => rules !== undefined);
  const [only, ...more] = callId === undefined ? asking : asking.filter(({ call_id }) => call_id === callId);
  if (only === undefined || more.length > 0)
    throw new GatewayError('INVALID_REQUEST', 'rule: name the call (call_id) that the rule was suggested for');
  if (!decision.approved || Object.hasOwn(decision.denied ?? {}, only.call_id))
    throw new GatewayError('INVALID_REQUEST', 'rule: a rule can be given only for a call that is approved');
  const found = only.rules?.find((rule) => rule.id === id && rule.terms.includes(term));
  if (found) return found;
  const names = only.rules?.map((rule) => `${rule.id} (${rule.terms.join(', ')})`).join(', ');
  throw new GatewayError('INVALID_REQUEST', `rule: ${id} for ${term} was not suggested. Suggested: ${names || 'none'}`);
}

const HOUR_MS = 3_600_000;

/** For good: in all workstreams of the owner that work in this folder. */
function toNewRule(
  term: RuleTerm,
  { match }: SuggestedRule,
  { wsId, ownerId, workdir }: RulesPlace,
): Omit<NewRule, 'by'> {
  const allow = { action: 'allow' as const, match };
  switch (term) {
    case 'hour':
      return { ...allow, wsId, lastsMs: HOUR_MS };
    case 'conversation':
      return { ...allow, wsId };
    case 'always':
      return { ...allow, userId: ownerId, folder: workdir };
  }
}
