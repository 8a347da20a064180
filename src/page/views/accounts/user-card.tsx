import type { User } from '../../../../protocol/methods/accounts/user.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { accountsOf } from '../../state/accounts/accounts.ts';
import type { App, Desk } from '../../state/app.ts';
import { toMoment } from '../../state/text/moment.ts';
import { RecordCard } from '../rows/record-card.tsx';

interface UserCardProps {
  app: App;
  desk: Desk;
  user: User;
  onEdit(): void;
}

/** A user with name, roles and last login, and buttons to edit, disable and delete. */
export function UserCard({ app, desk, user, onEdit }: UserCardProps) {
  const { users: board, roles } = accountsOf(desk);
  const { userId, username, displayName, disabled, hasPassword, lastLoginAtMs } = user;
  const isSelf = app.who.value?.userId === userId;
  const facts = [
    username,
    user.roles.length === 0 ? 'no role' : user.roles.map((id) => toVisibleLine(roles.nameOf(id))).join(', '),
    lastLoginAtMs === null ? 'never logged in' : `last login ${toMoment(lastLoginAtMs, app.now())}`,
    ...(hasPassword ? [] : ['no password']),
  ];
  return (
    <RecordCard
      title={displayName}
      tags={[isSelf && 'you', disabled && 'disabled']}
      facts={facts.join(' · ')}
      name={username}
      onEdit={onEdit}
      toggle={isSelf ? undefined : { isOn: !disabled, set: (isOn) => board.setDisabled(userId, !isOn) }}
      removal={
        isSelf
          ? undefined
          : {
              loss: 'with all logins and API tokens? This cannot be undone. The conversations stay.',
              remove: () => board.remove(userId),
              focusAfter: 'users-title',
            }
      }
    />
  );
}
