import { useSignal } from '@preact/signals';
import type { User } from '../../../../protocol/methods/accounts/user.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { App, Desk } from '../../state/app.ts';
import { toMoment } from '../../state/text/moment.ts';
import { LossQuestion } from '../dialogs/loss-question.tsx';
import { Icon } from '../icons.tsx';
import { ClaimedText } from '../nodes/claimed-text.tsx';
import { useFocusAfter } from '../use-focus-after.ts';

interface UserCardProps {
  app: App;
  desk: Desk;
  user: User;
  onEdit(): void;
}

/** A user with name, roles and last login, and buttons to edit, disable and delete. */
export function UserCard({ app, desk, user, onEdit }: UserCardProps) {
  const { users: board, roles } = desk.accounts;
  const isDeleting = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  const { userId, username, displayName, disabled, hasPassword, lastLoginAtMs } = user;
  const isSelf = app.who.value?.userId === userId;
  const element = useFocusAfter(isDeleting.value ? 'deleting' : 'shown');
  const facts = [
    username,
    user.roles.length === 0 ? 'no role' : user.roles.map((id) => toVisibleLine(roles.nameOf(id))).join(', '),
    lastLoginAtMs === null ? 'never logged in' : `last login ${toMoment(lastLoginAtMs, app.now())}`,
    ...(hasPassword ? [] : ['no password']),
  ];
  const toggle = async () => {
    problem.value = await board.setDisabled(userId, !disabled);
  };
  return (
    <li class="panel-row" ref={element}>
      <div class="account-row">
        <div class="node-what">
          <h3>
            <ClaimedText text={displayName} />
            {isSelf && <span class="tag">you</span>}
            {disabled && <span class="tag">disabled</span>}
          </h3>
          <p class="account-facts">{facts.join(' · ')}</p>
        </div>
        <div class="row-actions">
          {!isSelf && (
            <button
              type="button"
              class="quiet"
              aria-label={`${disabled ? 'Enable' : 'Disable'} ${username}`}
              onClick={() => void toggle()}
            >
              {disabled ? 'Enable' : 'Disable'}
            </button>
          )}
          <button type="button" class="quiet icon-only" aria-label={`Edit ${username}`} title="Edit" onClick={onEdit}>
            <Icon name="pencil" />
          </button>
          {!isSelf && (
            <button
              type="button"
              class="quiet icon-only"
              data-opens="deleting"
              aria-label={`Delete ${username}`}
              title="Delete"
              onClick={() => {
                isDeleting.value = true;
              }}
            >
              <Icon name="bin" />
            </button>
          )}
        </div>
      </div>
      <p class="problem" role="alert">
        {problem.value}
      </p>
      {isDeleting.value && (
        <LossQuestion
          name={username}
          loss="with all logins and API tokens? This cannot be undone. The conversations stay."
          remove={async () => {
            const refused = await board.remove(userId);
            if (refused === undefined) document.getElementById('users-title')?.focus(); // this row disappears
            return refused;
          }}
          onKeep={() => {
            isDeleting.value = false;
          }}
        />
      )}
    </li>
  );
}
