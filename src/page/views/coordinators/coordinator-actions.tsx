import { type Signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { App } from '../../state/app.ts';
import type { CoordinatorBoard } from '../../state/coordinators/coordinator-board.ts';
import { toMoment } from '../../state/text/moment.ts';
import { LossQuestion } from '../dialogs/loss-question.tsx';
import { fieldsOf } from '../form-fields.ts';

interface ActionsProps {
  app: App;
  board: CoordinatorBoard;
  /** How many workstreams work for it. */
  open: number;
}

/** What is asked before it is done. */
type Asked = 'close' | 'restrict' | undefined;

/** What those who may can do with a coordinator and everything below it. */
export function CoordinatorActions({ app, board, open }: ActionsProps) {
  const asked = useSignal<Asked>(undefined);
  const isBusy = useSignal(false);
  const coordinator = board.coordinator.value;
  const run = async (act: () => Promise<boolean>) => {
    if (isBusy.peek()) return;
    isBusy.value = true;
    await act();
    isBusy.value = false;
  };
  if (coordinator === undefined) return null;
  const { trustSend, trustUntilMs, revokedTools } = coordinator;
  const until = trustUntilMs === undefined ? '' : ` until ${toMoment(trustUntilMs, app.now())}`;
  return (
    <div class="coordinator-actions">
      <p class="account-facts">
        {trustSend ? `Its messages to these go without asking${until}.` : 'Each of its messages to these asks.'}
        {revokedTools.length > 0 && ` Taken away: ${revokedTools.map(toVisibleLine).join(', ')}.`}
      </p>
      <div class="row-actions" aria-busy={isBusy.value}>
        <button type="button" onClick={() => void run(() => board.trust(!trustSend))}>
          {trustSend ? 'Have its messages ask' : 'Trust its messages'}
        </button>
        <button type="button" data-asks="restrict" onClick={() => (asked.value = 'restrict')}>
          Take tools away…
        </button>
        <button type="button" onClick={() => void run(() => board.stop())}>
          Stop everything
        </button>
        {open > 0 && (
          <button type="button" class="danger" data-asks="close" onClick={() => (asked.value = 'close')}>
            Close all…
          </button>
        )}
      </div>
      <AskedForm board={board} open={open} asked={asked} />
      <p class="soft" role="status">
        {board.done.value && toVisibleLine(board.done.value)}
      </p>
      <p class="problem" role="alert">
        {board.problem.value && toVisibleLine(board.problem.value)}
      </p>
    </div>
  );
}

function AskedForm({ board, open, asked }: { board: CoordinatorBoard; open: number; asked: Signal<Asked> }) {
  const element = useRef<HTMLDivElement>(null);
  const keep = () => {
    const opener = asked.peek();
    asked.value = undefined;
    element.current?.parentElement?.querySelector<HTMLElement>(`[data-asks=${opener}]`)?.focus();
  };
  const close = async () => {
    const done = await board.close();
    if (done) keep();
    return done ? undefined : board.problem.peek();
  };
  return (
    <div ref={element}>
      {asked.value === 'close' && (
        <LossQuestion
          verb="Close"
          name={`${open} workstream${open === 1 ? '' : 's'}`}
          loss="at once? What runs there ends. Their conversations stay saved."
          remove={close}
          onKeep={keep}
        />
      )}
      {asked.value === 'restrict' && <RestrictForm board={board} onDone={keep} />}
    </div>
  );
}

/** Names tools that the coordinator and everything below it lose. */
function RestrictForm({ board, onDone }: { board: CoordinatorBoard; onDone(): void }) {
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    field.current?.focus({ preventScroll: true });
    field.current?.form?.scrollIntoView({ block: 'nearest' }); // with its buttons
  }, []);
  const submit = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const tools = (fieldsOf(event.currentTarget).tools ?? '').split(/[\s,]+/).filter((tool) => tool !== '');
    if (tools.length > 0 && (await board.restrict(tools))) onDone();
  };
  return (
    <form
      class="coordinator-restrict"
      onSubmit={(event) => void submit(event)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.isComposing) return;
        event.preventDefault(); // closes this form, and leaves nothing else
        onDone();
      }}
    >
      <label>
        Tools, such as bash web_fetch. It and everything below it lose them for good.
        <input ref={field} name="tools" autocomplete="off" autocapitalize="none" spellcheck={false} required />
      </label>
      <div class="row-actions">
        <button type="submit" class="danger">
          Take them away
        </button>
        <button type="button" onClick={onDone}>
          Keep
        </button>
      </div>
    </form>
  );
}
