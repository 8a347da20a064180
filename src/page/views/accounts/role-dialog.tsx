import { isPermission } from '../../../../protocol/methods/accounts/permissions.ts';
import type { Role } from '../../../../protocol/methods/accounts/role.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { accountsOf } from '../../state/accounts/accounts.ts';
import { PERMISSION_GROUPS } from '../../state/accounts/permission-words.ts';
import type { App, Desk } from '../../state/app.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { fieldsOf, tickedIn } from '../form-fields.ts';
import { useSubmit } from '../use-submit.ts';

interface RoleDialogProps {
  app: App;
  desk: Desk;
  /** Undefined for a new role. */
  role: Role | undefined;
  onClose(): void;
}

/** The form to define or change a role. Built-in roles can only be looked at. */
export function RoleDialog({ app, desk, role, onClose }: RoleDialogProps) {
  const { roles: board } = accountsOf(desk);
  const isFixed = role?.builtin === true;
  const { busy, problem, onSubmit } = useSubmit(async (form) => {
    const { name = '', displayName = '' } = fieldsOf(form);
    const permissions = tickedIn(form, 'permissions').filter(isPermission);
    const shown = displayName.trim() !== '' && { displayName: displayName.trim() };
    const refused = await (role === undefined
      ? board.add({ name: name.trim(), permissions, ...shown })
      : board.change({ roleId: role.roleId, permissions, ...shown }));
    if (refused === undefined) onClose();
    return refused;
  });
  return (
    <Dialog title={role ? toVisibleLine(role.displayName) : 'Define a role'} onClose={onClose}>
      <form class="account-dialog" onSubmit={onSubmit}>
        {role === undefined && (
          <label>
            Name (lower-case letters, digits and -)
            <input
              name="name"
              maxLength={64}
              autocomplete="off"
              autocapitalize="none"
              spellcheck={false}
              autofocus
              required
            />
          </label>
        )}
        {isFixed ? (
          <p class="soft">This role is built in: nobody can change it.</p>
        ) : (
          <label>
            Name to show
            <input
              name="displayName"
              maxLength={256}
              autocomplete="off"
              defaultValue={role?.displayName}
              placeholder="as the name"
            />
          </label>
        )}
        <PermissionBoxes app={app} held={role?.permissions ?? ['read']} isFixed={isFixed} />
        <p class="problem" role="alert">
          {problem.value}
        </p>
        <footer>
          <button type="button" onClick={onClose}>
            {isFixed ? 'Close' : 'Cancel'}
          </button>
          {!isFixed && (
            <button type="submit" class="primary" disabled={busy.value}>
              {role === undefined ? 'Define' : 'Save'}
            </button>
          )}
        </footer>
      </form>
    </Dialog>
  );
}

interface PermissionBoxesProps {
  app: App;
  held: readonly string[];
  isFixed: boolean;
}

const PermissionBoxes = ({ app, held, isFixed }: PermissionBoxesProps) => (
  <>
    {PERMISSION_GROUPS.map(({ title, hint, permissions }) => (
      <fieldset key={title} class="boxes">
        <legend>{title}</legend>
        {hint !== undefined && <p class="soft">{hint}</p>}
        {permissions.map(([permission, words]) => (
          <label key={permission} class="check">
            <input
              type="checkbox"
              name="permissions"
              value={permission}
              defaultChecked={held.includes(permission)}
              // Nobody hands out what they do not hold.
              disabled={isFixed || (!app.may(permission) && !held.includes(permission))}
            />
            <span>
              {words} <code>{permission}</code>
            </span>
          </label>
        ))}
      </fieldset>
    ))}
  </>
);
