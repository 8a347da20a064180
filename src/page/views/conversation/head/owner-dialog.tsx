import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { systemTimers } from '../../../../../protocol/client/timers.ts';
import { toVisibleLine } from '../../../../../protocol/text/visible-text.ts';
import { toGiftWords, type UserName } from '../../../state/accounts/owners.ts';
import { attempt, refusalOf } from '../../../state/accounts/refusal.ts';
import type { App, Desk } from '../../../state/app.ts';
import { type Tab, tabName } from '../../../state/tab.ts';
import { Dialog } from '../../dialogs/dialog.tsx';
import type { Overlay } from '../../overlay.ts';
import { useSubmit } from '../../use-submit.ts';

interface OwnerDialogProps {
  app: App;
  desk: Desk;
  tab: Tab;
  overlay: Overlay;
}

/** Pause in typing after which the search starts. */
const PAUSE_MS = 150;

/** Gives the workstream to another user, after it has said what that means. */
export function OwnerDialog({ app, desk, tab, overlay }: OwnerDialogProps) {
  const row = tab.row.value;
  const typed = useSignal('');
  const { people, problem: notFound } = usePeople(desk, typed.value.trim());
  const to = people?.find(({ username }) => username.toLowerCase() === typed.value.trim().toLowerCase());
  const isOwner = to?.userId === row.userId;
  const close = () => {
    overlay.value = undefined;
  };
  // Another conversation came to the front, or the right was lost: this dialog is about neither.
  useEffect(
    () => () => {
      if (overlay.peek() === 'owner') overlay.value = undefined;
    },
    [overlay],
  );
  const { busy, problem, onSubmit } = useSubmit(async () => {
    if (to === undefined) return 'Enter the username of a user who may log in.';
    const refused = await attempt(() => desk.workstreams.share(tab, { userId: to.userId }));
    if (refused === undefined) close();
    return refused;
  });
  return (
    <Dialog title={`Give “${toVisibleLine(tabName(tab))}” to somebody else`} onClose={close}>
      <form onSubmit={onSubmit}>
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
        <p id="gift" role="status">
          {to && (isOwner ? 'This is the owner already.' : toGiftWords(app.who.value, row, to))}
          {people?.length === 0 && 'No user has this in a name.'}
        </p>
        <p class="problem" role="alert">
          {problem.value ?? notFound}
        </p>
        <footer>
          <button type="button" onClick={close}>
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

/** The users with this text in a name; undefined until the first answer. */
function usePeople(
  desk: Desk,
  query: string,
): { people: readonly UserName[] | undefined; problem: string | undefined } {
  const people = useSignal<readonly UserName[] | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  useEffect(() => {
    let isLatest = true;
    const search = () => {
      desk.accounts.owners.find(query).then(
        (found) => {
          if (isLatest) people.value = found;
        },
        (error: unknown) => {
          if (isLatest) problem.value = refusalOf(error);
        },
      );
    };
    const cancel = systemTimers.after(query === '' ? 0 : PAUSE_MS, search);
    return () => {
      isLatest = false;
      cancel();
    };
  }, [desk, query, people, problem]);
  return { people: people.value, problem: problem.value };
}
