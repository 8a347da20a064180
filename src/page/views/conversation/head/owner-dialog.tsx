import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { systemTimers } from '../../../../../protocol/client/timers.ts';
import { toVisibleLine } from '../../../../../protocol/text/visible-text.ts';
import { OPERATOR, toGiftWords, type UserName } from '../../../state/accounts/owners.ts';
import { attempt } from '../../../state/accounts/refusal.ts';
import { isUser } from '../../../state/accounts/who.ts';
import type { App, Desk } from '../../../state/app.ts';
import { Reading } from '../../../state/reading/reading.ts';
import { type Tab, tabName } from '../../../state/tab.ts';
import { Dialog } from '../../dialogs/dialog.tsx';
import { ReadingNotice } from '../../reading-notice.tsx';
import { useSubmit } from '../../use-submit.ts';

interface OwnerDialogProps {
  app: App;
  desk: Desk;
  tab: Tab;
  onClose(): void;
}

/** Pause in typing after which the search starts. */
const PAUSE_MS = 150;

/** Gives the workstream to another user or to the operator, after it has said what that means. */
export function OwnerDialog({ app, desk, tab, onClose }: OwnerDialogProps) {
  const row = tab.row.value;
  const typed = useSignal('');
  const toOperator = useSignal(false);
  const { people, reading } = usePeople(desk, typed.value.trim());
  const named = people?.find(({ username }) => username.toLowerCase() === typed.value.trim().toLowerCase());
  const to = toOperator.value ? OPERATOR : named;
  const isOwner = to?.userId === row.userId;
  const { busy, problem, onSubmit } = useSubmit(async () => {
    if (to === undefined) return 'Enter the username of a user who may log in.';
    const refused = await attempt(() => desk.workstreams.share(tab, { userId: to.userId }));
    if (refused === undefined) onClose();
    return refused;
  });
  return (
    <Dialog title={`Give “${toVisibleLine(tabName(tab))}” to somebody else`} onClose={onClose}>
      <form onSubmit={onSubmit}>
        <UsernameField typed={typed} people={people} isOff={toOperator.value} />
        {row.userId !== OPERATOR.userId && (
          <OperatorBox chosen={toOperator} isSelf={app.who.value !== undefined && !isUser(app.who.value)} />
        )}
        <p id="gift" role="status">
          {to && (isOwner ? 'This is the owner already.' : toGiftWords(app.who.value, row, to))}
          {to === undefined && people?.length === 0 && 'No user has this in a name.'}
        </p>
        <ReadingNotice of={[reading]} />
        <p class="problem" role="alert">
          {problem.value}
        </p>
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={busy.value || isOwner}>
            Give
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

interface UsernameFieldProps {
  typed: Signal<string>;
  people: readonly UserName[] | undefined;
  isOff: boolean;
}

const UsernameField = ({ typed, people, isOff }: UsernameFieldProps) => (
  <>
    <label>
      Username of the new owner
      <input
        list="people"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        aria-describedby="gift"
        autofocus
        required
        disabled={isOff}
        value={typed.value}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value;
        }}
      />
    </label>
    <datalist id="people">
      {people?.map(({ userId, username, displayName }) => (
        <option key={userId} value={username}>
          {toVisibleLine(displayName)}
        </option>
      ))}
    </datalist>
  </>
);

const OperatorBox = ({ chosen, isSelf }: { chosen: Signal<boolean>; isSelf: boolean }) => (
  <label class="check">
    <input
      type="checkbox"
      aria-describedby="gift"
      checked={chosen.value}
      onChange={({ currentTarget }) => {
        chosen.value = currentTarget.checked;
      }}
    />
    <span>Give it to the operator of this daemon{isSelf && ' (you)'}</span>
  </label>
);

/** The users with this text in a name; undefined until the first answer. */
function usePeople(desk: Desk, query: string): { people: readonly UserName[] | undefined; reading: Reading } {
  const people = useSignal<readonly UserName[] | undefined>(undefined);
  const reading = useMemo(() => new Reading(desk.client), [desk]);
  useEffect(() => {
    const keep = (found: readonly UserName[]) => {
      people.value = found;
    };
    const search = () => void reading.read(() => desk.owners.find(query), keep);
    const cancel = systemTimers.after(query === '' ? 0 : PAUSE_MS, search);
    return () => {
      cancel();
      reading.forget();
    };
  }, [desk, query, people, reading]);
  return { people: people.value, reading };
}
