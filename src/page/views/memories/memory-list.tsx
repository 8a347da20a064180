import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Memory, QuarantinedMemory } from '../../../../protocol/methods/memory.ts';
import { toTaintWords } from '../../../../protocol/text/rule-words.ts';
import { accountsOf } from '../../state/accounts/accounts.ts';
import type { Desk } from '../../state/app.ts';
import { ClaimedText } from '../nodes/claimed-text.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { RecordCard } from '../rows/record-card.tsx';

/** The memories of agents: first those that wait until a person has looked at them. */
export function MemoryList({ desk }: { desk: Desk }) {
  const { memories: board } = accountsOf(desk);
  useEffect(() => void board.read(), [board]);
  const { waiting = [], used } = board.listing.value ?? {};
  return (
    <section class="account-list" aria-labelledby="memories-title">
      <header>
        <h2 id="memories-title" tabIndex={-1}>
          Memories
        </h2>
        <span class="panel-count">{waiting.length > 0 ? `${waiting.length} to look at` : ''}</span>
      </header>
      <p class="soft">
        Notes that agents keep beyond a conversation. What one saved after it had read untrusted content waits here, and
        no agent finds it until you release it.
      </p>
      <ReadingNotice of={[board.reading]} />
      {used?.length === 0 && waiting.length === 0 && <p class="empty">No memories.</p>}
      <ul aria-label="Memories">
        {waiting.map((memory) => (
          <Card key={memory.memoryId} desk={desk} memory={memory} waits={memory} />
        ))}
        {used?.map((memory) => (
          <Card key={memory.memoryId} desk={desk} memory={memory} />
        ))}
      </ul>
    </section>
  );
}

interface CardProps {
  desk: Desk;
  memory: Memory | QuarantinedMemory;
  waits?: QuarantinedMemory;
}

function Card({ desk, memory, waits }: CardProps) {
  const { memories: board } = accountsOf(desk);
  const problem = useSignal<string | undefined>(undefined);
  const { memoryId, name, scope, type, content } = memory;
  const release = () => void board.release(memoryId).then((text) => (problem.value = text));
  return (
    <RecordCard
      title={name}
      tags={[waits !== undefined && 'waits']}
      facts={`${scope} · ${type}${waits ? ` · saved after reading ${toTaintWords(waits.taint)}` : ''}`}
      name={name}
      onEdit={undefined}
      buttons={
        waits && (
          <button type="button" class="quiet" aria-label={`Release ${name}`} onClick={release}>
            Release
          </button>
        )
      }
      removal={{
        loss: '? This cannot be undone.',
        remove: () => ('updatedAtMs' in memory ? board.remove(memory) : board.discard(memoryId)),
        focusAfter: 'memories-title',
      }}
    >
      <p class="soft">
        <ClaimedText text={content} />
      </p>
      <p class="problem" role="alert">
        {problem.value}
      </p>
    </RecordCard>
  );
}
