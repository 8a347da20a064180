import { useSignal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { QueuedMessage } from '../../../../protocol/queue/queue-methods.ts';
import type { Desk } from '../../state/app.ts';
import { begunEditOf } from '../../state/composer/begun-edit.ts';
import { toAllowedPlace, toPlaceWords } from '../../state/composer/queue-order.ts';
import type { Tab } from '../../state/tab.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';
import { MessageEditor } from '../conversation/messages/message-editor.tsx';
import { Icon, type IconName } from '../icons.tsx';
import { type Drag, useQueueDrag } from './use-queue-drag.ts';

/** The messages that wait until the run has ended, in the order in which they will be sent. */
export function QueueList({ desk, tab }: { desk: Desk; tab: Tab }) {
  const waiting = tab.queue.value;
  const list = useRef<HTMLOListElement>(null);
  const said = useSignal('');
  /** The message that was moved by a key or a button: drawing it elsewhere takes the focus from it. */
  const focused = useRef<string | undefined>(undefined);
  useLayoutEffect(() => keepFocus(list.current, focused.current), [waiting]);
  /** One after the other: each begins with the order that the one before it left. */
  const moves = useRef<Promise<void>>(Promise.resolve());
  const move = async (runId: string, toPlace: (from: number) => number) => {
    const queue = tab.queue.peek();
    const from = queue.findIndex((one) => one.runId === runId);
    const wanted = Math.max(toPlace(from), 0);
    const to = toAllowedPlace(queue, runId, wanted) ?? wanted;
    const isDone = to === from || (await desk.actions.moveQueued(tab, { runId, to }));
    said.value = isDone ? toPlaceWords(to, queue.length, to !== from) : '';
  };
  const moveLater = (runId: string, toPlace: (from: number) => number) => {
    moves.current = moves.current.then(() => move(runId, toPlace));
  };
  const { drag, start } = useQueueDrag(waiting, ({ runId, to }) => moveLater(runId, () => to));
  const moveByKey = (runId: string, step: number) => {
    focused.current = runId;
    said.value = '';
    moveLater(runId, (from) => from + step);
  };
  const [first] = waiting;
  const status = (
    <p class="hidden-text" role="status">
      {said.value}
    </p>
  );
  if (!first) return status;
  return (
    <>
      {status}
      <ol class="queue" aria-label="Waiting messages" ref={list} onFocusOut={() => (focused.current = undefined)}>
        {first.held !== undefined && (
          <li role="note">
            <span class="queue-text">Not sent: {showHidden(first.held)}</span>
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
            queue={waiting}
            drag={drag}
            onDrag={start}
            onMove={moveByKey}
            desk={desk}
            tab={tab}
          />
        ))}
      </ol>
    </>
  );
}

function keepFocus(list: HTMLElement | null, runId: string | undefined): void {
  if (runId === undefined || list?.contains(document.activeElement)) return;
  list?.querySelector<HTMLElement>(`[data-run="${CSS.escape(runId)}"]`)?.focus();
}

interface QueueItemProps {
  message: QueuedMessage;
  /** From 0. */
  place: number;
  queue: readonly QueuedMessage[];
  /** The message that is being dragged. */
  drag: Drag | undefined;
  onDrag(event: PointerEvent, runId: string): void;
  /** Earlier by -1, or later by 1. */
  onMove(runId: string, step: number): void;
  desk: Desk;
  tab: Tab;
}

function QueueItem({ message: whole, place, queue, drag, onDrag, onMove, desk, tab }: QueueItemProps) {
  const { runId, message, source, steer, attachments = [] } = whole;
  const begun = useMemo(() => begunEditOf(tab, { runId }), [tab, runId]);
  const isNew = useRef(false);
  const { editQueued, steerQueued, removeQueued } = desk.actions;
  const [earlier, later] = [queue[place - 1], queue[place + 1]];
  const isMovable = [earlier, later].some((other) => other !== undefined && other.steer === steer);
  if (begun.value !== undefined) {
    return (
      <li data-run={runId}>
        <MessageEditor
          begun={begun}
          isNew={isNew.current}
          hint="The message keeps its place."
          confirm="Save"
          send={(text) => editQueued(tab, { runId, message: text })}
          onDone={() => {
            isNew.current = false;
            begun.value = undefined;
          }}
        />
      </li>
    );
  }
  const files = attachments.map(({ filename }) => `+ ${filename}`).join(' ');
  return (
    <li
      data-run={runId}
      class={markOf(drag, { runId, place, queue })}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys move the message that has the focus.
      tabIndex={0}
      aria-label={`${place + 1} of ${queue.length}: ${showHidden(message)}`}
      aria-keyshortcuts={isMovable ? 'Alt+ArrowUp Alt+ArrowDown' : undefined}
      onKeyDown={(event) => {
        const step = STEPS[event.key];
        if (step === undefined || !event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        event.stopPropagation(); // elsewhere, these keys go to other workstreams
        onMove(runId, step);
      }}
    >
      {isMovable && (
        <span class="queue-grip" title="Drag, or Alt+↑ and Alt+↓" onPointerDown={(event) => onDrag(event, runId)}>
          <Icon name="grip" />
        </span>
      )}
      <Icon name={steer ? 'steer' : 'clock'} />
      {steer && <span class="queue-when">Before the next step</span>}
      <span class="queue-text">{showHidden([message, files].filter((text) => text !== '').join(' '))}</span>
      <span class="queue-actions">
        {source === 'person' && !steer && (
          <Action icon="steer" word="Steer" label="Steer with this message" run={() => steerQueued(tab, runId)} />
        )}
        {earlier && earlier.steer === steer && (
          <Action icon="up" word="Earlier" label="Send earlier" run={() => onMove(runId, -1)} />
        )}
        {later && later.steer === steer && (
          <Action icon="down" word="Later" label="Send later" run={() => onMove(runId, 1)} />
        )}
        {source === 'person' && (
          <Action
            icon="pencil"
            word="Edit"
            label="Edit waiting message"
            run={() => {
              isNew.current = true;
              begun.value = message;
            }}
          />
        )}
        <Action icon="close" word="Take back" label="Take back" run={() => removeQueued(tab, whole)} />
      </span>
    </li>
  );
}

const STEPS: Record<string, number> = { ArrowUp: -1, ArrowDown: 1 };

/** A line above or below shows where the dragged message would go. */
function markOf(
  drag: Drag | undefined,
  { runId, place, queue }: Pick<QueueItemProps, 'place' | 'queue'> & { runId: string },
) {
  if (drag === undefined) return undefined;
  if (drag.runId === runId) return 'dragged';
  const from = queue.findIndex((one) => one.runId === drag.runId);
  if (drag.to !== place) return undefined;
  return drag.to < from ? 'drop-before' : 'drop-after';
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
