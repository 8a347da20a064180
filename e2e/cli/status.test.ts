import assert from 'node:assert/strict';
import { chmod, copyFile, mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openStranger } from '../support/clients/strangers.ts';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';

const demo = { HEADGATE_MODEL: 'demo' };

test('status shows the state of the daemon and the pending approvals', async (t) => {
  await using daemon = await startDaemon();
  const client = await daemon.client();
  const [main] = (await client.call('workstream.list', {})).workstreams;
  const requested = new Promise((resolve) => client.on('approval.requested', resolve));
  await client.call('workstream.send', { wsId: main?.wsId ?? '', message: 'run touch it' });
  await requested;
  await (await openStranger(t, daemon, 'den')).ask({ displayName: 'the den', commands: ['system.info'] });
  const { code, stdout } = await runHeadgate(['status'], { HEADGATE_HOME: daemon.home });
  assert.equal(code, 0);
  for (const row of [
    /^Running {2}http:.*pid \d+/m,
    /^Memory {3}\d+ MiB$/m,
    /^ {2}attention main/m,
    /^\? bash: touch it$/m,
    /^\? the den .* code \S+$/m,
  ])
    assert.match(stdout, row);
  const json = JSON.parse((await runHeadgate(['status', '--json'], { HEADGATE_HOME: daemon.home })).stdout);
  assert.deepEqual([json.running, json.pid, json.approvals.length, json.pairings.length], [true, daemon.pid, 1, 1]);
});

test('without a daemon status exits with 3, also as JSON', async () => {
  const { code, stdout } = await runHeadgate(['status', '--json', '--home', '/nowhere']);
  assert.deepEqual([code, JSON.parse(stdout).running], [3, false]);
  assert.equal((await runHeadgate(['status', '--home', '/nowhere'])).code, 3);
});

test('doctor reports no problem of a healthy daemon', async () => {
  await using daemon = await startDaemon();
  const { code, stdout, stderr } = await runHeadgate(['doctor', '--json', '--home', daemon.home], demo);
  const { ok, findings } = JSON.parse(stdout);
  assert.deepEqual([code, ok, stderr], [0, true, '']);
  const names = new Set(findings.map(({ name }: { name: string }) => name));
  for (const name of [
    'node',
    'config.json',
    'daemon',
    'home',
    'token',
    'login key',
    'audit key',
    'port',
    'model',
    'disk',
    'speed',
    'clock',
    'bash',
  ])
    assert.ok(names.has(name), name);
});

test('doctor lists problems and how to fix them, and changes nothing', async () => {
  await using daemon = await startDaemon();
  await daemon.kill9();
  const { home } = daemon;
  await writeFile(path.join(home, 'config.json'), '{ colour: 1, server: { port: 0 } }');
  await chmod(path.join(home, 'token'), 0o644);
  const secrets = JSON.parse(await readFile(path.join(home, 'secrets.json'), 'utf8'));
  const broken = { ...secrets, jwt_secret: 'ab'.repeat(16), audit_secret: 'ab'.repeat(32) };
  await writeFile(path.join(home, 'secrets.json'), JSON.stringify(broken));
  const before = await describe(home);
  const { code, stdout } = await runHeadgate(['doctor', '--home', home], demo);
  assert.equal(code, 1);
  for (const line of [
    /^✖ token {7}\S+\/token can be read by other users \(mode 644\)\n {14}→ chmod 600 /m,
    /^✖ login key {3}jwt_secret in \S+ has 16 bytes, and needs at least 32/m,
    /^! audit key {3}\S+\/audit-head.json was not signed with it/m,
    /^! config\.json .*"colour" is not a setting/m,
    /^! daemon {6}daemon\.json was left behind/m,
    /^✔ machine key/m,
    /^✔ database {4}intact; its daemon was killed/m,
  ])
    assert.match(stdout, line);
  assert.deepEqual(await describe(home), before);
});

test('doctor says that a restore was interrupted, and nothing about files that it has moved; a start completes it', async () => {
  await using daemon = await startDaemon();
  await daemon.stop();
  const { home } = daemon;
  await mkdir(path.join(home, '.restore-x'));
  await mkdir(path.join(home, 'before-restore-x'));
  for (const name of ['token', 'headgate-key']) {
    await copyFile(path.join(home, name), path.join(home, '.restore-x', name));
    await rename(path.join(home, name), path.join(home, 'before-restore-x', name));
  }
  const journal = { phase: 'placing', staged: '.restore-x', aside: 'before-restore-x' };
  await writeFile(path.join(home, 'restoring.json'), JSON.stringify(journal));
  const { code, stdout } = await runHeadgate(['doctor', '--home', home], demo);
  assert.equal(code, 1);
  assert.match(stdout, /^✔ node +\S+\n✖ restore +a restore of \S+ was interrupted .*\n +→ headgate start completes it/);
  assert.ok(!stdout.includes('machine key'), stdout);
  await daemon.restart();
  assert.match(daemon.output().stderr, /A restore that was interrupted has been completed\. The former files are in /);
});

test('doctor reports a damaged database and does not change it', async () => {
  await using daemon = await startDaemon();
  await daemon.stop();
  await writeFile(path.join(daemon.home, 'headgate.db'), 'this is no database at all'.repeat(400));
  const before = await describe(daemon.home);
  const { code, stdout } = await runHeadgate(['doctor', '--home', daemon.home], demo);
  assert.deepEqual([code, /^✖ database/m.test(stdout)], [1, true]);
  assert.deepEqual(await describe(daemon.home), before);
});

test('doctor reports a database with which no daemon of this version starts', async () => {
  await using daemon = await startDaemon();
  await daemon.stop();
  const told = async (sql: string) => {
    {
      using database = new DatabaseSync(path.join(daemon.home, 'headgate.db'));
      database.exec(sql);
    }
    const { code, stdout } = await runHeadgate(['doctor', '--home', daemon.home], demo);
    assert.equal(code, 1);
    return stdout;
  };
  const half = JSON.stringify({ isComplete: false, from: 'elsewhere', epoch: null, state: '' });
  assert.match(
    await told(`insert into meta values ('copy', '${half}')`),
    /^✖ database {4}\S+\/headgate\.db holds an unfinished copy of elsewhere/m,
  );
  assert.match(
    await told("update meta set value = '999' where key in ('schema_version', 'schema_usable_from')"),
    /^✖ database {4}\S+\/headgate\.db has schema version 999, but this Headgate knows/m,
  );
});

/** Names, sizes, modes and times of everything in a folder. */
async function describe(folder: string): Promise<unknown[]> {
  const names = (await readdir(folder)).sort();
  return Promise.all(
    names.map(async (name) => {
      const { size, mode, mtimeMs } = await stat(path.join(folder, name));
      return [name, size, mode, mtimeMs];
    }),
  );
}
