import type { ApprovalItem, StreamEventOf } from '../../../../protocol/stream-events.ts';
import { type ApprovalBlock, type Block, type Decision, isApproval, isTool, type ToolBlock } from './blocks.ts';
import { keepTail, toPlainText } from './plain-text.ts';

/** How much of a running tool's output stays in the page; the result brings the rest. */
const LIVE_CHARS = 20_000;

/** The batch as running cards. A card of the same call that has not ended is taken over, not doubled. */
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
    const tail = keepTail(tool.live + toPlainText(event.chunk), LIVE_CHARS);
    return { ...tool, live: tail.text, liveDropped: tool.liveDropped + tail.dropped };
  });
}

export function finishTool(
  blocks: readonly Block[],
  event: StreamEventOf<'tool_result'>,
  key: string,
): readonly Block[] {
  const result = toPlainText(event.output);
  const known = blocks.some((block) => isTool(block) && block.callId === event.call_id);
  if (!known) return [...blocks, { ...emptyTool(event, key), phase: phaseOf(event.output, event.is_error), result }];
  return updateTool(blocks, event.call_id, (tool) => ({
    ...tool,
    phase: tool.phase === 'denied' ? 'denied' : phaseOf(event.output, event.is_error),
    result,
  }));
}

/** The question as a card; one that is already there stays as it is. */
export function askApproval(
  blocks: readonly Block[],
  asked: Omit<ApprovalBlock, 'kind' | 'decision'>,
): readonly Block[] {
  if (blocks.some((block) => isApproval(block) && block.approvalId === asked.approvalId)) return blocks;
  const calls = new Set(asked.items.map((item) => item.call_id));
  // The calls are shown by the question until it is decided; after a crash their first run stays visible, in doubt.
  const others =
    asked.question === 'tools'
      ? blocks.filter((block) => !(isOpen(block) && calls.has(block.callId)))
      : blocks.map((block) =>
          isOpen(block) && calls.has(block.callId) ? { ...block, phase: 'unknown' as const } : block,
        );
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
  const decided = blocks.with(index, { ...approval, decision: toDecision(event) });
  if (event.approved) return startTools(decided, approval.items, key);
  if (approval.question === 'outcome') return decided;
  const denied = approval.items.map((item, at) => ({ ...toToolBlock(item, `${key}.${at}`), phase: 'denied' as const }));
  return [...decided, ...denied];
}

/** What was open when the run ended is not open any more. */
export function closeTools(blocks: readonly Block[]): readonly Block[] {
  const isLeft = (block: Block) => isOpen(block) || (isApproval(block) && !block.decision);
  if (!blocks.some(isLeft)) return blocks;
  return blocks.map((block) => {
    if (isOpen(block)) return { ...block, phase: 'stopped' };
    return isApproval(block) && !block.decision ? { ...block, decision: { kind: 'withdrawn' } } : block;
  });
}

export const emptyTool = ({ call_id, name }: { call_id: string; name: string }, key: string): ToolBlock => ({
  kind: 'tool',
  key,
  callId: call_id,
  name,
  header: name,
  preview: '',
  notSandboxed: undefined,
  phase: 'running',
  live: '',
  liveDropped: 0,
  result: undefined,
});

/** How a stored or just finished call ended, by the words the gateway uses for a refusal. */
export function phaseOf(output: string, isError: boolean): 'done' | 'failed' | 'denied' {
  if (/^(Denied by user|Blocked)/.test(output)) return 'denied';
  return isError ? 'failed' : 'done';
}

const isOpen = (block: Block): block is ToolBlock =>
  isTool(block) && (block.phase === 'running' || block.phase === 'unknown');

const toToolBlock = (item: ApprovalItem, key: string): ToolBlock => ({
  ...emptyTool({ call_id: item.call_id, name: item.func_name }, key),
  header: item.header,
  preview: item.preview,
  notSandboxed: item.not_sandboxed,
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

const toDecision = ({ approved, always, feedback }: StreamEventOf<'approval_resolved'>): Decision =>
  approved ? { kind: 'approved', always, feedback } : { kind: 'denied', feedback };
