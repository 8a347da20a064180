import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, fail, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();
const here = { HEADGATE_HOME: daemon.home, TZ: 'Europe/Berlin' };
const cron = (...args: string[]) => runHeadgate(['cron', ...args], here);
const jsonOf = async (...args: string[]) => {
  const { code, stdout, stderr } = await cron(...args, '--json');
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
};

test('a job is added, shown, changed, run, explained and removed, and its history is listed', async () => {
  model.when('sum up the news', say('Nothing new.'));
  const empty = await cron('list');
  assert.deepEqual([empty.code, empty.stdout], [0, '']);
  assert.match(empty.stderr, /Nothing is scheduled\. For example: headgate cron add/);

  const added = await cron('add', '0 9 * * 1-5', 'sum up the news', '--name', 'news');
  const id = added.stdout.trim();
  assert.equal(added.code, 0);
  assert.match(id, /^\S+$/, 'the id alone, for scripts');
  assert.match(added.stderr, /^Added "news"; next run: \w{3} \d{4}-\d\d-\d\d 09:00 \(in \d+ (s|min|h|days)\)\.\n$/);

  const { stdout: table } = await cron('list');
  assert.match(table, /^NAME +SCHEDULE +NEXT RUN +STATUS +LAST RUN +ID$/m);
  assert.match(
    table,
    /^news +at 09:00, Monday through Friday \(Europe\/Berlin\) +\w{3} \d{4}-\d\d-\d\d 09:00 \(in .*\) +- +never +/m,
  );

  assert.equal((await cron('edit', 'news', '--tz', 'Asia/Tokyo', '--thinking', 'low', '--misfire', 'all=20')).code, 0);
  const { stdout: shown } = await cron('show', 'news');
  assert.match(shown, /^Misfire +all=20\n(?:.*\n)+Thinking +low\n(?:.*\n)+\nsum up the news\n$/m);
  const [job] = await jsonOf('list');
  assert.partialDeepStrictEqual(job, {
    ...{ id, name: 'news', enabled: true, schedule: { kind: 'cron', expr: '0 9 * * 1-5', tz: 'Asia/Tokyo' } },
    payload: { kind: 'agentTurn', message: 'sum up the news', thinking: 'low' },
    misfire: { all: 20 },
  });
  assert.deepEqual(await jsonOf('show', 'news'), job);

  const run = await cron('run', id.slice(0, 8));
  assert.deepEqual([run.code, run.stdout, run.stderr], [0, 'Nothing new.\n', 'ok\n']);
  assert.match((await cron('runs', 'news')).stdout, /^\w{3} \d.* ok +\w{3} \d.* \[by hand\] Nothing new\.$/m);
  const [entry] = await jsonOf('runs', 'news', '--limit', '1');
  assert.partialDeepStrictEqual(entry, { jobId: id, status: 'ok', trigger: 'forced', sessionKey: `cron:${id}` });

  const explained = await cron('explain', 'news');
  assert.match(explained.stdout, /, scheduled: It will run at that time\.$/m);
  assert.match(
    explained.stderr,
    /^After that: \w{3} \d{4}-\d\d-\d\d \d\d:00\.\n$/,
    'the time of the run after that is shown',
  );
  assert.match((await cron('explain', 'news', '2031-01-01 00:30')).stdout, /^Wed 2031-01-01 00:30, not-scheduled: /);

  const removed = `Removed "news". Its history is kept for a while: headgate cron runs ${id}\n`;
  assert.deepEqual((await cron('rm', 'news')).stderr, removed);
  assert.deepEqual(await jsonOf('list'), []);
  const left = await cron('runs', id);
  assert.match(left.stdout, / ok +\w{3} \d.* \[by hand\] Nothing new\.$/m);
  assert.deepEqual([left.code, left.stderr], [0, 'This job was removed. Its runs:\n']);
  assert.deepEqual((await jsonOf('runs', id)).length, 1);
  assert.equal((await cron('runs', 'news')).code, 1, 'the name of a removed job is unknown');
});

test('a failed run exits with 1 and the reason; a run that is not due is not a failure', async () => {
  model.when('lose the way', fail(400, { message: 'no such model' }));
  await cron('add', 'every 2h', 'lose the way', '--name', 'lost');
  const failed = await cron('run', 'lost');
  assert.deepEqual([failed.code, failed.stdout], [1, '']);
  assert.match(failed.stderr, /^error: .*no such model/);
  const early = await cron('run', 'lost', '--due');
  assert.deepEqual([early.code, early.stderr], [0, 'It is not due.\n']);
  const status = await runHeadgate(['status'], here);
  assert.match(status.stdout, /^Schedule 1 job, the next "lost" \w{3} \d.* \(in [12] h\)$/m);
  assert.match(status.stdout, /^! job "lost" failed: .*no such model/m);
  const { schedule } = JSON.parse((await runHeadgate(['status', '--json'], here)).stdout);
  assert.partialDeepStrictEqual(schedule, { enabled: true, jobs: 1, failing: [{ name: 'lost' }] });
  await cron('rm', 'lost');
});

test('a due run reports its own result, not that of an earlier run; a run that will be retried counts as failed', async () => {
  await using still = await startDaemon({ env: { HEADGATE_SKIP_CRON: '1' } }); // its model refuses isolated jobs
  const on = (...args: string[]) => runHeadgate(['cron', ...args, '--home', still.home]);
  const runOnceDue = async (job: string) => {
    let ended = await on('run', job, '--due');
    while (ended.stderr === 'It is not due.\n') ended = await on('run', job, '--due');
    return ended;
  };
  await on('add', 'every 1s', 'do it', '--name', 'j', '--main', '--wake', 'next');
  assert.deepEqual((await on('run', 'j')).stdout, 'do it\n');
  await on('edit', 'j', '--isolated');
  const due = await runOnceDue('j');
  assert.deepEqual([due.code, due.stdout], [1, '']);
  assert.match(due.stderr, /^error: /);

  await on('add', 'in 1h', 'once', '--name', 'once', '--main');
  assert.equal((await on('run', 'once')).stderr, 'ok\nThis was a one-time job: no further runs.\n');
  await on('add', 'in 1s', 'at job', '--name', 'a');
  const first = await runOnceDue('a');
  assert.equal(first.code, 1);
  assert.match(first.stderr, /^error: .+\nNext attempt: \w{3} \d{4}-\d\d-\d\d \S+ \(in \d+ s\)\.\n$/);
  const { code, stdout } = await on('run', 'a', '--json');
  assert.equal(code, 1);
  assert.partialDeepStrictEqual(JSON.parse(stdout), { ran: true, run: { trigger: 'schedule', attempts: 2 } });
});

test('tools that a job allows run without approval', async () => {
  model.when(
    'count the lines',
    callTools({ name: 'bash', arguments: { command: 'echo 42 | tee counted' } }),
    say('There are 42.'),
  );
  await cron('add', 'every 1h', 'count the lines', '--name', 'count', '--approval', 'allow=bash');
  const { code, stdout } = await cron('run', 'count');
  assert.deepEqual([code, stdout], [0, 'There are 42.\n']);
  await cron('rm', 'count');
});

test('a schedule is previewed in its own zone and in local time', async () => {
  const { code, stdout, stderr } = await cron('preview', '30 12 25 12 * Asia/Tokyo', '--count', '2');
  const [head, first, ...rest] = stdout.trimEnd().split('\n');
  assert.deepEqual([code, head?.trim(), rest.length], [0, 'RUN                          IN Europe/Berlin', 1]);
  assert.match(first ?? '', /^\w{3} \d{4}-12-25 12:30 \+09:00 {2}\w{3} \d{4}-12-25 04:30 {2}in \d+ (s|min|h|days)$/);
  assert.match(stderr, /times in Asia\/Tokyo:\n$/);
  assert.equal((await jsonOf('preview', 'every 15m', '--count', '3')).runs.length, 3);
  const client = await daemon.client();
  const words = { schedule: '2031-07-01 18:00', count: 1 };
  const { schedule } = await client.call('cron.preview', { ...words, tz: 'Asia/Tokyo' });
  assert.deepEqual(
    schedule,
    { kind: 'at', atMs: Date.UTC(2031, 6, 1, 9) },
    'a schedule in words uses the time zone of the caller',
  );
  await assert.rejects(client.call('cron.preview', { ...words, tz: 'Mars/Olympus' }), { code: 'INVALID_REQUEST' });
});

test('the typed zone is shown for a one-time job too, and an hour that does not exist is reported', async () => {
  const preview = await cron('preview', 'at 2031-03-01 00:30 Asia/Tokyo');
  assert.match(preview.stdout, /^Sat 2031-03-01 00:30 \+09:00 {2}Fri 2031-02-28 16:30 /m);
  assert.match(preview.stderr, /times in Asia\/Tokyo:\n$/);
  const added = await cron('add', '2031-03-30 02:30', 'x', '--name', 'night', '--tz', 'Europe/London', '--disabled');
  assert.match(added.stderr, /^Added "night"; next run: off\.\n$/);
  const moved = await cron('edit', 'night', '--schedule', 'at 2031-03-30 01:30 Europe/London', '--enable');
  assert.match(moved.stderr, /^01:30 does not exist on 2031-03-30 in Europe\/London: .* to 02:00 \+01:00\.$/m);
  assert.match(
    moved.stderr,
    /next run: Sun 2031-03-30 03:00 \(in \d+ days\), in Europe\/London Sun 2031-03-30 02:00\.$/m,
  );
  await cron('rm', 'night');
});

test('giving a job a name that is already in use prints a warning, and the name no longer identifies a job', async () => {
  const first = (await cron('add', 'every 15m', 'x', '--name', 'twin')).stdout.trim();
  const added = await cron('add', 'every 15m', 'y', '--name', 'twin');
  const second = added.stdout.trim();
  assert.equal(added.code, 0);
  assert.ok(
    added.stderr.startsWith(`2 jobs are called "twin" (${first} or ${second}). Use the ids, or rename this one`),
    added.stderr,
  );
  const { code, stderr } = await cron('runs', 'twin');
  assert.equal(code, 2);
  assert.match(stderr, /2 jobs are called "twin" \(\S+ or \S+\)\. Use the id\./);
  assert.match((await cron('edit', second, '--name', 'other')).stderr, /^Changed "other"/);
  assert.match((await cron('edit', second, '--name', 'twin')).stderr, /^2 jobs are called "twin"/);
  for (const id of [first, second]) await cron('rm', id);
});

test('invalid arguments are reported before anything changes', async () => {
  const wrong: [args: string[], code: number, says: RegExp][] = [
    [['add', 'sometimes', 'x'], 2, /"sometimes" is not a schedule/],
    [['add', 'every 15m', 'x', '--approval', 'maybe'], 2, /--approval must be/],
    [['add', 'every 15m', ''], 2, /^headgate: <message>: must not be empty\.$/m],
    [['add', 'every 15m', 'x', '--approval', 'allow=bsh'], 2, /--approval allow: unknown tool "bsh"; available: bash/],
    [['add', 'every 15m', 'x', '--max-run', '30d'], 2, /--max-run: must be at most 1 week\./],
    [['add', 'every 15m'], 2, /missing required argument 'message'/],
    [['runs', 'nobody'], 1, /Unknown job "nobody"/],
    [['runs', 'nobody', '--limit', '0'], 2, /--limit must be a number from 1/],
    [['preview', '0 25 * * *'], 2, /"0 25 \* \* \*" cannot be read: invalid hour "25"/],
    [['explain', 'nobody', 'yesterday'], 2, /The time: "yesterday" is not a time: write it like/],
  ];
  for (const [args, code, says] of wrong) {
    const ended = await cron(...args);
    assert.deepEqual([ended.code, ended.stdout], [code, ''], args.join(' '));
    assert.match(ended.stderr, says);
  }
  assert.deepEqual(await jsonOf('list'), []);
});

test('without a daemon the command says so and exits with 3', async () => {
  const { code, stderr } = await runHeadgate(['cron', 'list', '--home', '/nowhere']);
  assert.deepEqual([code, stderr.includes('No daemon is running in /nowhere')], [3, true]);
});
