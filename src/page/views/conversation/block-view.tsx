import { useMemo } from 'preact/hooks';
import { toSpendingWords, toTokenWords } from '../../../../protocol/text/spending/spending-words.ts';
import type { App, Desk } from '../../state/app.ts';
import { decidedNames } from '../../state/approvals/decided-names.ts';
import type { AskedTurn } from '../../state/conversation/asked-turn.ts';
import type { AnswerBlock, NoteBlock, TalkBlock } from '../../state/conversation/blocks.ts';
import type { Tab } from '../../state/tab.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';
import { toLength } from '../../state/text/moment.ts';
import { ApprovalCard, ApprovalOutcome } from '../approvals/approval-card.tsx';
import { Icon } from '../icons.tsx';
import { Markdown } from '../text/markdown.tsx';
import { MessageTime } from './messages/message-time.tsx';
import { Question } from './messages/question.tsx';
import { ToolCard } from './tool-card.tsx';

interface BlockViewProps {
  block: TalkBlock;
  isPending: boolean;
  /** For a message of a person with which something can be done. */
  turn: AskedTurn | undefined;
  isBusy: boolean;
  app: App;
  desk: Desk;
  tab: Tab;
}

/**
 * One block. It is redrawn only if its object changes, so that a long conversation costs nothing while its end streams.
 */
export function BlockView({ block, isPending, turn: shown, isBusy, app, desk, tab }: BlockViewProps) {
  const { seq, endSeq, isLast } = shown ?? {};
  const turn = useMemo(() => shown, [seq, endSeq, isLast]);
  return useMemo(() => {
    switch (block.kind) {
      case 'user':
        return (
          <Question block={block} turn={turn} isBusy={isBusy} mayWrite={app.rights.write.value} desk={desk} tab={tab} />
        );
      case 'answer':
        return <Answer block={block} />;
      case 'tool':
        return <ToolCard tool={block} />;
      case 'note':
        return <Note block={block} />;
      case 'decision':
        return (
          <ApprovalOutcome
            app={app}
            desk={desk}
            question={block.question}
            names={block.names}
            decision={block.decision}
          />
        );
      case 'approval':
        return block.decision ? (
          <ApprovalOutcome
            app={app}
            desk={desk}
            question={block.question}
            names={decidedNames(block, block.decision)}
            decision={block.decision}
          />
        ) : (
          <ApprovalCard approval={block} isPending={isPending} app={app} desk={desk} tab={tab} />
        );
    }
  }, [block, isPending, turn, isBusy, app, desk, tab]);
}

function Answer({ block }: { block: AnswerBlock }) {
  const { text, reasoning, streaming, partial, endedMs, spent } = block;
  return (
    <article class="block answer" aria-busy={streaming}>
      {reasoning !== '' && (
        <details class="reasoning">
          <summary>
            <Icon name="chevron" />
            {streaming && text === '' ? 'Reasoning…' : 'Reasoning'}
          </summary>
          <div class="reasoning-text">{showHidden(reasoning.trim())}</div>
        </details>
      )}
      {text !== '' && <Markdown text={text} streaming={streaming} />}
      {partial && <p class="cut">Stopped here.</p>}
      {text !== '' && endedMs !== undefined && (
        <p class="answer-foot">
          <MessageTime of="answer" atMs={endedMs} />
          {spent && (
            <span class="answer-spent" title={toTokenWords(spent)} data-shown={toSpendingWords(spent, toLength)} />
          )}
        </p>
      )}
    </article>
  );
}

const Note = ({ block }: { block: NoteBlock }) =>
  block.level === 'quiet' ? (
    <div class="block note quiet-line">{showHidden(block.text)}</div>
  ) : (
    <div class={`block note ${block.level}`} role={block.level === 'error' ? 'alert' : undefined}>
      <Icon name={block.level === 'error' ? 'warning' : 'info'} />
      <div class={`note-text ${block.text.includes('\n') ? 'lines' : ''}`}>{showHidden(block.text)}</div>
    </div>
  );
