import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import type { ModelVerdict } from '../../../../protocol/events/verdict.ts';
import type { StreamEventOf } from '../../../../protocol/stream-events.ts';
import type { Block } from './blocks.ts';

type Late = StreamEventOf<'intent_verdict'> | StreamEventOf<'judge_state'>;

/** Adds what a model says about a call of a question that waits, or why it says nothing. */
export function addLate(blocks: readonly Block[], late: Late): readonly Block[] {
  const index = blocks.findLastIndex(
    (block) => block.kind === 'approval' && block.items.some(({ call_id }) => call_id === late.call_id),
  );
  const question = blocks[index];
  if (question?.kind !== 'approval') return blocks;
  const heard = [...(question.heard ?? []), late.call_id];
  const items = question.items.map((item) => (item.call_id === late.call_id ? withLate(item, late) : item));
  const silent = late.type === 'judge_state' ? late.reason : question.silent;
  return blocks.with(index, { ...question, items, heard, silent });
}

/** Calls of a question that is read from a list, with what the model has said about them by then. */
export const withModelVerdicts = (
  items: readonly ApprovalItem[],
  verdicts: readonly ModelVerdict[] = [],
): readonly ApprovalItem[] =>
  items.map((item) => {
    const late = verdicts.find(({ call_id }) => call_id === item.call_id);
    return late ? withVerdict(item, late) : item;
  });

/** The fixed rules' verdict stays beside that of the model. */
function withLate(item: ApprovalItem, late: Late): ApprovalItem {
  if (late.type === 'judge_state') return item;
  const { type: _, ...verdict } = late;
  return withVerdict(item, verdict);
}

const withVerdict = (item: ApprovalItem, verdict: ModelVerdict): ApprovalItem => ({
  ...item,
  verdict: { ...verdict, func_args: item.verdict?.func_args ?? '' },
});
