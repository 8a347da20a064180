import { toLineEnds } from '../../../../protocol/text/text-ends.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { ApprovalBlock, Decision } from '../conversation/blocks.ts';

/** The widest call that is named in full. */
const CALL_CELLS = 40;

/** What was decided about: the tools; or the calls, if some of them were denied, the approved ones first. */
export function decidedNames(
  { items }: Pick<ApprovalBlock, 'items'>,
  { approved, denied_call_ids: denied }: Pick<Decision, 'approved' | 'denied_call_ids'>,
): string[] {
  if (!approved || denied === undefined) return items.map((item) => item.func_name);
  const isDenied = ({ call_id }: { call_id: string }) => denied.includes(call_id);
  return [
    ...items.filter((item) => !isDenied(item)).map(toName),
    ...items.filter(isDenied).map((item) => `not ${toName(item)}`),
  ];
}

const toName = ({ subject, func_name }: ApprovalBlock['items'][number]): string =>
  toLineEnds(toVisibleLine(subject ?? func_name), CALL_CELLS)
    .map(({ text }) => text)
    .join('');
