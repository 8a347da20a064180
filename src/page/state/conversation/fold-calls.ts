import type { SubAgent } from '../../../../protocol/events/sub-agent.ts';
import type { StreamEventOf } from '../../../../protocol/stream-events.ts';
import { agentTitle, markCalls } from '../agents/agent-list.ts';
import type { Block } from './blocks.ts';
import { askApproval, decideApproval, startTools } from './tool-blocks.ts';

/** The blocks after calls have started, or were asked about or decided, with the sub-agent whose calls they are. */
export function foldCalls(
  { blocks, agents }: { blocks: readonly Block[]; agents: readonly SubAgent[] },
  event: StreamEventOf<'tool_info' | 'approve_request' | 'approval_resolved'>,
  key: string,
): readonly Block[] {
  const agent = agentTitle(agents, event);
  switch (event.type) {
    case 'approve_request':
      return askApproval(blocks, { ...toQuestion(event), agent });
    case 'tool_info': {
      const ids = event.items.map(({ call_id }) => call_id);
      return markCalls(startTools(blocks, event.items, key), ids, agent);
    }
    case 'approval_resolved':
      return markCalls(decideApproval(blocks, event, key), event.call_ids, agent);
  }
}

const toQuestion = ({
  approval_id,
  kind,
  items,
  budget,
  expires_at_ms,
  judge_pending,
}: StreamEventOf<'approve_request'>) => ({
  key: `a${approval_id}`,
  approvalId: approval_id,
  question: kind,
  items,
  budget,
  expiresAtMs: expires_at_ms,
  isJudging: judge_pending,
});
