import { isOfEveryone, mayShare } from '../../../state/accounts/who.ts';
import type { App, Desk } from '../../../state/app.ts';
import type { Tab } from '../../../state/tab.ts';
import { Icon } from '../../icons.tsx';
import { type Overlay, useOwnOverlay } from '../../overlay.ts';
import { LazyDialog } from '../../parts/lazy-views.tsx';
import { OWNER } from '../../parts/parts.ts';
import { HeadMenu } from './head-menu.tsx';

interface ShareMenuProps {
  app: App;
  desk: Desk;
  tab: Tab;
  overlay: Overlay;
}

/** Shows who sees the workstream and whose it is; its owner, and those who see everything, can change both. */
export function ShareMenu({ app, desk, tab, overlay }: ShareMenuProps) {
  const row = tab.row.value;
  const who = app.who.value;
  const { hasUsers } = app.auth.value;
  const { owners } = desk;
  // The main session and those of jobs are everyone’s, so their owner says nothing.
  const owner = isOfEveryone(row) ? undefined : owners.otherThan(who, row);
  const only = owners.onlyWords(who, row);
  const maySet = mayShare(who, row, hasUsers);
  // Closes when another conversation comes to the front or the right is lost: the dialog is about neither.
  const { isOpen, open, close } = useOwnOverlay(overlay, 'owner', maySet);
  if (!maySet)
    return (
      <>
        {row.visibility === 'private' && <Sign icon="lock" label={only} />}
        {owner !== undefined && <Sign icon="person" label={`Owner: ${owner}`} text={owner} />}
      </>
    );
  return (
    <>
      <Choices desk={desk} tab={tab} only={only} onGive={hasUsers ? open : undefined} />
      {owner !== undefined && <Sign icon="person" label={`Owner: ${owner}`} text={owner} />}
      {isOpen && (
        <LazyDialog part={OWNER} title="Give to somebody else" desk={desk} onClose={close}>
          {({ OwnerDialog }) => <OwnerDialog app={app} desk={desk} tab={tab} onClose={close} />}
        </LazyDialog>
      )}
    </>
  );
}

interface ChoicesProps {
  desk: Desk;
  tab: Tab;
  /** Who sees it if it is private, in words. */
  only: string;
  /** Undefined where there are no users. */
  onGive: (() => void) | undefined;
}

function Choices({ desk, tab, only, onGive }: ChoicesProps) {
  const isPrivate = tab.row.value.visibility === 'private';
  const choices = [
    { visibility: 'shared', words: 'Everyone here', isChosen: !isPrivate },
    { visibility: 'private', words: only, isChosen: isPrivate },
  ] as const;
  return (
    <HeadMenu
      label={`Who sees this: ${(isPrivate ? only : 'Everyone here').replace(/^./, (first) => first.toLowerCase())}`}
      icon={isPrivate ? 'lock' : 'people'}
    >
      {(close) => (
        <>
          {choices.map(({ visibility, words, isChosen }) => (
            <li key={visibility}>
              <button
                type="button"
                class="quiet"
                aria-pressed={isChosen}
                onClick={() => {
                  close();
                  void desk.actions.share(tab, visibility);
                }}
              >
                {words}
              </button>
            </li>
          ))}
          {onGive && (
            <li class="apart">
              <button
                type="button"
                class="quiet"
                onClick={() => {
                  close();
                  onGive();
                }}
              >
                Give it to somebody else…
              </button>
            </li>
          )}
        </>
      )}
    </HeadMenu>
  );
}

interface SignProps {
  icon: 'lock' | 'person';
  label: string;
  /** Shown next to the icon; without it, the label is only for screen readers and the pointer. */
  text?: string;
}

const Sign = ({ icon, label, text }: SignProps) => (
  <span class={`fact ${text === undefined ? '' : 'owner'}`} title={label}>
    <Icon name={icon} />
    <span class="hidden-text">{label}</span>
    {text !== undefined && <bdi aria-hidden="true">{text}</bdi>}
  </span>
);
