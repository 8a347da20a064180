import { useEffect } from 'preact/hooks';
import type { Watch } from '../../../../protocol/events/watch.ts';
import { commandName } from '../../../../protocol/text/background-words.ts';
import { toVisibleLine, toVisibleText } from '../../../../protocol/text/visible-text.ts';
import { watchWords } from '../../../../protocol/text/watches/watch-words.ts';
import { agentPanelOf } from '../../state/agent-panel/agent-panel.ts';
import type { App, Desk } from '../../state/app.ts';
import { toDistance } from '../../state/text/moment.ts';
import { ReadingNotice } from '../reading-notice.tsx';
import { RecordCard } from '../rows/record-card.tsx';
import { WorkstreamLink } from '../rows/workstream-link.tsx';
import { AnsiText } from '../text/ansi-text.tsx';
import { useNow } from '../use-now.ts';

/** The commands that are polled for agents. */
export function WatchList({ app, desk }: { app: App; desk: Desk }) {
  const { watches: board } = agentPanelOf(desk);
  useEffect(() => board.follow(), [board]);
  const watches = board.watches.value;
  const active = watches?.filter((watch) => watch.active === 1).length;
  const withEnded = board.withEnded.value;
  return (
    <section class="account-list" aria-labelledby="watches-title">
      <header>
        <h2 id="watches-title" tabIndex={-1}>
          Watches
        </h2>
        <span class="panel-count" role="status">
          {active === undefined || active === 0 ? '' : `${active} active`}
        </span>
        <button
          type="button"
          class="quiet"
          aria-pressed={withEnded}
          onClick={() => void board.read(!board.withEnded.peek())}
        >
          Also ended ones
        </button>
      </header>
      <p class="soft">
        Commands that an agent has polled until something happens. Then the conversation gets a message, and the agent
        goes on.
      </p>
      <ReadingNotice of={[board.reading]} />
      {watches?.length === 0 && (
        <p class="empty">
          {withEnded
            ? 'No watches yet. Ask the agent to watch something, such as “tell me when the build is done”.'
            : 'No watch is active. Ask the agent to watch something, such as a build.'}
        </p>
      )}
      <ul aria-label="Watches">
        {watches?.map((watch) => (
          <WatchCard key={watch.watch_id} app={app} desk={desk} watch={watch} />
        ))}
      </ul>
      {watches && watches.length >= MOST && <p class="soft">{`Only the latest ${MOST} are listed.`}</p>}
    </section>
  );
}

/** The most that the daemon lists. */
const MOST = 500;

function WatchCard({ app, desk, watch }: { app: App; desk: Desk; watch: Watch }) {
  const { watches: board } = agentPanelOf(desk);
  const { watch_id: watchId, ws_id: wsId, name, command, stop_on: condition, end_reason: reason } = watch;
  const isActive = watch.active === 1;
  return (
    <RecordCard
      title={name}
      tags={[!isActive && 'ended']}
      facts={
        <>
          {watchWords(watch)}
          {isActive && <NextPoll app={app} at={watch.next_poll} />}
          {' · in '}
          <WorkstreamLink desk={desk} wsId={wsId} />
        </>
      }
      name={toVisibleLine(name)}
      onEdit={undefined}
      removal={
        isActive && app.rights.write.value
          ? {
              verb: 'Cancel',
              icon: 'cross',
              focusAfter: 'watches-title',
              loss: '? The agent hears of nothing more from it.',
              remove: () => board.cancel(watchId),
            }
          : undefined
      }
    >
      <div class="agent-record">
        <p>
          <code>{toVisibleText(command)}</code>
        </p>
        <p class="account-facts">
          Until {condition === '' ? 'its output changes' : <code>{toVisibleLine(condition)}</code>}
        </p>
        {reason !== undefined && <p class="account-facts">{toVisibleLine(reason)}</p>}
        <LastOutput watch={watch} />
      </div>
    </RecordCard>
  );
}

/** Alone, because it is drawn again every second. */
function NextPoll({ app, at }: { app: App; at: string }) {
  const now = useNow(app.now);
  const atMs = Date.parse(at);
  if (Number.isNaN(atMs)) return null;
  return <>{atMs <= now.value ? ' · polled now' : ` · next ${toDistance(atMs, now.value)}`}</>;
}

function LastOutput({
  watch: { last_output: output, last_exit_code: exitCode, poll_count: polls, command },
}: {
  watch: Watch;
}) {
  if (polls === 0) return null;
  const words = exitCode === null || exitCode === 0 ? 'Last output' : `Last output (exit code ${exitCode})`;
  return (
    <details class="account-facts">
      <summary aria-label={`${words} of ${commandName(toVisibleLine(command))}`}>{words}</summary>
      {output === '' ? (
        <p class="empty">No output.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard.
        <pre tabIndex={0}>
          <AnsiText text={output.trimEnd()} />
        </pre>
      )}
    </details>
  );
}
