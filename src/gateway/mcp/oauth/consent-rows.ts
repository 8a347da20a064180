import { sql } from 'kysely';
import type { ConsentRequestTable, ConsentTable } from '../../store/schema/consents/consent-schema.ts';
import { build, statementOf } from '../../store/statements.ts';
import type { Statement, Store } from '../../store/store.ts';

type Db = Pick<Store, 'db'>;

/** Names the account of a user at a server. Names of servers contain no slash. */
export const consentIdOf = (server: string, user: string): string => `${user}/${server}`;

export const findConsent = ({ db }: Db, consentId: string): Promise<ConsentTable | undefined> =>
  db.selectFrom('mcp_consents').selectAll().where('consent_id', '=', consentId).executeTakeFirst();

export const listConsents = ({ db }: Db, { user, server }: Whose): Promise<ConsentTable[]> =>
  db
    .selectFrom('mcp_consents')
    .selectAll()
    .where(({ and, eb }) =>
      and([
        ...(user === undefined ? [] : [eb('user_id', '=', user)]),
        ...(server === undefined ? [] : [eb('server', '=', server)]),
      ]),
    )
    .orderBy('consent_id')
    .execute();

/**
 * Stores an account in place of the one before. Refused when the user is gone or disabled meanwhile.
 */
export function putConsent(row: ConsentTable): Statement {
  const columns = Object.keys(row);
  const isUser = row.user_id === '' ? 'true' : 'exists (select 1 from users where user_id = ? and disabled = 0)';
  return {
    sql: `insert into mcp_consents (${columns.join(', ')}) select ${columns.map(() => '?').join(', ')} where ${isUser}
      on conflict (consent_id) do update set scopes = excluded.scopes, sealed = excluded.sealed,
        version = mcp_consents.version + 1, expires_ms = excluded.expires_ms, created_ms = excluded.created_ms,
        updated_ms = excluded.updated_ms`,
    parameters: [...Object.values(row), ...(row.user_id === '' ? [] : [row.user_id])],
    expect: 1,
  };
}

/** Stores renewed tokens. Refused when the account is another one now, or gone. */
export const renewConsent = (
  { consent_id: consentId, version, created_ms: createdMs }: ConsentTable,
  change: Pick<ConsentTable, 'sealed' | 'scopes' | 'expires_ms' | 'updated_ms'>,
): Statement =>
  statementOf(
    build
      .updateTable('mcp_consents')
      .set({ ...change, version: version + 1 })
      .where('consent_id', '=', consentId)
      .where('version', '=', version)
      .where('created_ms', '=', createdMs),
    1,
  );

/** Deletes an account, unless it is another one by now. */
export const deleteConsent = ({
  consent_id: consentId,
  version,
  created_ms: createdMs,
}: Pick<ConsentTable, 'consent_id' | 'version' | 'created_ms'>): Statement =>
  statementOf(
    build
      .deleteFrom('mcp_consents')
      .where('consent_id', '=', consentId)
      .where('version', '=', version)
      .where('created_ms', '=', createdMs),
    1,
  );

/** Whose, and where; absent: anybody's, or anywhere. */
export interface Whose {
  user?: string | undefined;
  server?: string | undefined;
}

/** Everything of a user, of a server, or of a user at a server. */
export const deleteAll = ({ user, server }: Whose): Statement[] =>
  (['mcp_consents', 'mcp_consent_requests', 'mcp_pending_consents'] as const).map((table) =>
    statementOf(
      build
        .deleteFrom(table)
        .where(({ and, eb }) =>
          and([
            ...(user === undefined ? [] : [eb('user_id', '=', user)]),
            ...(server === undefined ? [] : [eb('server', '=', server)]),
          ]),
        ),
    ),
  );

/** Users of accounts and of what waits for them; the operator is none. */
export async function usersWithConsents({ db }: Db): Promise<string[]> {
  const { rows } = await sql<{ user_id: string }>`
    select user_id from mcp_consents union select user_id from mcp_consent_requests
    union select user_id from mcp_pending_consents`.execute(db);
  return rows.map(({ user_id }) => user_id).filter((user) => user !== '');
}

export const findRequest = ({ db }: Db, stateHash: string): Promise<ConsentRequestTable | undefined> =>
  db.selectFrom('mcp_consent_requests').selectAll().where('state_hash', '=', stateHash).executeTakeFirst();

const MOST_REQUESTS = 20;

/** Of a user, only so many are kept; the oldest and those that have expired go. */
export function putRequest(row: ConsentRequestTable): Statement[] {
  return [
    statementOf(build.deleteFrom('mcp_consent_requests').where('expires_ms', '<=', row.created_ms)),
    {
      sql: `delete from mcp_consent_requests where user_id = ? and state_hash not in (
        select state_hash from mcp_consent_requests where user_id = ? order by created_ms desc limit ?)`,
      parameters: [row.user_id, row.user_id, MOST_REQUESTS - 1],
    },
    statementOf(build.insertInto('mcp_consent_requests').values(row), 1),
  ];
}

/** In place of the hash of the browser: the request was used, and its code is being redeemed. */
const USED = '';

export const isUsed = ({ browser_hash: browserHash }: ConsentRequestTable): boolean => browserHash === USED;

/** Uses a request up. Refused for the second answer. */
export const takeRequest = (stateHash: string): Statement =>
  statementOf(
    build
      .updateTable('mcp_consent_requests')
      .set({ browser_hash: USED })
      .where('state_hash', '=', stateHash)
      .where('browser_hash', '<>', USED),
    1,
  );

/**
 * Ends a request that was used. Refused when everything of its server or user was deleted since, so an account that is stored
 * in the same unit is one of a server that is still the same.
 */
export const endRequest = (stateHash: string): Statement =>
  statementOf(build.deleteFrom('mcp_consent_requests').where('state_hash', '=', stateHash), 1);

export const findClient = async ({ db }: Db, server: string): Promise<string | undefined> =>
  (await db.selectFrom('mcp_clients').select('sealed').where('server', '=', server).executeTakeFirst())?.sealed;

export const putClient = (server: string, sealed: string, nowMs: number): Statement =>
  statementOf(
    build
      .insertInto('mcp_clients')
      .values({ server, sealed, created_ms: nowMs })
      .onConflict((on) => on.column('server').doUpdateSet({ sealed, created_ms: nowMs })),
  );

export const deleteClient = (server: string): Statement =>
  statementOf(build.deleteFrom('mcp_clients').where('server', '=', server));

interface Pending {
  user: string;
  server: string;
  code: string;
  scopes: readonly string[];
  nowMs: number;
}

/** In place of what waited at the server before. */
export const putPending = ({ user, server, code, scopes, nowMs }: Pending): Statement => {
  const text = scopes.join(' ');
  return statementOf(
    build
      .insertInto('mcp_pending_consents')
      .values({ user_id: user, server, code, scopes: text, created_ms: nowMs })
      .onConflict((on) => on.columns(['user_id', 'server']).doUpdateSet({ code, scopes: text })),
  );
};

/** Without a server, all of the user. */
export const deletePending = (user: string, server?: string): Statement => {
  const all = build.deleteFrom('mcp_pending_consents').where('user_id', '=', user);
  return statementOf(server === undefined ? all : all.where('server', '=', server));
};

export const listPending = ({ db }: Db, user: string) =>
  db.selectFrom('mcp_pending_consents').selectAll().where('user_id', '=', user).orderBy('created_ms').execute();

export const findPending = ({ db }: Db, user: string, server: string) =>
  db
    .selectFrom('mcp_pending_consents')
    .selectAll()
    .where('user_id', '=', user)
    .where('server', '=', server)
    .executeTakeFirst();
