import { DECIDING, type Permission } from '../../../../protocol/methods/accounts/permissions.ts';

/** The parts of the account view: the person's own account, and the administration. */
export type Section = 'own' | 'rules' | 'users' | 'roles' | 'policies' | 'judge' | 'settings' | 'audit';

interface SectionRow {
  title: string;
  /** Holders of one of these see it; undefined: everybody. */
  permissions: readonly Permission[] | undefined;
}

export const SECTIONS: Record<Section, SectionRow> = {
  own: { title: 'My account', permissions: undefined },
  rules: { title: 'Rules', permissions: DECIDING },
  users: { title: 'Users', permissions: ['admin.users'] },
  roles: { title: 'Roles', permissions: ['admin.roles'] },
  policies: { title: 'Tool policies', permissions: ['admin.policies'] },
  judge: { title: 'Judge', permissions: ['admin.judge'] },
  settings: { title: 'Settings', permissions: ['admin.settings'] },
  audit: { title: 'Audit trail', permissions: ['admin.audit'] },
};

const ALL: readonly Section[] = ['own', 'rules', 'users', 'roles', 'policies', 'judge', 'settings', 'audit'];

/** The sections that a person with these permissions sees. */
export const sectionsFor = (permissions: readonly string[]): Section[] =>
  ALL.filter((section) => {
    const { permissions: needed } = SECTIONS[section];
    return needed === undefined || needed.some((one) => permissions.includes(one));
  });
