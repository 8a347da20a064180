import { useSignal } from '@preact/signals';
import { isTool, type ToolBlock } from '../../state/conversation/blocks.ts';
import { PAGE_BYTES } from '../../state/conversation/output-reader.ts';
import type { Tab } from '../../state/tab.ts';
import { Printed } from '../conversation/output.tsx';
import { OutputPages } from '../conversation/output-pages.tsx';
import { ToolHeader } from '../conversation/tool-card.tsx';
import { FollowButton } from './follow-button.tsx';

/** Everything that a tool call has printed: as it grows while the call runs, then page by page, with search. */
export function OutputView({ tab, callId }: { tab: Tab; callId: string }) {
  const tool = tab.conversation.value?.blocks.findLast(
    (block): block is ToolBlock => isTool(block) && block.callId === callId,
  );
  const isFailed = tool?.phase === 'failed';
  const last = Math.max(0, Math.ceil((tool?.wholeBytes ?? 0) / PAGE_BYTES) - 1);
  return (
    <>
      {tool && (
        <p class="aside-facts">
          <ToolHeader {...tool} />
        </p>
      )}
      {tool?.phase === 'running' ? (
        <Live tool={tool} />
      ) : (
        <OutputPages of={{ callId }} first={isFailed ? last : 0} endFirst={isFailed} />
      )}
    </>
  );
}

function Live({ tool }: { tool: ToolBlock }) {
  const isAtEnd = useSignal(true);
  const read = useSignal(tool); // what is shown while the person reads
  if (isAtEnd.value && read.peek() !== tool) read.value = tool;
  const { live, liveDropped } = read.value;
  return (
    <>
      <p class="aside-facts">
        <FollowButton isAtEnd={isAtEnd} />
      </p>
      <div class="output-frame whole">
        {liveDropped > 0 && (
          <p class="dropped">{`The first ${liveDropped.toLocaleString()} characters are hidden while the tool runs.`}</p>
        )}
        {live === '' ? <p class="dropped">No output yet.</p> : <Printed text={live} endFirst isAtEnd={isAtEnd} />}
      </div>
    </>
  );
}
