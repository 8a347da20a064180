import { GatewayError } from '../../../protocol/errors.ts';
import { isRecord } from '../../../protocol/is-record.ts';
import type { Org } from '../../../protocol/methods/accounts/org.ts';
import type { Clock } from '../../clock.ts';
import type { OrgTable } from '../store/schema/user-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';

const ORG_ID = 'default';

interface OrgDeps {
  store: Pick<Store, 'db' | 'commit'>;
  clock: Pick<Clock, 'now'>;
}

interface OrgChange {
  displayName?: string | undefined;
  settings?: string | undefined;
}

/** The one organisation. It has a row from its first change on. */
export interface Orgs {
  read(): Promise<Org>;
  /** Throws NOT_FOUND for another id. */
  get(orgId: string): Promise<Org>;
  update(orgId: string, change: OrgChange, also: () => readonly Statement[]): Promise<Org>;
}

export function createOrgs({ store, clock }: OrgDeps): Orgs {
  const readRow = async (): Promise<OrgTable> =>
    (await store.db.selectFrom('orgs').selectAll().where('org_id', '=', ORG_ID).executeTakeFirst()) ?? UNCHANGED;
  const requireKnown = (orgId: string) => {
    if (orgId !== ORG_ID) throw new GatewayError('NOT_FOUND', 'Organization not found');
  };
  return {
    read: async () => toOrg(await readRow()),
    async get(orgId) {
      requireKnown(orgId);
      return toOrg(await readRow());
    },
    async update(orgId, { displayName, settings }, also) {
      requireKnown(orgId);
      if (settings !== undefined) checkSettings(settings);
      const before = await readRow();
      const nowMs = clock.now();
      const change = {
        display_name: displayName ?? before.display_name,
        settings: settings ?? before.settings,
        updated_ms: nowMs,
      };
      const insert = build.insertInto('orgs').values({ ...before, ...change, created_ms: before.created_ms || nowMs });
      const upsert = insert.onConflict((on) => on.column('org_id').doUpdateSet(change));
      await store.commit({ statements: [statementOf(upsert), ...also()], durable: true });
      return toOrg(await readRow());
    },
  };
}

const UNCHANGED: OrgTable = {
  org_id: ORG_ID,
  name: ORG_ID,
  display_name: 'Default',
  settings: '{}',
  created_ms: 0,
  updated_ms: 0,
};

function checkSettings(settings: string): void {
  try {
    if (isRecord(JSON.parse(settings))) return;
  } catch {
    // Not JSON: refused below.
  }
  throw new GatewayError('INVALID_REQUEST', 'settings must be valid JSON');
}

const toOrg = (row: OrgTable): Org => ({
  orgId: row.org_id,
  name: row.name,
  displayName: row.display_name,
  settings: row.settings,
  createdAtMs: row.created_ms,
  updatedAtMs: row.updated_ms,
});
