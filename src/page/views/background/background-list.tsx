import type { BackgroundCommand } from '../../../../protocol/events/background-command.ts';
import { commandName, endWords, spanWords } from '../../../../protocol/text/background-words.ts';
import type { App, Desk } from '../../state/app.ts';
import type { Tab } from '../../state/tab.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';
import { OpenAside } from '../conversation/open-aside.tsx';
import { AnsiText } from '../text/ansi-text.tsx';
import { useNow } from '../use-now.ts';

interface BackgroundListProps {
  app: App;
  desk: Desk;
  tab: Tab;
  commands: readonly BackgroundCommand[];
}

/** The commands that run in the background, each with its time and its last lines, above the composer. */
export function BackgroundList({ app, desk, tab, commands }: BackgroundListProps) {
  const now = useNow(app.now);
  const hasEnded = commands.some(({ state }) => state === 'ended');
  return (
    <section class="background" aria-label="Background commands">
      {commands.map((command) => (
        <BackgroundItem
          key={command.command_id}
          command={command}
          ranMs={(command.ended_ms ?? now.value) - command.started_ms}
          onOpen={() => {
            tab.aside.value = { view: 'command', commandId: command.command_id };
          }}
          onKill={app.rights.write.value ? () => desk.actions.killCommand(tab, command.command_id) : undefined}
        />
      ))}
      {hasEnded && (
        <button type="button" class="quiet" onClick={() => desk.actions.clearEnded(tab)}>
          Remove ended commands
        </button>
      )}
    </section>
  );
}

interface BackgroundItemProps {
  command: BackgroundCommand;
  ranMs: number;
  onOpen(): void;
  /** Undefined for those who may only look. */
  onKill: (() => unknown) | undefined;
}

function BackgroundItem({ command, ranMs, onOpen, onKill }: BackgroundItemProps) {
  const { command: text, state, end, exit_code: exitCode, last_output: output } = command;
  const isRunning = state === 'running';
  const isGood = isRunning || (end === 'exited' && exitCode === 0);
  const name = commandName(text);
  return (
    <div class={`background-item ${isGood ? '' : 'failed'}`}>
      <details>
        <summary>
          <code title={showHidden(text)}>{showHidden(name)}</code>
          <span class="background-state">
            {isRunning ? `running for ${spanWords(ranMs)}` : `${endWords(command)}, after ${spanWords(ranMs)}`}
          </span>
        </summary>
        {output === '' ? (
          <p class="empty">No output yet.</p>
        ) : (
          <pre>
            <AnsiText text={output} />
          </pre>
        )}
      </details>
      <OpenAside label={`Open the output of ${name}`} onOpen={onOpen} />
      {isRunning && onKill && (
        <button type="button" class="quiet" aria-label={`End ${name}`} onClick={() => void onKill()}>
          End
        </button>
      )}
    </div>
  );
}
