import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import type { WorkstreamSnapshot } from '../../../../protocol/methods/workstream.ts';
import type { StreamEvent } from '../../../../protocol/stream-events.ts';
import { toPlainText } from '../text/ansi.ts';
import type { Block } from './blocks.ts';
import { type Conversation, foldEvent, toConversation } from './conversation.ts';
import { resultOf } from './tool-blocks.ts';

/** For tests: one call of a batch. */
export const item = (callId: string, more: Partial<ApprovalItem> = {}): ApprovalItem => ({
  call_id: callId,
  header: `bash: ${callId}`,
  subject: callId,
  preview: '',
  func_name: 'bash',
  approval_label: 'bash',
  needs_approval: true,
  error: null,
  ...more,
});

/** For tests: an idle workstream without messages. */
export const snapshot = (more: Partial<WorkstreamSnapshot> = {}): WorkstreamSnapshot => ({
  workstream: {
    wsId: 'w',
    name: 'main',
    sessionKey: 'main',
    state: 'idle',
    title: null,
    modelAlias: 'demo',
    skipPermissions: false,
    mode: 'ask',
    messageCount: 0,
    createdMs: 1,
    updatedMs: 2,
    userId: '',
    visibility: 'shared',
  },
  model: 'demo',
  workdir: '/work',
  messages: [],
  truncated: false,
  pendingApprovals: [],
  effort: 'medium',
  ...more,
});

/** For tests: the same while its model answers. */
export const busy = snapshot({ workstream: { ...snapshot().workstream, state: 'thinking' } });
/** For tests: what the page shows after these events. */
export const fold = (events: StreamEvent[], from: WorkstreamSnapshot = snapshot()): Conversation =>
  events.reduce(foldEvent, toConversation(from));

/** Blocks in one line each, so that a test can compare the whole conversation. */
export const lines = ({ blocks }: Conversation) => blocks.map(toLine);

function toLine(block: Block): string {
  switch (block.kind) {
    case 'user':
      return `user: ${block.text}`;
    case 'answer': {
      const marks = [block.streaming && 'streaming', block.partial && 'partial'].filter(Boolean);
      return ['answer', ...marks, block.reasoning && `(${block.reasoning})`, block.text].filter(Boolean).join(' ');
    }
    case 'tool':
      return `tool ${block.callId} ${block.phase}: ${toPlainText(block.result ?? block.live)}`;
    case 'approval':
      return `approval ${block.approvalId} ${block.decision ? resultOf(block.decision) : 'pending'}`;
    case 'decision':
      return `${block.question} ${resultOf(block.decision)}: ${block.names.join(', ')}`;
    case 'summary':
      return `summary to ${block.toSeq}: ${block.text}`;
    case 'note':
      return `${block.level}: ${block.text}`;
  }
}
