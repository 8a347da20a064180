import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { systemTimers } from '../../../../protocol/client/timers.ts';
import type { User } from '../../../../protocol/methods/accounts/user.ts';
import { accountsOf } from '../../state/accounts/accounts.ts';
import type { App, Desk } from '../../state/app.ts';
import { Icon } from '../icons.tsx';
import { toCount } from '../panel.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { UserCard } from './user-card.tsx';

interface UserListProps {
  app: App;
  desk: Desk;
  /** Undefined: a new user. */
  onEdit(user: User | undefined): void;
}

/** Pause in typing after which the search starts. */
const PAUSE_MS = 150;

/** The people who may log in. */
export function UserList({ app, desk, onEdit }: UserListProps) {
  const { users: board, roles } = accountsOf(desk);
  const query = useSignal('');
  useEffect(() => void roles.readChoices(), [roles]);
  useEffect(() => {
    const search = () => void board.search(query.value);
    if (query.value === '') return search();
    return systemTimers.after(PAUSE_MS, search);
  }, [board, query.value]);
  const listing = board.listing.value;
  return (
    <section class="account-list" aria-labelledby="users-title">
      <header>
        <h2 id="users-title" tabIndex={-1}>
          Users
        </h2>
        <span class="panel-count" role="status">
          {toCount(listing?.total, 'user')}
        </span>
        <button type="button" class="primary" onClick={() => onEdit(undefined)}>
          <Icon name="plus" />
          <span>Add a user</span>
        </button>
      </header>
      <div class="saved-search">
        <Icon name="search" />
        <input
          type="search"
          aria-label="Search users"
          placeholder="Search by name"
          autocomplete="off"
          value={query.value}
          onInput={({ currentTarget }) => {
            query.value = currentTarget.value;
          }}
        />
      </div>
      <ReadingNotice of={[board.reading, roles.choosing]} />
      {listing?.total === 0 && (
        <p class="empty">
          {query.value.trim() === ''
            ? 'No users yet. Each person gets a name, a password and roles. Add a user for everyone who works here.'
            : 'No user has this in a name.'}
        </p>
      )}
      <ul aria-label="Users">
        {listing?.users.map((user) => (
          <UserCard key={user.userId} app={app} desk={desk} user={user} onEdit={() => onEdit(user)} />
        ))}
      </ul>
      {listing && listing.users.length < listing.total && (
        <button type="button" class="quiet more" onClick={() => void board.more()}>
          Show more
        </button>
      )}
    </section>
  );
}
