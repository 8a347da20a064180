import { useEffect } from 'preact/hooks';
import { isBuiltinRole } from '../../../../protocol/methods/accounts/permissions.ts';
import type { Role } from '../../../../protocol/methods/accounts/role.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { accountsOf } from '../../state/accounts/accounts.ts';
import { ROLE_WORDS } from '../../state/accounts/permission-words.ts';
import type { App, Desk } from '../../state/app.ts';
import { Icon } from '../icons.tsx';
import { toCount } from '../panel.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { RecordCard } from '../rows/record-card.tsx';

interface RoleListProps {
  app: App;
  desk: Desk;
  /** Undefined: a new role. */
  onEdit(role: Role | undefined): void;
}

/** The roles and what they grant. */
export function RoleList({ desk, onEdit }: RoleListProps) {
  const { roles: board } = accountsOf(desk);
  useEffect(() => void board.read(), [board]);
  const roles = board.roles.value;
  return (
    <section class="account-list" aria-labelledby="roles-title">
      <header>
        <h2 id="roles-title" tabIndex={-1}>
          Roles
        </h2>
        <span class="panel-count">{toCount(roles?.length, 'role')}</span>
        <button type="button" class="primary" onClick={() => onEdit(undefined)}>
          <Icon name="plus" />
          <span>Define a role</span>
        </button>
      </header>
      <ReadingNotice of={[board.reading]} />
      <ul aria-label="Roles">
        {roles?.map((role) => (
          <RoleCard key={role.roleId} desk={desk} role={role} onEdit={() => onEdit(role)} />
        ))}
      </ul>
    </section>
  );
}

function RoleCard({ desk, role, onEdit }: { desk: Desk; role: Role; onEdit(): void }) {
  const { roleId, displayName, builtin, permissions } = role;
  const facts = [toVisibleLine(role.name), toCount(permissions.length, 'permission') || 'no permissions'];
  return (
    <RecordCard
      title={displayName}
      tags={[builtin && 'built in']}
      facts={[...facts, ...(isBuiltinRole(roleId) ? [ROLE_WORDS[roleId]] : [])].join(' · ')}
      name={toVisibleLine(displayName)}
      isFixed={builtin}
      onEdit={onEdit}
      removal={
        builtin
          ? undefined
          : {
              loss: 'and take it away from everybody who holds it? This cannot be undone.',
              remove: () => accountsOf(desk).roles.remove(roleId),
              focusAfter: 'roles-title',
            }
      }
    />
  );
}
