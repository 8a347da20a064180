import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import type { Attachment, StreamEventOf } from '../../../../protocol/stream-events.ts';
import { parseAnsi, toSgr } from '../text/ansi.ts';
import { type ApprovalBlock, type Block, type Decision, isApproval, isTool, type ToolBlock } from './blocks.ts';
import { keepTail } from './keep-tail.ts';

/** Characters of a running tool's output kept in the page (at most twice as many). The result has the rest. */
const LIVE_CHARS = 20_000;

/** Shows the batch as running cards. An unfinished card of the same call is reused. */
export function startTools(blocks: readonly Block[], items: readonly ApprovalItem[], key: string): readonly Block[] {
  const all = [...blocks];
  for (const [index, item] of items.entries()) {
    const card = toToolBlock(item, `${key}.${index}`);
    const open = all.findLastIndex((block) => isOpen(block) && block.callId === item.call_id);
    if (open < 0) all.push(card);
    else all[open] = { ...card, key: all[open]?.key ?? card.key };
  }
  return all;
}

export function appendOutput(blocks: readonly Block[], event: StreamEventOf<'tool_output_chunk'>): readonly Block[] {
  return updateTool(blocks, event.call_id, (tool) => {
    const live = tool.live + event.chunk;
    if (live.length < 2 * LIVE_CHARS) return { ...tool, live }; // cut rarely, as each cut copies the rest
    const { text, dropped } = keepTail(live, LIVE_CHARS);
    const { style } = parseAnsi(live.slice(0, dropped)); // the rest keeps the style it had
    return { ...tool, live: toSgr(style) + text, liveDropped: tool.liveDropped + dropped };
  });
}

export function finishTool(
  blocks: readonly Block[],
  event: StreamEventOf<'tool_result'>,
  key: string,
): readonly Block[] {
  const { output: result } = event;
  const known = blocks.some((block) => isTool(block) && block.callId === event.call_id);
  const ended = { phase: event.outcome, ...toEnd(event), ...(event.todo && { todo: event.todo }) };
  if (!known) return [...blocks, { ...emptyTool(event, key), ...ended, result }];
  return updateTool(blocks, event.call_id, (tool) => ({
    ...tool,
    ...ended,
    result: ended.phase === 'unknown' ? tool.live + result : result, // the live output is all that is known
  }));
}

/** Shows at the card of a call what the guard found in its output. */
export const warnOfOutput = (blocks: readonly Block[], event: StreamEventOf<'output_warning'>): readonly Block[] =>
  updateTool(blocks, event.call_id, (tool) => ({ ...tool, warning: event }));

/**
 * Adds the question as a card at the end. A snapshot contains the question before the events of its turn are replayed,
 * so an existing card moves to the end.
 */
export function askApproval(
  blocks: readonly Block[],
  asked: Omit<ApprovalBlock, 'kind' | 'decision'>,
): readonly Block[] {
  const calls = new Set(asked.items.map((item) => item.call_id));
  const others: Block[] = [];
  for (const block of blocks) {
    if (isApproval(block) && block.approvalId === asked.approvalId) continue;
    const isItsCall = isOpen(block) && calls.has(block.callId);
    if (!isItsCall) others.push(block);
    // The question shows its calls until it is decided. After a crash, their first run stays visible as `unknown`.
    else if (asked.question === 'outcome') others.push({ ...block, phase: 'unknown' });
    else if (asked.question === 'plan') others.push(block); // it goes on when the plan is decided
  }
  return [...others, { kind: 'approval', ...asked, decision: undefined }];
}

export function decideApproval(
  blocks: readonly Block[],
  event: StreamEventOf<'approval_resolved'>,
  key: string,
): readonly Block[] {
  const index = blocks.findLastIndex((block) => isApproval(block) && block.approvalId === event.approval_id);
  const approval = blocks[index];
  if (!approval || !isApproval(approval)) return blocks;
  const decision = toDecision(event);
  const decided = blocks.with(index, { ...approval, decision });
  const result = resultOf(decision);
  if (approval.question === 'instructions' || approval.question === 'plan') return decided; // no call follows
  if (result === 'approved') {
    const items = decision.by.kind === 'judge' ? approval.items.map(approvedByJudge) : approval.items;
    return denySome(startTools(decided, items, key), decision);
  }
  if (approval.question === 'outcome') return decided;
  const phase = result === 'withdrawn' ? 'cancelled' : result;
  return [...decided, ...approval.items.map((item, at) => ({ ...toToolBlock(item, `${key}.${at}`), phase }) as const)];
}

/** The judge answers in place of a person: the call needed nobody's approval. */
const approvedByJudge = (item: ApprovalItem): ApprovalItem =>
  item.ruling?.verdict === 'ask' ? { ...item, ruling: { verdict: 'run', reason: 'judge' } } : item;

/** The calls of an approved question that a person denied. */
const denySome = (blocks: readonly Block[], { denied_call_ids: denied = [] }: Decision): readonly Block[] =>
  denied.reduce((all, callId) => updateTool(all, callId, (tool) => ({ ...tool, phase: 'denied' })), blocks);

/** Closes everything that was open when the run ended. */
export function closeTools(blocks: readonly Block[]): readonly Block[] {
  const isLeft = (block: Block) => isOpen(block) || (isApproval(block) && !block.decision);
  if (!blocks.some(isLeft)) return blocks;
  return blocks.map((block) => {
    if (isOpen(block)) return { ...block, phase: 'cancelled' };
    return isApproval(block) && !block.decision ? { ...block, decision: UNDECIDED } : block;
  });
}

export const emptyTool = ({ call_id, name }: { call_id: string; name: string }, key: string): ToolBlock => ({
  kind: 'tool',
  key,
  callId: call_id,
  name,
  header: name,
  subject: undefined,
  preview: '',
  isDiff: false,
  recalled: undefined,
  notSandboxed: undefined,
  ruling: undefined,
  phase: 'running',
  live: '',
  liveDropped: 0,
  result: undefined,
  wholeBytes: undefined,
  exitCode: undefined,
  durationMs: undefined,
  warning: undefined,
});

type EndFields = { attachments?: readonly Attachment[] | undefined } & {
  [K in 'whole_bytes' | 'exit_code' | 'duration_ms']?: number | undefined;
} & {
  not_sandboxed?: string | undefined;
};

/** The fields about a call's end in an event or a stored message, besides the text. */
export const toEnd = ({ whole_bytes, exit_code, duration_ms, not_sandboxed, attachments }: EndFields) => ({
  wholeBytes: whole_bytes,
  exitCode: exit_code,
  durationMs: duration_ms,
  notSandboxed: not_sandboxed,
  ...(attachments && { attachments }),
});

const isOpen = (block: Block): block is ToolBlock =>
  isTool(block) && (block.phase === 'running' || block.phase === 'unknown') && block.result === undefined;

const toToolBlock = (item: ApprovalItem, key: string): ToolBlock => ({
  ...emptyTool({ call_id: item.call_id, name: item.func_name }, key),
  header: item.header,
  subject: item.subject,
  preview: item.preview,
  isDiff: item.preview_type === 'diff',
  notSandboxed: item.not_sandboxed,
  ruling: item.ruling,
  phase: item.error === null ? 'running' : 'failed',
  result: item.error ?? undefined,
});

function updateTool(
  blocks: readonly Block[],
  callId: string,
  update: (tool: ToolBlock) => ToolBlock,
): readonly Block[] {
  const index = blocks.findLastIndex((block) => isTool(block) && block.callId === callId);
  const tool = blocks[index];
  return tool && isTool(tool) ? blocks.with(index, update(tool)) : blocks;
}

/** The decision in the fields of an event or a note. */
export const toDecision = ({
  approved,
  always,
  feedback,
  by,
  denied_call_ids,
  rule_ids,
  plan,
}: Decision): Decision => ({
  approved,
  always,
  feedback,
  by,
  ...(denied_call_ids && { denied_call_ids }),
  ...(rule_ids && { rule_ids }),
  ...(plan && { plan }),
});

/** The decision of a question that is open when its run ends. */
const UNDECIDED: Decision = { approved: false, always: false, feedback: '', by: { kind: 'shutdown' } };

/** `expired`: nobody decided in time. `withdrawn`: the run ended before a decision. */
export function resultOf({ approved, by }: Decision): 'approved' | 'denied' | 'expired' | 'withdrawn' {
  if (approved) return 'approved';
  switch (by.kind) {
    case 'cancel':
    case 'shutdown':
      return 'withdrawn';
    case 'timeout':
      return 'expired';
    case 'principal':
    case 'policy':
    case 'judge':
      return 'denied';
  }
}
