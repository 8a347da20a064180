import type { Paint } from '../../terminal/paint.ts';
import type { Question } from '../../terminal/question-lines.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { eachLine, hasRules, hasSeveral, ruleKeys } from './finer-answer.ts';
import type { Mode } from './mode.ts';
import { answerLines, hasQuestions } from './typed-answers.ts';

interface Choice {
  question: Question | undefined;
  mode: Mode;
  isTyping: boolean;
}

/** What the keys do about a pending question. */
export function toChoiceLines({ question, mode, isTyping }: Choice, paint: Paint): string[] {
  if (!question) return [];
  switch (mode.kind) {
    case 'always':
      return [
        paint('yellow', 'Every call in this workstream will run without asking, not only this kind.'),
        keys({ y: 'yes, never ask here', 'any other key': 'back' }, paint),
      ];
    case 'rule':
      return [keys(ruleKeys(question, mode), paint)];
    case 'each':
      return [eachLine(question, mode), keys({ y: 'approve', n: 'deny', 'any other key': 'back' }, paint)];
    case 'answer':
      return [...answerLines(question, mode), keys({ Enter: 'answer', Esc: 'back' }, paint)];
    case 'remark':
      if (mode.remark === undefined) return [keys({ Enter: 'done', Esc: 'back' }, paint)];
      return [
        `Remark: ${toSafeText(mode.remark).replaceAll('\n', ' ')}`,
        keys({ y: 'approve with it', n: 'deny with it', Esc: 'back' }, paint),
      ];
    case 'message':
      if (isTyping)
        return [paint('yellow', 'A question is pending: to answer it, send or clear the line (Ctrl-C) first.')];
      return [keys(keysOf(question), paint)];
  }
}

const QUESTION_KEYS: Record<Question['kind'], Record<string, string>> = {
  tools: { y: 'approve', n: 'deny', f: 'with a remark', a: 'always', v: 'view all' },
  outcome: { y: 'run again', n: 'skip', v: 'view all' },
  instructions: { y: 'follow them', n: 'ignore them', v: 'view all' },
  budget: { y: 'spend more', n: 'stop' },
  plan: { y: 'approve', n: 'reject', v: 'view all' },
};

/** Only what the question offers. */
function keysOf(question: Question): Record<string, string> {
  const { v, ...usual } = QUESTION_KEYS[question.kind];
  return {
    ...(hasQuestions(question) && { w: question.kind === 'plan' ? 'write what should change' : 'write the answer' }),
    ...usual,
    ...(hasRules(question) && { r: 'rule' }),
    ...(hasSeveral(question) && isAboutCalls(question) && { e: 'each' }),
    ...(v !== undefined && { v }),
  };
}

const isAboutCalls = ({ kind }: Question): boolean => kind === 'tools' || kind === 'outcome';

const keys = (meanings: Record<string, string>, paint: Paint): string =>
  Object.entries(meanings)
    .map(([key, meaning]) => `${paint(['bold', 'yellow'], key)} ${meaning}`)
    .join(paint('dim', ' · '));
