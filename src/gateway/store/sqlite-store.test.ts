import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { GatewayError } from '../../../protocol/errors.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempStore } from '../../testing/temp-store.ts';
import type { SqliteStore } from './sqlite-store.ts';
import { storeContract } from './store.contract.ts';

storeContract('sqlite', tempStore);
storeContract('sqlite, always synced', () => tempStore({ durability: 'full' }));

const info = (message: string): StreamEvent => ({ type: 'info', message });

test('units of one turn are one group, units of the next turn another', async () => {
  await using store = await tempStore();
  const groups: number[] = [];
  store.onCommitted((appended) => {
    groups.push([...appended.values()].flat().length);
  });
  await Promise.all(['1', '2', '3'].map((n) => store.commit({ events: { wsId: n, events: [info(n)] } })));
  await store.commit({ events: { wsId: '1', events: [info('4')] } });
  assert.deepEqual(groups, [3, 1]);
});

test('the database that callers get cannot write outside the group', async () => {
  await using store = await tempStore();
  await assert.rejects(
    store.db.insertInto('meta').values({ key: 'k', value: 'v' }).execute(),
    /only reads; commit a unit instead/,
  );
  await assert.rejects(
    store.db.transaction().execute(() => Promise.resolve()),
    /only reads/,
  );
});

test('rows are not streamed, because a stream would block all other reads', async () => {
  await using store = await tempStore();
  await assert.rejects(store.db.selectFrom('meta').selectAll().stream().next(), /read page by page instead/);
});

test('a full disk fails the whole group as unavailable, and its offsets are used again', async () => {
  const log = recordingLog();
  const clock = fakeClock(1_000);
  await using store = await tempStore({ log, clock });
  await store.commit({ events: { wsId: 'a', events: [info('1')] } });
  await allowMorePages(store, 2);
  const outcomes = await Promise.allSettled([
    store.commit({ events: { wsId: 'a', events: [info('2')] } }),
    store.commit({ events: { wsId: 'a', events: [info('x'.repeat(100_000))] } }),
  ]);
  await allowMorePages(store, 1_000);
  const offset = await store.commit({ events: { wsId: 'a', events: [info('3')] } });
  const health = store.health(); // one small group does not prove that there is room
  await clock.advance(1_000);
  assert.deepEqual(
    {
      outcomes: outcomes.map(toError),
      offset,
      health,
      later: store.health(),
      stored: await store.readEvents('a', 0, 9),
    },
    {
      outcomes: [UNAVAILABLE, UNAVAILABLE],
      health: { status: 'degraded', reason: 'database or disk is full' },
      offset: 2,
      later: { status: 'ok' },
      stored: ['1', '3'].map((message, index) => ({ offset: index + 1, json: JSON.stringify(info(message)) })),
    },
  );
  const ofDisk = log.lines.filter(([, message]) => message.includes('disk'));
  assert.deepEqual(ofDisk, [
    ['error', 'cannot write to the disk'],
    ['info', 'the disk can be written again'],
  ]);
});

test('an idle store notices that the disk can be written again', async () => {
  const clock = fakeClock();
  await using store = await tempStore({ clock });
  await allowMorePages(store, 2);
  await assert.rejects(store.commit({ events: { wsId: 'a', events: [info('x'.repeat(100_000))] } }));
  await clock.advance(5_000);
  const before = store.health().status;
  await allowMorePages(store, 1_000);
  await clock.advance(1_000);
  assert.deepEqual({ before, after: store.health() }, { before: 'degraded', after: { status: 'ok' } });
});

test('a closed store has written earlier commits and refuses later ones', async () => {
  await using store = await tempStore();
  const heard: string[] = [];
  store.onCommitted((appended) => {
    heard.push(...appended.keys());
  });
  const before = store.commit({ events: { wsId: 'a', events: [info('1')] } });
  const closed = store.close();
  const [outcome] = await Promise.allSettled([store.commit({})]);
  await closed;
  await store.close();
  assert.deepEqual(
    { offset: await before, heard, refused: toError(outcome) },
    {
      offset: 1,
      heard: ['a'],
      refused: { ...UNAVAILABLE, message: 'The store is closed' },
    },
  );
});

test('removing the beginning of a log moves its first offset, not its last', async () => {
  await using store = await tempStore();
  await store.commit({ events: { wsId: 'a', events: ['1', '2', '3'].map(info) } });
  await store.dropPrefix('a', 2);
  const offset = await store.commit({ events: { wsId: 'a', events: [info('4')] } });
  assert.deepEqual({ offset, bounds: store.bounds('a') }, { offset: 4, bounds: { first: 3, last: 4 } });
});

test('every table of the schema exists with its columns', async () => {
  await using store = await tempStore();
  const tables = await sql<{ name: string }>`select name from sqlite_schema where type = 'table' order by name`.execute(
    store.db,
  );
  assert.deepEqual(
    tables.rows.map((row) => row.name),
    [
      'api_tokens',
      'applied_templates',
      'approvals',
      'attachments',
      'audit',
      'background_commands',
      'budget_grants',
      'channel_accounts',
      'channel_chats',
      'channel_chunks',
      'channel_inbox',
      'channel_senders',
      'checkpoints',
      'chosen_skills',
      'coordinators',
      'cron_attempts',
      'cron_jobs',
      'cron_occurrences',
      'cuts',
      'events',
      'file_changes',
      'idempotency',
      'instruction_trust',
      'invocations',
      'journal',
      'log_heads',
      'login_codes',
      'login_sessions',
      'main_events',
      'mcp_clients',
      'mcp_consent_requests',
      'mcp_consents',
      'mcp_pending_consents',
      'memories',
      'memory_heads',
      'memory_heads_config',
      'memory_heads_content',
      'memory_heads_data',
      'memory_heads_docsize',
      'memory_heads_idx',
      'memory_words',
      'memory_words_config',
      'memory_words_content',
      'memory_words_data',
      'memory_words_docsize',
      'memory_words_idx',
      'message_words',
      'message_words_config',
      'message_words_content',
      'message_words_data',
      'message_words_docsize',
      'message_words_idx',
      'messages',
      'meta',
      'nodes',
      'notes',
      'oidc_identities',
      'opening_prompts',
      'orgs',
      'outbox',
      'output_assessments',
      'prefixes',
      'prompt_templates',
      'push_subscriptions',
      'quarantined_memories',
      'recalled_workstreams',
      'reservations',
      'role_assignments',
      'roles',
      'rules',
      'runs',
      'secrets',
      'skill_resources',
      'skill_versions',
      'skills',
      'store_keys',
      'sub_agent_messages',
      'sub_agents',
      'tool_policies',
      'usage',
      'users',
      'verdicts',
      'watches',
      'workdirs',
      'workstream_budgets',
      'workstreams',
      'ws_template_versions',
      'ws_templates',
    ],
  );
});

test('queries of every start use an index, with bound values', async () => {
  await using store = await tempStore();
  const plans = await Promise.all(
    [
      sql`select * from runs where status in (${'queued'}, ${'running'})`,
      sql`select * from approvals where status = ${'pending'}`,
      sql`select * from workstreams where loaded = ${1}`,
      sql`delete from idempotency where expires_ms < ${1}`,
    ].map((query) => sql<{ detail: string }>`explain query plan ${query}`.execute(store.db)),
  );
  assert.deepEqual(
    plans.map(({ rows }) => rows.map((row) => row.detail).join()),
    [
      'SEARCH runs USING INDEX runs_by_status (status=?)',
      'SEARCH approvals USING INDEX approvals_by_status (status=?)',
      'SEARCH workstreams USING INDEX workstreams_by_loaded (loaded=?)',
      'SEARCH idempotency USING INDEX idempotency_by_expiry (expires_ms<?)',
    ],
  );
});

test('lists of any length are read in their order from an index, without sorting', async () => {
  await using store = await tempStore();
  const newest = 'order by updated_ms desc limit 50';
  const plans = await Promise.all(
    [
      `select * from workstreams where loaded = 2 and updated_ms >= 0 and true ${newest}`,
      `select * from workstreams where loaded = 2 and updated_ms >= 0 and visibility = 'shared' ${newest}`,
      `select count(*) from workstreams where loaded = 2 and visibility = 'shared'`,
      `select * from workstreams where loaded != 3 and updated_ms <= 9 ${newest}`,
      `select seq, body_json from audit where action = 'a' order by seq desc limit 50`,
      `select seq, body_json from audit where +at_ms >= 1 and seq > 1 and seq <= 9 order by seq desc limit 50`,
    ].map((query) => sql<{ detail: string }>`explain query plan ${sql.raw(query)}`.execute(store.db)),
  );
  assert.deepEqual(
    plans.map(({ rows }) => rows.map((row) => row.detail).join()),
    [
      'SEARCH workstreams USING INDEX workstreams_by_loaded (loaded=? AND updated_ms>?)',
      'SEARCH workstreams USING INDEX workstreams_by_loaded (loaded=? AND updated_ms>?)',
      'SEARCH workstreams USING COVERING INDEX workstreams_by_loaded (loaded=?)',
      'SEARCH workstreams USING INDEX workstreams_by_update (updated_ms<?)',
      'SEARCH audit USING INDEX audit_by_action (action=?)',
      'SEARCH audit USING INDEX sqlite_autoindex_audit_1 (seq>? AND seq<?)',
    ],
  );
});

const UNAVAILABLE = { code: 'UNAVAILABLE', message: 'Cannot write to the disk', retryAfterMs: 1_000 };

function toError(outcome: PromiseSettledResult<number>): object | number {
  if (outcome.status === 'fulfilled') return outcome.value;
  const { code, message, retryAfterMs }: GatewayError = outcome.reason;
  return { code, message, retryAfterMs };
}

/** Simulates a disk with this many free pages. */
async function allowMorePages(store: SqliteStore, pages: number): Promise<void> {
  const count = await sql<{ page_count: number }>`pragma page_count`.execute(store.db);
  await sql.raw(`pragma max_page_count = ${Number(count.rows[0]?.page_count) + pages}`).execute(store.db);
}
