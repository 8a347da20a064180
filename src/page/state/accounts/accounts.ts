import { type Signal, signal } from '@preact/signals';
import type { Desk } from '../app.ts';
import { JudgeRecords } from '../judge/judge-records.ts';
import { RuleBoard } from '../rules/rule-board.ts';
import { AuditPages } from './audit-pages.ts';
import { IdentityBoard } from './identity-board.ts';
import { OwnTokens } from './own-tokens.ts';
import { PolicyBoard } from './policy-board.ts';
import { RoleBoard } from './role-board.ts';
import type { Section } from './sections.ts';
import { SettingsBoard } from './settings-board.ts';
import { UserBoard } from './user-board.ts';

/** What the account view shows. Nothing is read until it is shown. */
export interface Accounts {
  /** The chosen section. Without the right to see it, the first one is shown. */
  section: Signal<Section>;
  tokens: OwnTokens;
  users: UserBoard;
  identities: IdentityBoard;
  roles: RoleBoard;
  rules: RuleBoard;
  policies: PolicyBoard;
  judge: JudgeRecords;
  audit: AuditPages;
  settings: SettingsBoard;
}

const opened = new WeakMap<Desk, Accounts>();

/** Those of a desk, made when the account view is first shown: its code is not loaded before. */
export function accountsOf(desk: Desk): Accounts {
  const accounts = opened.get(desk) ?? createAccounts(desk);
  opened.set(desk, accounts);
  return accounts;
}

const createAccounts = ({ client, now, who }: Desk): Accounts => ({
  section: signal('own'),
  tokens: new OwnTokens({ client, who: () => who.peek() }),
  users: new UserBoard(client),
  identities: new IdentityBoard(client),
  roles: new RoleBoard(client),
  rules: new RuleBoard({ client, now }),
  policies: new PolicyBoard(client),
  judge: new JudgeRecords({ client, now }),
  audit: new AuditPages(client),
  settings: new SettingsBoard(client),
});
