import type { OidcIdentity } from '../../../../protocol/methods/accounts/oidc-identity.ts';
import type { Clock } from '../../../clock.ts';
import { build, statementOf } from '../../store/statements.ts';
import type { Statement, Store } from '../../store/store.ts';
import { OIDC_GIVER } from '../../users/user-rows.ts';

interface IdentitiesDeps {
  store: Pick<Store, 'db' | 'commit'>;
  clock: Pick<Clock, 'now'>;
}

/** Which person at which provider is which user. */
export interface Identities {
  findUser(issuer: string, subject: string): Promise<string | undefined>;
  /** Oldest first. */
  list(userId: string): Promise<OidcIdentity[]>;
  /** Throws UnitRefused if the person is a user already (`key`), or the user does not exist (`rows`). */
  add(identity: { issuer: string; subject: string; userId: string }, also: readonly Statement[]): Promise<void>;
  /** The same in the unit that creates the user. */
  addition(identity: { issuer: string; subject: string; userId: string }): Statement;
  use(issuer: string, subject: string): Statement;
  /** A unit with it is refused if there is no such identity. */
  removal(identity: { issuer: string; subject: string }): Statement;
  /** The roles that a user has because of the provider. */
  givenRoles(userId: string): Promise<string[]>;
}

export function createIdentities({ store, clock }: IdentitiesDeps): Identities {
  /** A user that is deleted at the same moment must not leave an identity behind. */
  const addition: Identities['addition'] = ({ issuer, subject, userId }) => ({
    sql: `insert into oidc_identities (issuer, subject, user_id, created_ms, last_login_ms)
      select ?, ?, user_id, ?, null from users where user_id = ?`,
    parameters: [issuer, subject, clock.now(), userId],
    expect: 1,
  });

  return {
    async findUser(issuer, subject) {
      const found = store.db.selectFrom('oidc_identities').select('user_id');
      const row = await found.where('issuer', '=', issuer).where('subject', '=', subject).executeTakeFirst();
      return row?.user_id;
    },
    async list(userId) {
      const all = store.db.selectFrom('oidc_identities').selectAll().where('user_id', '=', userId);
      const rows = await all.orderBy('created_ms').orderBy('subject').execute();
      return rows.map(({ issuer, subject, user_id, created_ms, last_login_ms }) => ({
        issuer,
        subject,
        userId: user_id,
        createdAtMs: created_ms,
        lastLoginAtMs: last_login_ms,
      }));
    },
    async add(identity, also) {
      await store.commit({ statements: [addition(identity), ...also], durable: true });
    },
    addition,
    use(issuer, subject) {
      const used = build.updateTable('oidc_identities').set({ last_login_ms: clock.now() });
      // If the identity was removed meanwhile, the login must not start.
      return statementOf(used.where('issuer', '=', issuer).where('subject', '=', subject), 1);
    },
    removal({ issuer, subject }) {
      const gone = build.deleteFrom('oidc_identities').where('issuer', '=', issuer).where('subject', '=', subject);
      return statementOf(gone, 1);
    },
    async givenRoles(userId) {
      const given = store.db.selectFrom('role_assignments').select('role_id').where('user_id', '=', userId);
      const rows = await given.where('assigned_by', '=', OIDC_GIVER).execute();
      return rows.map(({ role_id }) => role_id);
    },
  };
}
