import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { POSTGRES_PASSWORD } from '../../src/testing/postgres-server.ts';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { postgresScene } from '../support/daemon/postgres-scene.ts';
import { within } from '../support/deadline.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const installed = await needs('postgresql');

const scene = postgresScene({ retrySecs: 1 });

/** Asks again and again until the daemon's answer is so. */
async function asked(isSo: () => Promise<boolean>): Promise<void> {
  const again = async (): Promise<void> => ((await isSo()) ? undefined : again());
  await within(again(), 60_000, () => 'the answer of the daemon');
}

/** What the conversation says, as a new reader of it gets it. */
async function speechOf({ client, wsId }: Conversation): Promise<string[]> {
  const { messages } = await client.call('workstream.history', { wsId });
  return messages.map(({ role, content }) => `${role}: ${content}`.trim());
}

test(
  'over PostgreSQL, a message that was answered `ok` survives a kill, and a half answer is asked for again',
  installed,
  async () => {
    const { daemon, model } = await scene();
    await using talk = await openConversation(daemon);
    model.when('in mid-answer', [say('half an ', 'answer'), stall()]);
    const question = await talk.ask('in mid-answer');
    question.answer.catch(() => undefined); // the connection will be lost
    await talk.until('content', ({ text }) => text.endsWith('answer'));
    await daemon.kill9();
    model.when('in mid-answer', say('the whole answer'));
    await daemon.restart();
    await talk.reconnect();
    await talk.ended(question);
    assert.deepEqual(await speechOf(talk), ['user: in mid-answer', 'assistant: the whole answer']);
    const offsets = talk.seen.map(({ offset }) => offset);
    assert.deepEqual(
      offsets,
      [...new Set(offsets)].sort((a, b) => a - b),
      'each event came once, in order',
    );
    assert.equal(existsSync(path.join(daemon.home, 'headgate.db')), false);
  },
);

test(
  'over PostgreSQL, a question of the agent survives a kill, and its answer takes effect once',
  installed,
  async () => {
    const { daemon, model } = await scene();
    await using talk = await openConversation(daemon);
    model.when(
      'count it',
      callTools({ name: 'bash', arguments: { command: 'echo one >> counted; cat counted' } }),
      say('done'),
    );
    const question = await talk.ask('count it');
    question.answer.catch(() => undefined); // the connection will be lost
    const { approval_id: approvalId } = await talk.until('approve_request');
    await daemon.kill9();
    await daemon.restart();
    await talk.reconnect();
    assert.deepEqual(
      (await talk.pending()).map(({ approvalId: id }) => id),
      [approvalId],
    );
    const decide = () =>
      talk.decide(approvalId, { approved: true }).then(
        () => 'decided',
        () => 'refused',
      );
    assert.deepEqual((await Promise.all([decide(), decide()])).sort(), ['decided', 'refused']);
    await talk.ended(question);
    assert.deepEqual(
      (await speechOf(talk)).slice(-2).map((line) => line.split('\n').at(-1)),
      ['tool: one', 'assistant: done'],
    );
  },
);

test('over PostgreSQL, a job runs, and its history is kept over a restart', installed, async () => {
  const { daemon, model } = await scene();
  const client = await daemon.client();
  model.when('water the plants', say('watered'));
  const { id } = await client.call('cron.add', {
    ...{ name: 'plants', schedule: { kind: 'every', everyMs: 7_200_000 }, sessionTarget: 'isolated' },
    ...{ wakeMode: 'next-heartbeat', payload: { kind: 'agentTurn', message: 'water the plants' } },
  });
  await client.call('cron.run', { id, mode: 'force' });
  const runs = async () =>
    (await (await daemon.client()).call('cron.runs', { id })).entries.map(({ status }) => status);
  await asked(async () => (await runs()).length > 0);
  await daemon.restart();
  assert.deepEqual(await runs(), ['ok']);
});

test(
  'a daemon whose PostgreSQL is killed says so, refuses what it cannot store, and recovers by itself',
  installed,
  async () => {
    const { daemon, model, server } = await scene();
    await using talk = await openConversation(daemon);
    model.when('while it is gone', [say('half'), stall()]);
    const question = await talk.ask('while it is gone');
    question.answer.catch(() => undefined); // it fails
    await talk.until('content');
    await server.kill();
    const store = async () => (await daemon.get('/health')).body.store;
    await asked(async () => (await store()).status === 'degraded');
    assert.match((await store()).reason, /^The database cannot be written: /);
    const refused = await daemon.post('/v1/api/send', { ws_id: talk.wsId, message: 'never' });
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1'], JSON.stringify(refused.body));
    await server.start();
    await asked(async () => (await store()).status === 'ok');
    await talk.client.call('workstream.cancel', { wsId: talk.wsId }); // the run from before, which still waits for the model
    model.when('and now', say('here again'));
    const next = await talk.ask('and now');
    await talk.ended(next);
    assert.deepEqual((await speechOf(talk)).slice(-2), ['user: and now', 'assistant: here again']);
    assert.ok(!(await speechOf(talk)).includes('user: never'));
  },
);

test(
  'a run, a call and a question wait while PostgreSQL restarts, and nothing of them is lost',
  installed,
  async () => {
    const { server, model } = await scene();
    const url = await server.createDatabase();
    await using daemon = await startDaemon({ model: model.url, config: { store: { url, retrySecs: 600 } } });
    await using talk = await openConversation(daemon);
    model.when(
      'through the restart',
      callTools({
        name: 'bash',
        arguments: { command: 'touch began; until test -e go; do sleep 0.05; done; echo went on' },
      }),
      callTools({ name: 'bash', arguments: { command: 'echo twice >> counted; cat counted' } }),
      say('done'),
    );
    const question = await talk.ask('through the restart');
    const first = await talk.until('approve_request');
    await talk.decide(first.approval_id, { approved: true });
    const file = (name: string) => path.join(daemon.home, 'workspace', name);
    await asked(async () => existsSync(file('began')));
    await server.kill();
    await asked(async () => (await daemon.get('/health')).body.store.status === 'degraded');
    await writeFile(file('go'), ''); // the command ends, and its result cannot be stored
    const renaming = talk.client.call('workstream.update', { wsId: talk.wsId, name: 'in between' });
    await server.start();
    await renaming;
    const second = await talk.until('approve_request', ({ approval_id: id }) => id !== first.approval_id);
    await talk.decide(second.approval_id, { approved: true });
    await talk.ended(question);
    assert.deepEqual(
      (await speechOf(talk)).map((line) => line.split('\n').at(-1)),
      [
        'user: through the restart',
        'assistant: null',
        'tool: went on',
        'assistant: null',
        'tool: twice',
        'assistant: done',
      ],
    );
    assert.ok(JSON.stringify(await talk.client.call('workstream.list', {})).includes('in between'));
  },
);

test('a second daemon on the same database is refused in words', installed, async () => {
  const { url } = await scene();
  await assert.rejects(startDaemon({ config: { store: { url } } }), {
    message:
      /ended with 1: .*Another Headgate daemon \(\S+ at http:\S+\) is using postgresql:\/\/127\.0\.0\.1:\d+\/test_1\. Stop it first/s,
  });
});

test(
  'the password of the database is in no output, and a client cannot choose another database',
  installed,
  async () => {
    const { daemon, url } = await scene();
    const client = await daemon.client();
    const config = await client.call('config.get', {});
    assert.match(JSON.stringify(config.parsed), /<secret:store\.url>/);
    const { port, pathname } = new URL(url);
    const other = JSON.stringify({ store: { url: `postgresql://127.0.0.1:${port}${pathname}` } });
    await assert.rejects(client.call('config.patch', { raw: other, baseHash: config.hash }), {
      message: /store\.url: can be changed only in config\.json itself/,
    });
    const outputs = [config, await client.call('status', {}), (await daemon.get('/health')).body, daemon.output()];
    for (const unreachable of [url.replace(port, '1'), url.replace('headgate:', 'nobody:'), `${url}-other`]) {
      const failed = await startDaemon({ env: { HEADGATE_STORE_URL: unreachable } }).then(
        () => assert.fail('it started'),
        String,
      );
      assert.match(failed, /ended with 1: .*postgresql:\/\/127\.0\.0\.1:\d+\/test_1.* cannot be reached: /s);
      outputs.push(failed);
    }
    const checked = await runHeadgate(['doctor', '--home', daemon.home], {
      HEADGATE_STORE_URL: url.replace(port, '1'),
    });
    const backup = await runHeadgate(['backup', '--home', daemon.home]);
    assert.match(backup.stderr, /The data is in the PostgreSQL database of store\.url\. Back it up with pg_dump/);
    outputs.push(checked, backup);
    const told = JSON.stringify(outputs);
    for (const form of [POSTGRES_PASSWORD, encodeURIComponent(POSTGRES_PASSWORD)]) assert.ok(!told.includes(form));
  },
);

test(
  'doctor connects to the database of a stopped daemon, and reports one that cannot be reached',
  installed,
  async () => {
    const { server } = await scene();
    await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-store-'));
    const url = await server.createDatabase();
    const check = async (HEADGATE_STORE_URL: string) => {
      const { stdout } = await runHeadgate(['doctor', '--json', '--home', folder.path], { HEADGATE_STORE_URL });
      const { findings }: { findings: { name: string; level: string; text: string }[] } = JSON.parse(stdout);
      return findings.flatMap(({ name, level, text }) => (name === 'database' ? [`${level}: ${text}`] : []));
    };
    assert.match(String(await check(url)), /^ok: PostgreSQL \d+\S*.* at postgresql:\/\/127\.0\.0\.1:\d+\/test_\d+$/);
    assert.match(
      String(await check(`${url}-other`)),
      /^problem: postgresql:\S+ cannot be reached: database "\S+" does not exist$/,
    );
  },
);

test(
  'over PostgreSQL, memories and messages are found by their words, without case and diacritics',
  installed,
  async () => {
    const { daemon, model } = await scene();
    await using talk = await openConversation(daemon);
    const { client, wsId } = talk;
    model.when('Crème brûlée', say('It needs 8 eggs: see cooks@example.org.'));
    await talk.ended(await talk.ask('How is Crème brûlée made? 深色の焼き'));
    const find = async (query: string, limit = 5) => {
      const { messages } = await client.call('workstream.find', { query, limit });
      return messages.filter((found) => found.wsId === wsId).map(({ role, excerpt }) => `${role}: ${excerpt}`);
    };
    const [asked, answered] = [
      'user: How is Crème brûlée made? 深色の焼き',
      'assistant: It needs 8 eggs: see cooks@example.org.',
    ];
    assert.deepEqual(
      await Promise.all(
        ['creme BRULEE', 'brûl', '深色', '色深', 'cooks example', 'egg', "eggs' | 'x", 'x & y', 'made eggs'].map(
          (query) => find(query),
        ),
      ),
      [[asked], [asked], [asked], [], [answered], [answered], [], [], []],
    );
    await client.call('memory.save', { name: 'dessert', content: 'Zürich likes the brûlée warm.' });
    const memories = async (query: string) =>
      (await client.call('memory.search', { query })).memories.map(({ name }) => name);
    assert.deepEqual(await Promise.all(['zurich WARM', 'warm cold', 'dess'].map(memories)), [
      ['dessert'],
      [],
      ['dessert'],
    ]);
    await daemon.restart();
    await talk.reconnect();
    assert.deepEqual([await memories('brulee'), await find('eggs')], [['dessert'], [answered]]);
    await client.call('workstream.rewind', { wsId, turns: 1 });
    assert.deepEqual(await find('eggs'), [], 'what was taken back is not found');
  },
);
