import assert from 'node:assert/strict';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import { needs } from '../../src/testing/needs.ts';
import {
  POSTGRES_PASSWORD,
  type PostgresServer,
  queryPostgres,
  startPostgres,
} from '../../src/testing/postgres-server.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { type DaemonUnderTest, runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { spawnHeadgate } from '../support/daemon/daemon-process.ts';
import { within } from '../support/deadline.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const installed = await needs('postgresql');

let started: Promise<PostgresServer> | undefined;
const server = (): Promise<PostgresServer> => {
  started ??= startPostgres();
  return started;
};

after(async () => (await started)?.close());

/** Lists and histories, as a client sees them. */
const WHOLE = [
  ...['approval.list', 'budget.list', 'channel.list', 'coordinator.list', 'cron.list', 'memory.list'],
  ...['memory.quarantine.list', 'node.list', 'policy.list', 'role.list', 'rule.list', 'skill.list', 'template.list'],
  ...['token.list', 'usage.get', 'user.list', 'verdict.list', 'watch.list', 'workstream.list', 'workstream.saved'],
  ...['sessions.list', 'schedule.list', 'wstemplate.list', 'assessment.list', 'org.list', 'push.list'],
];
const OF_WORKSTREAM = ['workstream.history', 'workstream.get', 'checkpoint.list', 'background.list', 'subagent.list'];

async function viewOf(client: GatewayClient, { wsIds, jobId }: { wsIds: string[]; jobId: string }): Promise<object> {
  const view: Record<string, unknown> = {};
  const ask = async (method: string, params: object) => {
    view[`${method} ${JSON.stringify(params)}`] = await client.call(method as never, params as never).catch(String);
  };
  for (const method of WHOLE) await ask(method, {});
  for (const wsId of wsIds) for (const method of OF_WORKSTREAM) await ask(method, { wsId });
  await ask('cron.runs', { id: jobId });
  await ask('memory.search', { query: 'GRÜßE' });
  await ask('workstream.find', { query: 'melons' });
  return JSON.parse(JSON.stringify(view, (key, value) => (VOLATILE.has(key) ? undefined : value)));
}

/** What a new process or the clock changes. */
const VOLATILE = new Set(['expiresAtMs', 'sinceMs', 'ts', 'path', 'usedMs', 'updatedAtMs', 'lastSeenMs']);

/** Two conversations, an open question, a job with a run, a memory, a user and a token. */
async function useIt(daemon: DaemonUnderTest, model: Awaited<ReturnType<typeof startScriptedModel>>) {
  const talk = await openConversation(daemon);
  const { client } = talk;
  model.when('about melons', say('Melons are ', 'large.'));
  await talk.ended(await talk.ask('about melons'));
  const other = await openConversation(daemon);
  model.when(
    'count it',
    callTools({ name: 'bash', arguments: { command: 'echo one >> counted; cat counted' } }),
    say('counted'),
  );
  const question = await other.ask('count it');
  question.answer.catch(() => undefined); // the daemon stops
  const { approval_id: approvalId } = await other.until('approve_request');
  await client.call('memory.save', { name: 'greeting', content: 'Say Grüße first.' });
  await client.call('user.create', { username: 'ada', displayName: 'Ada', password: 'a long password 1' });
  await client.call('token.create', { name: 'for a program', scope: 'read' });
  model.when('water the plants', say('watered'));
  const { id: jobId } = await client.call('cron.add', {
    ...{ name: 'plants', schedule: { kind: 'every', everyMs: 7_200_000 }, sessionTarget: 'isolated' },
    ...{ wakeMode: 'next-heartbeat', payload: { kind: 'agentTurn', message: 'water the plants' } },
  });
  await client.call('cron.run', { id: jobId, mode: 'force' });
  await asked(async () => (await client.call('cron.runs', { id: jobId })).entries.length > 0);
  const { cursor } = await client.call('workstream.get', { wsId: talk.wsId });
  const file = await attach(daemon, talk.wsId);
  const known = { wsIds: [talk.wsId, other.wsId], jobId };
  await talk[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
  return { known, approvalId, cursor, file, wsId: talk.wsId, other: other.wsId };
}

const FILE = 'a line of the file\n'.repeat(40_000);

/** Uploads a file, and returns its address. */
async function attach(daemon: DaemonUnderTest, wsId: string): Promise<string> {
  const form = new FormData();
  form.set('file', new File([FILE], 'lines.txt'));
  const place = `/v1/api/workstreams/${wsId}/attachments`;
  const { attachment_id: id } = await (await daemon.fetch(place, { method: 'POST', body: form })).json();
  return `${place}/${id}/content`;
}

/** Asks again and again until the answer is so. */
async function asked(isSo: () => Promise<boolean>): Promise<void> {
  const tooMany = (error: unknown): boolean => {
    if (String(error).includes('too many requests')) return false;
    throw error;
  };
  const again = async (): Promise<void> => ((await isSo().catch(tooMany)) ? undefined : again());
  await within(again(), 60_000, () => 'the awaited answer');
}

/** From now on, the copy stops at the workstreams, as if the server were very slow. */
const SLOW = `
  create function public.slow() returns trigger language plpgsql as $$ begin perform pg_sleep(600); return new; end $$;
  create function public.make_slow() returns event_trigger language plpgsql as $$ begin
    if to_regclass('headgate.workstreams') is not null and not exists (select 1 from pg_trigger where tgname = 'slow') then
      create trigger slow before insert on headgate.workstreams for each statement execute function public.slow();
    end if;
  end $$;
  create event trigger make_slow on ddl_command_end when tag in ('CREATE TABLE') execute function public.make_slow()`;
const FAST = `select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep';
  drop event trigger make_slow; drop trigger slow on headgate.workstreams`;

test(
  'a used home moves to PostgreSQL through a kill, serves the same there, and the same again back in a file',
  installed,
  async () => {
    const url = await (await server()).createDatabase();
    await using model = await startScriptedModel();
    await using daemon = await startDaemon({ model: model.url });
    const used = await useIt(daemon, model);
    const migrate = (from: string, to: string) =>
      ['store', 'migrate', '--from', from, '--to', to, '--home', daemon.home, '--json'] as const;
    const env = { HEADGATE_STORE_URL: url };
    const refused = await runHeadgate(migrate('sqlite', 'postgresql'), env);
    assert.match(refused.stderr, /^headgate: Another Headgate daemon is using .*home\. Stop it first/);
    await daemon.restart();
    const before = await viewOf(await daemon.client(), used.known);
    await daemon.stop();

    await queryPostgres(url, SLOW);
    const killed = await spawnHeadgate({ args: migrate('sqlite', 'postgresql'), env });
    const sleeping = `select 1 from pg_stat_activity where wait_event = 'PgSleep'`;
    await asked(async () => (await queryPostgres(url, sleeping)).length > 0);
    killed.kill('SIGKILL');
    await killed.exited;
    await queryPostgres(url, FAST);
    await assert.rejects(daemon.restart({ env }), {
      message: /postgresql:\/\/127\.0\.0\.1:\d+\/test_\d holds an unfinished copy of .*headgate\.db\. Run the same/s,
    });
    const copied = await runHeadgate(migrate('sqlite', 'postgresql'), env);
    assert.deepEqual([copied.code, copied.stderr.split(' ')[0]], [0, 'Copying'], copied.stderr);
    const { continued, damagedRows, tables, files } = JSON.parse(copied.stdout);
    assert.deepEqual([continued, damagedRows, files], [true, 0, { files: 1, bytes: FILE.length, missing: 0 }]);
    await rm(path.join(daemon.home, 'attachments'), { recursive: true });
    assert.match(tables.find(({ name }: { name: string }) => name === 'messages').sha256, /^[0-9a-f]{64}$/);

    await daemon.restart({ env });
    assert.deepEqual(await viewOf(await daemon.client(), used.known), before);
    assert.ok((await (await daemon.fetch(used.file)).text()) === FILE, 'the file is in the database');
    const reader = await daemon.client();
    const resumed = await reader.call('events.subscribe', { wsId: used.wsId, after: used.cursor });
    assert.equal(resumed.recovered, true, 'a client goes on with its cursor');
    assert.equal((await reader.call('audit.verify', {})).ok, true);
    await daemon.stop();

    const inTheWay = await runHeadgate(migrate('postgresql', 'sqlite'), env);
    assert.match(inTheWay.stderr, /^headgate: .*headgate\.db is not empty: it has rows in \w+\. /);
    for (const suffix of ['', '-wal', '-shm'])
      await rename(path.join(daemon.home, `headgate.db${suffix}`), path.join(daemon.home, `old.db${suffix}`)).catch(
        () => undefined,
      );
    const back = await runHeadgate(migrate('postgresql', 'sqlite'), env);
    assert.equal(back.code, 0, back.stderr);
    await daemon.restart({ env: {} });
    assert.deepEqual(await viewOf(await daemon.client(), used.known), before);
    assert.ok((await (await daemon.fetch(used.file)).text()) === FILE, 'the file is in the home again');
    assert.equal((await readdir(path.join(daemon.home, 'attachments'))).length, 1);
    const again = await daemon.client();
    assert.equal((await again.call('events.subscribe', { wsId: used.wsId, after: used.cursor })).recovered, true);
    await again.call('approval.resolve', { approvalId: used.approvalId, approved: true });
    await asked(async () =>
      JSON.stringify(await again.call('workstream.history', { wsId: used.other })).includes('"counted"'),
    );
    for (const { stdout, stderr } of [refused, copied, inTheWay, back, daemon.output()])
      for (const form of [POSTGRES_PASSWORD, encodeURIComponent(POSTGRES_PASSWORD)])
        assert.ok(!`${stdout}${stderr}`.includes(form));
  },
);

test('a copy that cannot begin says why, without the password', installed, async () => {
  const url = await (await server()).createDatabase();
  await using daemon = await startDaemon();
  await daemon.stop();
  const { port } = new URL(url);
  const secret = 'hidden-password';
  const attempts = [
    { to: 'sqlite', says: /^headgate: One of --from and --to must be sqlite/, code: 2 },
    {
      to: `mysql://u:${secret}@localhost/x`,
      says: /^headgate: --to must be sqlite, postgresql .* must be like postgresql:/,
      code: 2,
    },
    { to: 'postgresql', says: /^headgate: No PostgreSQL database is configured\. Set HEADGATE_STORE_URL/, code: 2 },
    {
      to: url.replace(port, '1'),
      says: /^headgate: postgresql:\/\/127\.0\.0\.1:1\/test_\d cannot be reached: /,
      code: 1,
    },
    { to: url.replace(/:[^:@]*@/, `:${secret}@`), says: /cannot be reached: password authentication failed/, code: 1 },
  ];
  for (const { to, says, code } of attempts) {
    const failed = await runHeadgate(['store', 'migrate', '--from', 'sqlite', '--to', to, '--home', daemon.home]);
    assert.match(failed.stderr, says);
    assert.deepEqual([failed.code, failed.stdout, failed.stderr.includes(secret)], [code, '', false]);
  }
  const tables = await queryPostgres(url, `select 1 from pg_namespace where nspname = 'headgate'`);
  assert.deepEqual(tables, []);
});

test('a copy of a store with a damaged page does not say that it would continue', installed, async () => {
  await using daemon = await startDaemon();
  await daemon.stop();
  const file = path.join(daemon.home, 'headgate.db');
  const { page, size } = pageOf(file, 'workstreams');
  const bytes = await readFile(file);
  await writeFile(file, bytes.fill(0xff, (page - 1) * size, page * size));
  const url = await (await server()).createDatabase();
  const moved = ['store', 'migrate', '--home', daemon.home, '--from', 'sqlite', '--to', url];
  const { code, stderr } = await runHeadgate(moved);
  assert.equal(code, 1);
  assert.match(stderr, /The copy cannot be completed, because a database is damaged: .* Restore a backup of it/);
});

/** The first page of a table in a SQLite file. */
function pageOf(file: string, table: string): { page: number; size: number } {
  using database = new DatabaseSync(file);
  const page = database.prepare('select rootpage from sqlite_schema where name = ?').get(table)?.rootpage;
  return { page: Number(page), size: Number(database.prepare('pragma page_size').get()?.page_size) };
}
