import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import type { Memory, QuarantinedMemory } from '../../../../protocol/methods/memory.ts';
import { toTaintWords } from '../../../../protocol/text/rule-words.ts';
import { toVisibleLine, toVisibleText } from '../../../../protocol/text/visible-text.ts';
import { agentPanelOf } from '../../state/agent-panel/agent-panel.ts';
import type { App, Desk } from '../../state/app.ts';
import { toMoment } from '../../state/text/moment.ts';
import { ReadingNotice } from '../reading-notice.tsx';
import { RecordCard } from '../rows/record-card.tsx';
import { SearchField } from '../rows/search-field.tsx';
import { WorkstreamLink } from '../rows/workstream-link.tsx';

/** Pause in typing after which the search starts. */
const PAUSE_MS = 150;

/** The memories of agents: first those that wait until a person has looked at them. */
export function MemoryList({ app, desk }: { app: App; desk: Desk }) {
  const { memories: board } = agentPanelOf(desk);
  const query = useSignal('');
  useEffect(() => {
    const search = () => void board.search(query.value);
    if (query.value === '') return search();
    return systemTimers.after(PAUSE_MS, search);
  }, [board, query.value]);
  const listing = board.listing.value;
  const { waiting = [], used = [] } = listing ?? {};
  const words = [waiting.length > 0 && `${waiting.length} to look at`, used.length > 0 && `${used.length} in use`];
  return (
    <section class="account-list" aria-labelledby="memories-title">
      <header>
        <h2 id="memories-title" tabIndex={-1}>
          Memories
        </h2>
        <span class="panel-count" role="status">
          {words.filter(Boolean).join(', ')}
        </span>
      </header>
      <p class="soft">
        Notes that agents keep beyond a conversation. What one saved after it had read untrusted content waits here, and
        no agent finds it until you release it.
      </p>
      <SearchField
        label="Search memories"
        value={query.value}
        onChange={(text) => {
          query.value = text;
        }}
      />
      <ReadingNotice of={[board.reading]} />
      {listing !== undefined && used.length === 0 && waiting.length === 0 && (
        <p class="empty">
          {query.value.trim() === ''
            ? 'No memories yet. Tell the agent what to keep, such as “Remember that we deploy on Mondays”.'
            : 'No memory has these words.'}
        </p>
      )}
      <ul aria-label="Memories">
        {waiting.map((memory) => (
          <Card key={memory.memoryId} app={app} desk={desk} memory={memory} waits={memory} />
        ))}
        {used.map((memory) => (
          <Card key={memory.memoryId} app={app} desk={desk} memory={memory} />
        ))}
      </ul>
      {listing?.isPart && <p class="soft">Only the latest ones are listed. More words find the others.</p>}
    </section>
  );
}

interface CardProps {
  app: App;
  desk: Desk;
  memory: Memory | QuarantinedMemory;
  waits?: QuarantinedMemory;
}

function Card({ app, desk, memory, waits }: CardProps) {
  const { memories: board } = agentPanelOf(desk);
  const problem = useSignal<string | undefined>(undefined);
  const { memoryId, scope, type, content, description } = memory;
  const name = toVisibleLine(memory.name);
  const release = async () => {
    problem.value = undefined;
    problem.value = await board.release(memoryId);
    if (problem.value === undefined) document.getElementById('memories-title')?.focus(); // the button is gone
  };
  const savedMs = 'updatedAtMs' in memory ? memory.updatedAtMs : memory.createdAtMs;
  return (
    <RecordCard
      title={memory.name}
      tags={[waits !== undefined && 'waits']}
      facts={
        <>
          {`${scope} · ${type} · saved ${toMoment(savedMs, app.now())}`}
          {waits && ` after reading ${toTaintWords(waits.taint)}`}
          {waits?.wsId !== undefined && (
            <>
              {' in '}
              <WorkstreamLink desk={desk} wsId={waits.wsId} />
            </>
          )}
        </>
      }
      name={name}
      onEdit={undefined}
      buttons={
        waits &&
        app.rights.releaseMemories.value && (
          <button type="button" aria-label={`Release ${name}`} onClick={() => void release()}>
            Release
          </button>
        )
      }
      removal={
        app.rights.write.value
          ? {
              verb: waits ? 'Discard' : 'Forget',
              focusAfter: 'memories-title',
              loss: '? This cannot be undone.',
              remove: () => ('updatedAtMs' in memory ? board.remove(memory) : board.discard(memoryId)),
            }
          : undefined
      }
    >
      <div class="agent-record">
        {description !== '' && <p class="account-facts">{toVisibleLine(description)}</p>}
        <MemoryText text={content} />
      </div>
      <p class="problem" role="alert">
        {problem.value}
      </p>
    </RecordCard>
  );
}

/** Longer ones are cut until somebody asks for all of it. */
const SHOWN_CHARS = 600;

function MemoryText({ text }: { text: string }) {
  const isWhole = useSignal(text.length <= SHOWN_CHARS);
  return (
    <>
      <p class="memory-text" dir="auto">
        {toVisibleText(isWhole.value ? text : text.slice(0, SHOWN_CHARS))}
        {!isWhole.value && ' …'}
      </p>
      {!isWhole.value && (
        <button
          type="button"
          class="quiet link"
          onClick={() => {
            isWhole.value = true;
          }}
        >
          {`Show all ${text.length.toLocaleString()} characters`}
        </button>
      )}
    </>
  );
}
