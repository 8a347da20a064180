import { type Block, isApproval, isTool } from '../conversation/blocks.ts';

export interface ShownPlan {
  text: string;
  /** Whether the person has not answered yet. */
  isAsked: boolean;
}

/** The latest plan of a call: from the question about it, or from the result of the call. Undefined if there is none yet. */
export function findPlan(blocks: readonly Block[], callId: string): ShownPlan | undefined {
  for (const block of blocks.toReversed()) {
    if (isApproval(block) && block.question === 'plan') {
      const item = block.items.find(({ call_id }) => call_id === callId);
      if (item) return { text: item.preview, isAsked: block.decision === undefined };
    }
  }
  const call = blocks.findLast((block) => isTool(block) && block.callId === callId);
  return call && isTool(call) && call.result !== undefined ? { text: call.result, isAsked: false } : undefined;
}
