import { isBuiltinRole } from '../../../../protocol/methods/accounts/permissions.ts';
import type { User } from '../../../../protocol/methods/accounts/user.ts';
import { accountsOf } from '../../state/accounts/accounts.ts';
import { ROLE_WORDS } from '../../state/accounts/permission-words.ts';
import type { RoleBoard } from '../../state/accounts/role-board.ts';
import type { App, Desk } from '../../state/app.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { fieldsOf, LEAST_PASSWORD, tickedIn } from '../form-fields.ts';
import { ClaimedText } from '../nodes/claimed-text.tsx';
import { useSubmit } from '../use-submit.ts';
import { IdentityLinkForm, useIdentityLink } from './identity-link.tsx';
import { UserIdentities } from './user-identities.tsx';

interface UserDialogProps {
  app: App;
  desk: Desk;
  /** Undefined for a new user. */
  user: User | undefined;
  onClose(): void;
}

/** The form to add or edit a user. */
export function UserDialog({ app, desk, user, onClose }: UserDialogProps) {
  const { users: board } = accountsOf(desk);
  const isSelf = user !== undefined && app.who.value?.userId === user.userId;
  const held = user?.roles ?? ['builtin-viewer'];
  const choices = accountsOf(desk).roles.choices(held);
  // A ticked box that cannot be changed is no part of what a form sends.
  const kept = choices
    .filter(({ roleId, assignable }) => !assignable && held.includes(roleId))
    .map(({ roleId }) => roleId);
  const link = useIdentityLink(desk, user);
  const { busy, problem, onSubmit } = useSubmit(async (form) => {
    const { username = '', displayName = '', password = '' } = fieldsOf(form);
    const name = displayName.trim() === '' ? undefined : displayName.trim();
    const login = username.trim();
    const roles = isSelf ? user.roles : [...tickedIn(form, 'roles'), ...kept];
    const refused = await (user === undefined
      ? board.add({ username: login, displayName: name ?? login, password, roles: [...roles] })
      : board.change(user, { displayName: name, password: password === '' ? undefined : password, roles }));
    if (refused === undefined) onClose();
    return refused;
  });
  return (
    <Dialog title={user ? `Edit ${user.username}` : 'Add a user'} onClose={onClose}>
      <form class="account-dialog" onSubmit={onSubmit}>
        {user === undefined && (
          <label>
            Username
            <input
              name="username"
              maxLength={64}
              autocomplete="off"
              autocapitalize="none"
              spellcheck={false}
              autofocus
              required
            />
          </label>
        )}
        <label>
          Name to show
          <input
            name="displayName"
            maxLength={256}
            autocomplete="off"
            defaultValue={user?.displayName}
            placeholder="as the username"
          />
        </label>
        {isSelf ? (
          user.hasPassword && <p class="soft">You change your own password in “My account”.</p>
        ) : (
          <PasswordField user={user} />
        )}
        <RoleBoxes desk={desk} held={held} isSelf={isSelf} />
        {user !== undefined && <UserIdentities app={app} desk={desk} user={user} link={link} />}
        <p class="problem" role="alert">
          {problem.value}
        </p>
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={busy.value}>
            {user === undefined ? 'Add' : 'Save'}
          </button>
        </footer>
      </form>
      {user !== undefined && <IdentityLinkForm link={link} />}
    </Dialog>
  );
}

const PasswordField = ({ user }: Pick<UserDialogProps, 'user'>) => (
  <label>
    {user === undefined ? `Password (at least ${LEAST_PASSWORD} characters)` : 'New password'}
    <input
      name="password"
      type="password"
      autocomplete="new-password"
      minLength={LEAST_PASSWORD}
      required={user === undefined}
      aria-describedby={user && 'password-hint'}
    />
    {user && (
      <span class="hint" id="password-hint">
        {user.hasPassword ? 'Leave it empty to keep the password. A new one ends all logins.' : 'There is none so far.'}
      </span>
    )}
  </label>
);

interface RoleBoxesProps {
  desk: Desk;
  held: readonly string[];
  /** Nobody changes their own roles. */
  isSelf: boolean;
}

function RoleBoxes({ desk, held, isSelf }: RoleBoxesProps) {
  const { roles } = accountsOf(desk);
  const choices = roles.choices(held);
  return (
    <fieldset class="boxes">
      <legend>Roles</legend>
      {isSelf && <p class="soft">Only another administrator can change your roles.</p>}
      {!isSelf && <RoleLimits desk={desk} choices={choices} />}
      {choices.map(({ roleId, assignable }) => (
        <label key={roleId} class="check">
          <input
            type="checkbox"
            name="roles"
            value={roleId}
            defaultChecked={held.includes(roleId)}
            disabled={isSelf || !assignable}
          />
          <span>
            <ClaimedText text={roles.nameOf(roleId)} />
            {isBuiltinRole(roleId) && <span class="hint">{`: ${ROLE_WORDS[roleId]}`}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** Says why a role is missing or cannot be unticked. */
function RoleLimits({ desk, choices }: { desk: Desk; choices: ReturnType<RoleBoard['choices']> }) {
  if (choices.every(({ assignable }) => assignable) && !accountsOf(desk).roles.hidesSome) return null;
  return <p class="soft">You can give and take away only roles whose permissions you hold yourself.</p>;
}
