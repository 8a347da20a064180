import { hash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { Store } from '../store/store.ts';
import { endWatchesOf } from '../watches/watch-rows.ts';
import { OPERATOR_ID } from './lineage.ts';

const FINGERPRINT_KEY = 'operator_token_sha256';

interface FormerOperatorDeps {
  store: Pick<Store, 'db' | 'commit'>;
  operatorToken: string;
  clock: Pick<Clock, 'now'>;
}

/**
 * Revokes the operator token of an earlier start if it has changed, with all its descendants. Returns a sentence for
 * the person who starts the daemon if something was revoked.
 */
export async function endFormerOperator({
  store,
  operatorToken,
  clock,
}: FormerOperatorDeps): Promise<string | undefined> {
  const { db } = store;
  const fingerprint = hash('sha256', operatorToken, 'hex');
  const known = await db.selectFrom('meta').select('value').where('key', '=', FINGERPRINT_KEY).executeTakeFirst();
  if (known?.value === fingerprint) return undefined;
  const remember = db
    .insertInto('meta')
    .values({ key: FINGERPRINT_KEY, value: fingerprint })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: fingerprint }))
    .compile();
  if (known === undefined) {
    await store.commit({ statements: [remember], durable: true });
    return undefined;
  }
  const revoked = { revoked_ms: clock.now() };
  const tokens = await standingTokens(db);
  const queries = [
    db.updateTable('api_tokens').set(revoked).where('parent_kind', '=', 'operator').where('revoked_ms', 'is', null),
    db.updateTable('login_sessions').set(revoked).where('parent_kind', '=', 'operator'),
    db.deleteFrom('login_codes').where('parent_kind', '=', 'operator'),
    db.deleteFrom('push_subscriptions').where('parent_kind', '=', 'operator'),
    db
      .updateTable('workstreams')
      .set({ always_by: null, always_until_ms: null, always_tools_json: null, always_mode: null })
      .where('always_by', '=', OPERATOR_ID),
  ];
  const watches = endWatchesOf(OPERATOR_ID, clock.now());
  await store.commit({
    statements: [...queries.map((query) => query.compile()), ...watches, remember],
    durable: true,
  });
  return `The operator token has changed. Everything created with the old one was revoked: API tokens (${tokens}), logins, login links, watches and auto-approve.`;
}

async function standingTokens(db: Store['db']): Promise<number> {
  const { count } = await db
    .selectFrom('api_tokens')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('revoked_ms', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}
