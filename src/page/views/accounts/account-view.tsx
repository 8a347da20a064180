import { useSignal } from '@preact/signals';
import type { Role } from '../../../../protocol/methods/accounts/role.ts';
import type { User } from '../../../../protocol/methods/accounts/user.ts';
import type { ToolPolicy } from '../../../../protocol/methods/admin/policy.ts';
import type { Rule } from '../../../../protocol/methods/admin/rule.ts';
import { accountsOf } from '../../state/accounts/accounts.ts';
import { SECTIONS, type Section, sectionsFor } from '../../state/accounts/sections.ts';
import type { App, Desk } from '../../state/app.ts';
import identityStyles from '../../styles/identities.css?inline';
import settingStyles from '../../styles/settings.css?inline';
import { JudgeList } from '../judge/judge-list.tsx';
import { type Overlay, useOwnOverlay } from '../overlay.ts';
import { Panel } from '../panel.tsx';
import { adoptStyles } from '../parts/adopt-styles.ts';
import { RuleDialog } from '../rules/rule-dialog.tsx';
import { RuleList } from '../rules/rule-list.tsx';
import { AuditList } from './audit-list.tsx';
import { OwnAccount } from './own-account.tsx';
import { PolicyDialog } from './policy-dialog.tsx';
import { PolicyList } from './policy-list.tsx';
import { RoleDialog } from './role-dialog.tsx';
import { RoleList } from './role-list.tsx';
import { SettingsList } from './settings-list.tsx';
import { UserDialog } from './user-dialog.tsx';
import { UserList } from './user-list.tsx';

adoptStyles(identityStyles + settingStyles);

interface AccountViewProps {
  app: App;
  desk: Desk;
  overlay: Overlay;
}

/** What the form edits; undefined within: a new one. */
export type Edited =
  | { user: User | undefined }
  | { role: Role | undefined }
  | { policy: ToolPolicy | undefined }
  | { rule: Rule | undefined };

/** The person’s own account and, with the permissions for it, users, roles, verdicts and the audit trail. */
export function AccountView({ app, desk, overlay }: AccountViewProps) {
  const edited = useSignal<Edited>({ user: undefined });
  const { section } = accountsOf(desk);
  const sections = sectionsFor(app.who.value?.permissions ?? []);
  const shown = sections.includes(section.value) ? section.value : 'own';
  const formHere = formIn(shown, edited.value);
  const { isOpen, open, close } = useOwnOverlay(overlay, 'account', formHere !== undefined);
  const form = isOpen ? formHere : undefined;
  const edit = (what: Edited) => {
    edited.value = what;
    open();
  };
  return (
    <Panel name="account" title="Account" count="" desk={desk}>
      {sections.length > 1 && (
        <nav class="usage-choice account-nav" aria-label="Parts of the account view">
          {sections.map((one) => (
            <button
              key={one}
              type="button"
              class="quiet"
              aria-current={one === shown ? 'page' : undefined}
              onClick={() => {
                section.value = one;
              }}
            >
              {SECTIONS[one].title}
            </button>
          ))}
        </nav>
      )}
      {/* A change of rights draws the part anew, so that it reads what may be seen now. */}
      <Part key={app.who.value?.permissions.join()} app={app} desk={desk} shown={shown} edit={edit} />
      {form && 'user' in form && <UserDialog app={app} desk={desk} user={form.user} onClose={close} />}
      {form && 'policy' in form && <PolicyDialog app={app} desk={desk} policy={form.policy} onClose={close} />}
      {form && 'rule' in form && <RuleDialog app={app} desk={desk} rule={form.rule} onClose={close} />}
      {form && 'role' in form && <RoleDialog app={app} desk={desk} role={form.role} onClose={close} />}
    </Panel>
  );
}

const formIn = (shown: Section, edited: Edited): Edited | undefined =>
  shown === sectionOf(edited) ? edited : undefined;

function sectionOf(edited: Edited): Section {
  if ('user' in edited) return 'users';
  if ('rule' in edited) return 'rules';
  return 'role' in edited ? 'roles' : 'policies';
}

interface PartProps {
  app: App;
  desk: Desk;
  shown: Section;
  edit(what: Edited): void;
}

function Part({ app, desk, shown, edit }: PartProps) {
  switch (shown) {
    case 'own':
      return <OwnAccount app={app} desk={desk} />;
    case 'rules':
      return <RuleList app={app} desk={desk} onEdit={(rule) => edit({ rule })} />;
    case 'users':
      return <UserList app={app} desk={desk} onEdit={(user) => edit({ user })} />;
    case 'roles':
      return <RoleList app={app} desk={desk} onEdit={(role) => edit({ role })} />;
    case 'policies':
      return <PolicyList desk={desk} onEdit={(policy) => edit({ policy })} />;
    case 'judge':
      return <JudgeList app={app} desk={desk} />;
    case 'settings':
      return <SettingsList desk={desk} />;
    case 'audit':
      return <AuditList app={app} desk={desk} />;
  }
}
