import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import type { BackgroundCommand } from '../../../../protocol/events/background-command.ts';
import { LIMITS } from '../../../../protocol/limits.ts';
import { commandName, endWords, spanWords } from '../../../../protocol/text/background-words.ts';
import type { App, Desk } from '../../state/app.ts';
import { FollowedOutput } from '../../state/aside/followed-output.ts';
import { PAGE_BYTES } from '../../state/conversation/output-reader.ts';
import type { Tab } from '../../state/tab.ts';
import { Printed } from '../conversation/output.tsx';
import { OutputPages } from '../conversation/output-pages.tsx';
import { useNow } from '../use-now.ts';
import { FollowButton } from './follow-button.tsx';

interface CommandViewProps {
  app: App;
  desk: Desk;
  tab: Tab;
  commandId: string;
}

/** A background command with its whole output: its end as it grows, or page by page, with search. */
export function CommandView({ app, desk, tab, commandId }: CommandViewProps) {
  const { client } = desk;
  const { wsId } = tab;
  const followed = useMemo(
    () => new FollowedOutput({ client, wsId, commandId, timers: systemTimers }),
    [client, wsId, commandId],
  );
  const isInPages = useSignal(false);
  const isAtEnd = useSignal(true);
  const isOpen = client.isOpen.value;
  const isFollowing = isOpen && isAtEnd.value && !isInPages.value;
  useEffect(() => {
    if (!isFollowing) return;
    followed.start();
    return () => followed.stop();
  }, [followed, isFollowing]);
  const told = tab.conversation.value?.background.find(({ command_id: id }) => id === commandId);
  const command = told ?? followed.command.value;
  const end = followed.end.value;
  const totalBytes = end?.totalBytes ?? 0;
  return (
    <>
      {command && <Facts app={app} desk={desk} tab={tab} command={command} />}
      <p class="problem" role="alert">
        {followed.problem.value}
      </p>
      <p class="aside-facts">
        {followed.command.value?.state !== 'ended' && !isInPages.value && <FollowButton isAtEnd={isAtEnd} />}
        <button
          type="button"
          class="quiet"
          aria-pressed={isInPages.value}
          onClick={() => {
            isInPages.value = !isInPages.peek();
            isAtEnd.value = true;
          }}
        >
          Pages and search
        </button>
      </p>
      {isInPages.value ? (
        <OutputPages of={{ commandId }} first={Math.max(0, Math.ceil(totalBytes / PAGE_BYTES) - 1)} endFirst />
      ) : (
        end && (
          <div class="output-frame whole">
            {end.offset > 0 && <p class="dropped">Earlier output is in the pages.</p>}
            {end.text === '' ? (
              <p class="dropped">No output yet.</p>
            ) : (
              <Printed text={end.text} endFirst isAtEnd={isAtEnd} />
            )}
          </div>
        )
      )}
      {totalBytes >= LIMITS.backgroundOutputBytes && <p class="soft">Only the first 64 MB are stored.</p>}
    </>
  );
}

function Facts({ app, desk, tab, command }: Omit<CommandViewProps, 'commandId'> & { command: BackgroundCommand }) {
  const now = useNow(app.now);
  const isRunning = command.state === 'running';
  const ran = spanWords((command.ended_ms ?? now.value) - command.started_ms);
  return (
    <p class="aside-facts">
      <code>{command.command}</code>
      <span class="soft">{isRunning ? `running for ${ran}` : `${endWords(command)}, after ${ran}`}</span>
      {isRunning && app.rights.write.value && (
        <button
          type="button"
          class="quiet"
          aria-label={`End ${commandName(command.command)}`}
          onClick={() => void desk.actions.killCommand(tab, command.command_id)}
        >
          End
        </button>
      )}
    </p>
  );
}
