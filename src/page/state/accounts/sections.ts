import type { Permission } from '../../../../protocol/methods/accounts/permissions.ts';

/** The parts of the account view: the person's own account, and the administration. */
export type Section = 'own' | 'users' | 'roles' | 'policies' | 'settings' | 'audit';

interface SectionRow {
  title: string;
  /** Who may see it; undefined: everybody. */
  permission: Permission | undefined;
}

export const SECTIONS: Record<Section, SectionRow> = {
  own: { title: 'My account', permission: undefined },
  users: { title: 'Users', permission: 'admin.users' },
  roles: { title: 'Roles', permission: 'admin.roles' },
  policies: { title: 'Tool policies', permission: 'admin.policies' },
  settings: { title: 'Settings', permission: 'admin.settings' },
  audit: { title: 'Audit trail', permission: 'admin.audit' },
};

const ALL: readonly Section[] = ['own', 'users', 'roles', 'policies', 'settings', 'audit'];

/** The sections that a person with these permissions sees. */
export const sectionsFor = (permissions: readonly string[]): Section[] =>
  ALL.filter((section) => {
    const { permission } = SECTIONS[section];
    return permission === undefined || permissions.includes(permission);
  });
