import { useEffect, useMemo } from 'preact/hooks';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { watchWords } from '../../../../protocol/text/watches/watch-words.ts';
import type { Desk } from '../../state/app.ts';
import { WatchBoard } from '../../state/watches/watch-board.ts';

/** The active watches of a workstream, above its composer. */
export function WatchBar({ desk, wsId }: { desk: Desk; wsId: string }) {
  const { client, workstreams } = desk;
  const board = useMemo(
    () => new WatchBoard({ client, changed: workstreams.watched, wsId }),
    [client, workstreams, wsId],
  );
  useEffect(() => board.follow(), [board]);
  const active = board.watches.value?.filter((watch) => watch.active === 1) ?? [];
  if (active.length === 0) return null;
  return (
    <section class="background" aria-label="Watches">
      <ul class="agent-tree">
        {active.map((watch, index) => (
          <li key={watch.watch_id}>
            {`Watching: ${toVisibleLine(watch.name)}`} <span class="background-state">{watchWords(watch)}</span>
            {index === active.length - 1 && (
              <button
                type="button"
                class="quiet"
                onClick={() => {
                  workstreams.shown.value = 'agent';
                }}
              >
                Show all watches
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
