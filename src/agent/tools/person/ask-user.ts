import { z } from 'zod';
import type { AskedQuestion } from '../../../../protocol/events/questions/asked-question.ts';
import { toVisibleText } from '../../../../protocol/text/visible-text.ts';
import type { Tool, ToolOutcome, ToolRun } from '../tool.ts';

const AskUserArguments = z.strictObject({
  question: z.string().min(1).max(4_000).describe('What you want to know, in plain words'),
  choices: z
    .array(
      z.strictObject({
        label: z.string().min(1).max(200).describe('The answer, in a few words'),
        description: z.string().max(1_000).optional().describe('What it means'),
      }),
    )
    .max(8)
    .default([])
    .describe('Likely answers; the person may also write another one'),
});
type AskUserArguments = z.infer<typeof AskUserArguments>;

/** Asks a person. The question is stored like an approval, and its answer with the decision. */
export const askUserTool: Tool<AskUserArguments> = {
  name: 'ask_user',
  description: [
    'Asks the person a question and waits for the answer, which may take long. Use it only for what you cannot find out,',
    'and what changes what you do next. Several calls in one turn are shown together. Returns {"answer", "choice"?}; answer is null if they went on without one.',
  ].join(' '),
  parameters: AskUserArguments,
  readOnly: true,
  safeToRepeat: true,
  async prepare({ question, choices }) {
    const labels = choices.map(({ label }) => toVisibleText(label));
    const [first = ''] = question.trim().split('\n');
    if (first === '') return { kind: 'refused', subject: '', reason: 'The question is empty.' };
    if (new Set(labels).size < labels.length)
      return { kind: 'refused', subject: first.slice(0, MAX_SUBJECT), reason: 'Two choices have the same label.' };
    const shown: AskedQuestion = {
      text: toVisibleText(question.trim()),
      choices: choices.map(({ description }, index) => ({
        label: labels[index] ?? '',
        ...(description !== undefined && { description: toVisibleText(description) }),
      })),
    };
    return {
      kind: 'ready',
      subject: first.slice(0, MAX_SUBJECT),
      preview: toPreview(shown),
      approvalLabel: 'ask_user',
      needsApproval: true,
      question: shown,
      execute: async (run) => answerOf(run),
    };
  },
};

const MAX_SUBJECT = 200;

/** For clients that only approve and deny. */
const toPreview = ({ text, choices }: AskedQuestion): string =>
  [text, ...choices.map(({ label, description }) => `- ${label}${description ? `: ${description}` : ''}`)].join('\n');

/** As data, so that no answer can be taken for anything else. */
function answerOf({ answer }: ToolRun): ToolOutcome {
  const { text = null, choice } = answer ?? {};
  const said = { answer: text ?? choice ?? null, ...(choice !== undefined && { choice }) };
  return { output: JSON.stringify(said), outcome: 'done' };
}
