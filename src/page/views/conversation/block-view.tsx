import { useMemo } from 'preact/hooks';
import type { App, Desk } from '../../state/app.ts';
import type { AnswerBlock, Block, NoteBlock, UserBlock } from '../../state/conversation/blocks.ts';
import type { Tab } from '../../state/tab.ts';
import { Icon } from '../icons.tsx';
import { Markdown } from '../text/markdown.tsx';
import { ApprovalCard, ApprovalOutcome } from './approval-card.tsx';
import { Attachments } from './attachments.tsx';
import { ToolCard } from './tool-card.tsx';

interface BlockViewProps {
  block: Block;
  isPending: boolean;
  app: App;
  desk: Desk;
  tab: Tab;
}

/**
 * One block. It is redrawn only if its object changes, so that a long conversation costs nothing while its end streams.
 */
export function BlockView({ block, isPending, app, desk, tab }: BlockViewProps) {
  return useMemo(() => {
    switch (block.kind) {
      case 'user':
        return <Question block={block} wsId={tab.wsId} />;
      case 'answer':
        return <Answer block={block} />;
      case 'tool':
        return <ToolCard tool={block} />;
      case 'note':
        return <Note block={block} />;
      case 'decision':
        return <ApprovalOutcome {...block} />;
      case 'approval':
        return block.decision ? (
          <ApprovalOutcome
            question={block.question}
            names={block.items.map((item) => item.func_name)}
            decision={block.decision}
          />
        ) : (
          <ApprovalCard approval={block} isPending={isPending} app={app} desk={desk} tab={tab} />
        );
    }
  }, [block, isPending, app, desk, tab]);
}

const Question = ({ block, wsId }: { block: UserBlock; wsId: string }) => (
  <div class="block user">
    <span class="hidden-text">You:</span>
    {block.source !== 'person' && (
      <span class="source">{block.source === 'cron' ? 'scheduled' : 'from a program'}</span>
    )}
    {block.attachments && <Attachments wsId={wsId} files={block.attachments} />}
    {block.text}
    {block.failed && (
      <span class="failed" title={block.failed.text}>
        Not answered, and no longer sent to the model
      </span>
    )}
  </div>
);

function Answer({ block }: { block: AnswerBlock }) {
  const { text, reasoning, streaming, partial } = block;
  return (
    <article class="block answer" aria-busy={streaming}>
      {reasoning !== '' && (
        <details class="reasoning">
          <summary>
            <Icon name="chevron" />
            {streaming && text === '' ? 'Reasoning…' : 'Reasoning'}
          </summary>
          <div class="reasoning-text">{reasoning.trim()}</div>
        </details>
      )}
      {text !== '' && <Markdown text={text} streaming={streaming} />}
      {partial && <p class="cut">Stopped here.</p>}
    </article>
  );
}

const Note = ({ block }: { block: NoteBlock }) => (
  <div class={`block note ${block.level}`} role={block.level === 'error' ? 'alert' : undefined}>
    <Icon name={block.level === 'error' ? 'warning' : 'question'} />
    <div class={`note-text ${block.text.includes('\n') ? 'lines' : ''}`}>{block.text}</div>
  </div>
);
