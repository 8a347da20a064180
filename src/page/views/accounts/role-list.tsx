import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isBuiltinRole } from '../../../../protocol/methods/accounts/permissions.ts';
import type { Role } from '../../../../protocol/methods/accounts/role.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { ROLE_WORDS } from '../../state/accounts/permission-words.ts';
import type { App, Desk } from '../../state/app.ts';
import { LossQuestion } from '../dialogs/loss-question.tsx';
import { Icon } from '../icons.tsx';
import { ClaimedText } from '../nodes/claimed-text.tsx';
import { toCount } from '../panel.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { useFocusAfter } from '../use-focus-after.ts';

interface RoleListProps {
  app: App;
  desk: Desk;
  /** Undefined: a new role. */
  onEdit(role: Role | undefined): void;
}

/** The roles and what they grant. */
export function RoleList({ desk, onEdit }: RoleListProps) {
  const { roles: board } = desk.accounts;
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
  const isDeleting = useSignal(false);
  const { roleId, displayName, builtin, permissions } = role;
  const name = toVisibleLine(displayName);
  const element = useFocusAfter(isDeleting.value ? 'deleting' : 'shown');
  return (
    <li class="panel-row" ref={element}>
      <div class="account-row">
        <div class="node-what">
          <h3>
            <ClaimedText text={displayName} />
            {builtin && <span class="tag">built in</span>}
          </h3>
          <p class="account-facts">
            {`${toVisibleLine(role.name)} · ${toCount(permissions.length, 'permission') || 'no permissions'}`}
            {isBuiltinRole(roleId) && ` · ${ROLE_WORDS[roleId]}`}
          </p>
        </div>
        <div class="row-actions">
          <button type="button" class="quiet" aria-label={`${builtin ? 'Show' : 'Edit'} ${name}`} onClick={onEdit}>
            {builtin ? 'Show' : 'Edit'}
          </button>
          {!builtin && (
            <button
              type="button"
              class="quiet icon-only"
              data-opens="deleting"
              aria-label={`Delete ${name}`}
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
      {isDeleting.value && (
        <LossQuestion
          name={name}
          loss="and take it away from everybody who holds it? This cannot be undone."
          remove={async () => {
            const problem = await desk.accounts.roles.remove(roleId);
            if (problem === undefined) document.getElementById('roles-title')?.focus(); // this row disappears
            return problem;
          }}
          onKeep={() => {
            isDeleting.value = false;
          }}
        />
      )}
    </li>
  );
}
