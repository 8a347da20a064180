import { useSignal } from '@preact/signals';
import type { QueuedMessage } from '../../../../protocol/queue/queue-methods.ts';
import type { Desk } from '../../state/app.ts';
import type { Tab } from '../../state/tab.ts';
import { MessageEditor } from '../conversation/messages/message-editor.tsx';
import { Icon, type IconName } from '../icons.tsx';

/** The messages that wait until the run has ended, in the order in which they will be sent. */
export function QueueList({ desk, tab }: { desk: Desk; tab: Tab }) {
  const waiting = tab.queue.value;
  const [first] = waiting;
  if (!first) return null;
  return (
    <ol class="queue" aria-label="Waiting messages">
      {first.held !== undefined && (
        <li role="note">
          <span class="queue-text">Not sent: {first.held}</span>
          <button type="button" onClick={() => void desk.actions.tryNow(tab)}>
            Send now
          </button>
        </li>
      )}
      {waiting.map((message, index) => (
        <QueueItem
          key={message.runId}
          message={message}
          place={index}
          earlier={waiting[index - 1]}
          later={waiting[index + 1]}
          desk={desk}
          tab={tab}
        />
      ))}
    </ol>
  );
}

interface QueueItemProps {
  message: QueuedMessage;
  /** From 0. */
  place: number;
  /** Its neighbours. */
  earlier: QueuedMessage | undefined;
  later: QueuedMessage | undefined;
  desk: Desk;
  tab: Tab;
}

function QueueItem({
  message: { runId, message, source, steer, attachments = [] },
  place,
  earlier,
  later,
  desk,
  tab,
}: QueueItemProps) {
  const isEditing = useSignal(false);
  const { editQueued, moveQueued, steerQueued, removeQueued } = desk.actions;
  if (isEditing.value) {
    return (
      <li>
        <MessageEditor
          text={message}
          hint="The message keeps its place."
          confirm="Save"
          send={(text) => editQueued(tab, { runId, message: text })}
          onDone={() => {
            isEditing.value = false;
          }}
        />
      </li>
    );
  }
  const files = attachments.map(({ filename }) => `+ ${filename}`).join(' ');
  return (
    <li>
      <Icon name={steer ? 'steer' : 'clock'} />
      {steer && <span class="queue-when">Before the next step</span>}
      <span class="queue-text">{[message, files].filter((text) => text !== '').join(' ')}</span>
      <span class="queue-actions">
        {source === 'person' && !steer && (
          <Action icon="steer" word="Steer" label="Steer with this message" run={() => steerQueued(tab, runId)} />
        )}
        {earlier && earlier.steer === steer && (
          <Action icon="up" word="Earlier" label="Send earlier" run={() => moveQueued(tab, { runId, to: place - 1 })} />
        )}
        {later && later.steer === steer && (
          <Action icon="down" word="Later" label="Send later" run={() => moveQueued(tab, { runId, to: place + 1 })} />
        )}
        {source === 'person' && (
          <Action
            icon="pencil"
            word="Edit"
            label="Edit waiting message"
            run={() => {
              isEditing.value = true;
            }}
          />
        )}
        <Action icon="close" word="Take back" label="Take back" run={() => removeQueued(tab, { runId, message })} />
      </span>
    </li>
  );
}

interface ActionProps {
  icon: IconName;
  /** Shown on touch screens. */
  word: string;
  label: string;
  run(): unknown;
}

const Action = ({ icon, word, label, run }: ActionProps) => (
  <button type="button" class="quiet icon-only" aria-label={label} title={label} onClick={() => void run()}>
    <Icon name={icon} />
    <span class="queue-word">{word}</span>
  </button>
);
