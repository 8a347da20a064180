import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import type { RuleTerm, SuggestedRule } from '../../../../protocol/events/rules.ts';
import { TERM_WORDS, toMatchWords } from '../../../../protocol/text/rule-words.ts';
import { toVisibleText } from '../../../../protocol/text/visible-text.ts';
import type { Question } from '../../terminal/question-lines.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { hasQuestions } from './typed-answers.ts';

/** A rule is being chosen: first which one, then for how long. */
export interface ChoosingRule {
  kind: 'rule';
  approvalId: string;
  chosen?: { callId: string; id: string; terms: readonly RuleTerm[] };
}

/** Each call is decided by itself, in their order. */
export interface DecidingEach {
  kind: 'each';
  approvalId: string;
  decided: Readonly<Record<string, { approved: boolean }>>;
}

interface Offered {
  callId: string;
  rule: SuggestedRule;
}

const MOST_OFFERED = 9;

/** The rules that the question suggests, as the number keys choose them. */
const offeredIn = ({ items }: Pick<Question, 'items'>): Offered[] =>
  items.flatMap(({ call_id: callId, rules = [] }) => rules.map((rule) => ({ callId, rule }))).slice(0, MOST_OFFERED);

export const hasRules = (question: Pick<Question, 'items'>): boolean => offeredIn(question).length > 0;

/** The calls that a person decides about. */
const askedIn = ({ items }: Pick<Question, 'items'>): readonly ApprovalItem[] =>
  items.filter(({ error }) => error === null);

export const hasSeveral = (question: Pick<Question, 'items'>): boolean => askedIn(question).length > 1;

const TERM_KEYS: Readonly<Record<string, RuleTerm>> = { h: 'hour', c: 'conversation', g: 'always' };

/** What the keys mean while a rule is being chosen. */
export function ruleKeys(question: Question, { chosen }: ChoosingRule): Record<string, string> {
  if (chosen === undefined) {
    const offered = offeredIn(question).map(({ rule }, index) => [String(index + 1), wordsOf(rule)] as const);
    return { ...Object.fromEntries(offered), 'any other key': 'back' };
  }
  const terms = Object.entries(TERM_KEYS).filter(([, term]) => chosen.terms.includes(term));
  return { ...Object.fromEntries(terms.map(([key, term]) => [key, TERM_WORDS[term]])), 'any other key': 'back' };
}

const MAX_WORDS = 60;

function wordsOf({ match }: SuggestedRule): string {
  const words = toSafeText(toMatchWords(match)).replaceAll('\n', ' ');
  return words.length <= MAX_WORDS ? words : `${words.slice(0, MAX_WORDS - 1)}…`;
}

type RuleStep = ChoosingRule | { kind: 'decided'; rules: { callId: string; id: string; term: RuleTerm }[] } | undefined;

/** The next step after a key; undefined: back. */
function chooseRule(question: Question, mode: ChoosingRule, key: string | undefined): RuleStep {
  const { chosen } = mode;
  if (chosen === undefined) {
    const offered = /^[1-9]$/.test(key ?? '') ? offeredIn(question)[Number(key) - 1] : undefined;
    return offered && { ...mode, chosen: { callId: offered.callId, id: offered.rule.id, terms: offered.rule.terms } };
  }
  const term = TERM_KEYS[key ?? ''];
  if (term === undefined || !chosen.terms.includes(term)) return undefined;
  return { kind: 'decided', rules: [{ callId: chosen.callId, id: chosen.id, term }] };
}

/** An answer that needs several keys. */
export type Finer = ChoosingRule | DecidingEach;

interface FinerStep {
  /** Undefined: the answer is over, or was left. */
  next?: Finer | undefined;
  decision?: {
    approved: boolean;
    rules?: { callId: string; id: string; term: RuleTerm }[];
    decisions?: Record<string, { approved: boolean }>;
  };
}

export function answerFiner(question: Question, mode: Finer, key: string | undefined): FinerStep {
  if (mode.kind === 'each') return decideEach(question, mode, key);
  const step = chooseRule(question, mode, key);
  return step?.kind === 'decided' ? { decision: { approved: true, rules: step.rules } } : { next: step };
}

function decideEach(question: Question, mode: DecidingEach, key: string | undefined): FinerStep {
  const item = nextOf(question, mode);
  if (item === undefined || (key !== 'y' && key !== 'n')) return {};
  const decided = { ...mode.decided, [item.call_id]: { approved: key === 'y' } };
  const next = { ...mode, decided };
  return nextOf(question, next) ? { next } : { decision: { approved: false, decisions: decided } };
}

/** Whether a key answers the question, or begins an answer. */
export function isChoice(question: Question, key: string | undefined): key is string {
  if (key === undefined) return false;
  const { kind } = question;
  const more = `${hasQuestions(question) ? 'w' : ''}${hasRules(question) ? 'r' : ''}${hasSeveral(question) && kind !== 'instructions' ? 'e' : ''}`;
  return `${KEYS[kind]}${more}`.includes(key);
}

const KEYS: Record<Question['kind'], string> = {
  tools: 'ynfav',
  plan: 'ynv',
  outcome: 'ynv',
  instructions: 'ynv',
  budget: 'ynv',
};

/** The call that is decided next; undefined when all are. */
const nextOf = (question: Question, { decided }: DecidingEach): ApprovalItem | undefined =>
  askedIn(question).find(({ call_id }) => !Object.hasOwn(decided, call_id));

/** The line about the call that is decided next. */
export function eachLine(question: Question, mode: DecidingEach): string {
  const asked = askedIn(question);
  const next = nextOf(question, mode);
  const index = asked.findIndex(({ call_id }) => call_id === next?.call_id) + 1;
  return `Call ${index} of ${asked.length}: ${toSafeText(toVisibleText(next?.header ?? '')).replaceAll('\n', ' ')}`;
}
