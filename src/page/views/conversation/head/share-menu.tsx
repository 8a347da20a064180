import type { WorkstreamRow } from '../../../../../protocol/methods/conversation/listing.ts';
import { mayShare, type Who } from '../../../state/accounts/who.ts';
import type { App, Desk } from '../../../state/app.ts';
import type { Tab } from '../../../state/tab.ts';
import { Icon } from '../../icons.tsx';
import { HeadMenu } from './head-menu.tsx';

interface ShareMenuProps {
  app: App;
  desk: Desk;
  tab: Tab;
}

/** Shows who sees the workstream; its owner, and those who see everything, can change it. */
export function ShareMenu({ app, desk, tab }: ShareMenuProps) {
  const row = tab.row.value;
  const who = app.who.value;
  if (!mayShare(who, row)) return row.visibility === 'private' ? <PrivateSign words={onlyWords(who, row)} /> : null;
  const choices = [
    { visibility: 'shared', words: 'Everyone here' },
    { visibility: 'private', words: onlyWords(who, row) },
  ] as const;
  const chosen = choices.find(({ visibility }) => visibility === row.visibility);
  return (
    <HeadMenu
      label={`Who sees this: ${chosen?.words.toLowerCase() ?? ''}`}
      icon={row.visibility === 'private' ? 'lock' : 'people'}
    >
      {(close) =>
        choices.map(({ visibility, words }) => (
          <li key={visibility}>
            <button
              type="button"
              class="quiet"
              aria-pressed={visibility === row.visibility}
              onClick={() => {
                close();
                void desk.actions.share(tab, visibility);
              }}
            >
              {words}
            </button>
          </li>
        ))
      }
    </HeadMenu>
  );
}

const onlyWords = (who: Who | undefined, { userId }: WorkstreamRow) =>
  (who?.userId ?? '') === userId ? 'Only me' : 'Only its owner';

const PrivateSign = ({ words }: { words: string }) => (
  <span class="fact" title={words}>
    <Icon name="lock" />
    <span class="hidden-text">{words}</span>
  </span>
);
