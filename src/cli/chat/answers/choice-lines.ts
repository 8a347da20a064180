import type { Question } from '../../terminal/question-lines.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import type { Sheet } from '../../terminal/sheet.ts';
import { widthOf } from '../../terminal/width.ts';
import { eachLine, hasRules, hasSeveral, ruleKeys } from './finer-answer.ts';
import type { Mode } from './mode.ts';
import { answerLines, hasQuestions } from './typed-answers.ts';

interface Choice {
  question: Question | undefined;
  mode: Mode;
  isTyping: boolean;
}

/** What the keys do about a pending question. */
export function toChoiceLines({ question, mode, isTyping }: Choice, { paint, columns }: Sheet): string[] {
  const keys = (meanings: Record<string, string>) => toKeyRows(meanings, { paint, columns });
  if (!question) return [];
  switch (mode.kind) {
    case 'always':
      return [
        paint('yellow', 'Every call in this workstream will run without asking, not only this kind.'),
        ...keys({ y: 'yes, never ask here', 'any other key': 'back' }),
      ];
    case 'rule':
      return keys(ruleKeys(question, mode));
    case 'each':
      return [eachLine(question, mode), ...keys({ y: 'approve', n: 'deny', 'any other key': 'back' })];
    case 'answer':
      return [...answerLines(question, mode), ...keys({ Enter: 'answer', Esc: 'back' })];
    case 'remark':
      if (mode.remark === undefined) return keys({ Enter: 'done', Esc: 'back' });
      return [
        `Remark: ${toSafeText(mode.remark).replaceAll('\n', ' ')}`,
        ...keys({ y: 'approve with it', n: 'deny with it', Esc: 'back' }),
      ];
    case 'message':
      if (isTyping)
        return [paint('yellow', 'A question is pending: to answer it, send or clear the line (Ctrl-C) first.')];
      return keys(keysOf(question));
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

/** The keys with their meanings, as many in each row as fit. A key that is cut off could not be chosen. */
function toKeyRows(meanings: Record<string, string>, { paint, columns }: Sheet): string[] {
  const rows: string[] = [];
  for (const [key, meaning] of Object.entries(meanings)) {
    const shown = `${paint(['bold', 'yellow'], key)} ${meaning}`;
    const last = rows.at(-1);
    const joined = last === undefined ? shown : `${last}${paint('dim', ' · ')}${shown}`;
    if (last !== undefined && widthOf(joined) <= columns) rows[rows.length - 1] = joined;
    else rows.push(shown);
  }
  return rows;
}
