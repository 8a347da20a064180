import { type Signal, signal } from '@preact/signals';
import { JudgeRecords } from '../judge/judge-records.ts';
import { MemoryBoard } from '../memories/memory-board.ts';
import type { Reader } from '../reading/reading.ts';
import { RuleBoard } from '../rules/rule-board.ts';
import { AuditPages } from './audit-pages.ts';
import { IdentityBoard } from './identity-board.ts';
import { OwnTokens } from './own-tokens.ts';
import { Owners } from './owners.ts';
import { PolicyBoard } from './policy-board.ts';
import { RoleBoard } from './role-board.ts';
import type { Section } from './sections.ts';
import { SettingsBoard } from './settings-board.ts';
import { UserBoard } from './user-board.ts';
import type { Who } from './who.ts';

/** People, and what the account view shows. Nothing is read until it is shown. */
export interface Accounts {
  /** The chosen section. Without the right to see it, the first one is shown. */
  section: Signal<Section>;
  tokens: OwnTokens;
  users: UserBoard;
  identities: IdentityBoard;
  roles: RoleBoard;
  rules: RuleBoard;
  memories: MemoryBoard;
  policies: PolicyBoard;
  judge: JudgeRecords;
  audit: AuditPages;
  settings: SettingsBoard;
  owners: Owners;
}

interface Port {
  client: Reader;
  now(): number;
  who(): Who | undefined;
}

export const createAccounts = ({ client, now, who }: Port): Accounts => ({
  section: signal('own'),
  tokens: new OwnTokens({ client, who }),
  users: new UserBoard(client),
  identities: new IdentityBoard(client),
  roles: new RoleBoard(client),
  rules: new RuleBoard({ client, now }),
  memories: new MemoryBoard(client),
  policies: new PolicyBoard(client),
  judge: new JudgeRecords({ client, now }),
  audit: new AuditPages(client),
  settings: new SettingsBoard(client),
  owners: new Owners(client),
});
