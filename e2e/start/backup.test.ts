import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtempDisposable, readdir, stat, truncate, watch, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { spawnHeadgate } from '../support/daemon/daemon-process.ts';
import { readLedger } from '../support/daemon/ledger.ts';
import { mountSmallDisk } from '../support/faults/full-disk.ts';

const smallDisks = await needs('small disks');

test('a backup of a daemon that is writing restores to a consistent home, and clients reload', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-backup-'));
  const archive = path.join(folder.path, 'a.tar.gz');
  await using daemon = await startDaemon();
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', { idempotencyKey: 'w' });
  const body = new FormData();
  body.set('file', new File(['kept with the message'], 'notes.txt'));
  const upload = await daemon.fetch(`/v1/api/workstreams/${wsId}/attachments`, { method: 'POST', body });
  assert.equal(upload.status, 200, await upload.text());
  let answered = 0;
  const ask = async () => {
    const idempotencyKey = `k${answered}`;
    await client.call('workstream.send', { wsId, message: 'say hello', idempotencyKey });
    await client.call('agent.wait', { runId: idempotencyKey });
    answered += 1;
  };
  await ask();
  const stop = new AbortController();
  const writing = (async () => {
    while (!stop.signal.aborted) await ask();
  })();
  const before = answered;
  const backup = await runHeadgate(['backup', archive, '--home', daemon.home, '--json']);
  const during = answered;
  stop.abort();
  await writing;
  assert.deepEqual([backup.code, backup.stderr], [0, '']);
  assert.ok(answered > before, 'the daemon went on answering');
  const { cursor } = await client.call('workstream.get', { wsId });
  const refused = await runHeadgate(['restore', archive, '--home', daemon.home]);
  assert.deepEqual([refused.code, /^headgate: Another Headgate daemon is using/.test(refused.stderr)], [1, true]);

  await daemon.stop();
  const restored = await runHeadgate(['restore', archive, '--home', daemon.home]);
  assert.deepEqual([restored.code, restored.stderr], [0, '']);
  const messages = readLedger(daemon.home, wsId).messages.length;
  assert.ok(
    messages >= 2 * before && messages <= 2 * during + 2,
    `${messages} messages of ${before} to ${during} runs`,
  );
  await daemon.restart();
  const reader = await daemon.client();
  const again = await reader.call('events.subscribe', { wsId, after: cursor });
  assert.deepEqual([again.recovered, 'reason' in again && again.reason], [false, 'epoch']);
  assert.equal((await reader.call('audit.verify', {})).ok, true, 'a restored trail is no changed one');
  assert.equal((await readdir(path.join(daemon.home, 'attachments'))).length, 1);
});

/** A home that a daemon has used. */
async function usedHome(folder: string): Promise<string> {
  const home = path.join(folder, 'home');
  await using daemon = await startDaemon({ home });
  await daemon.stop();
  return home;
}

test('a backup that is killed leaves no archive, and the next one removes its links', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-backup-'));
  const home = await usedHome(folder.path);
  const target = path.join(folder.path, 'target');
  await mkdir(target);
  const large = path.join(home, 'outputs', 'large');
  await mkdir(path.dirname(large), { recursive: true });
  await writeFile(large, '');
  await truncate(large, 4_000_000_000);
  const endWith = async (signal: NodeJS.Signals) => {
    const began = watch(target, { recursive: true, signal: AbortSignal.timeout(60_000) });
    const backup = await spawnHeadgate({ args: ['backup', target, '--home', home], env: {} });
    for await (const { filename } of began) if (filename?.endsWith('archive.tar.gz')) break;
    backup.kill(signal);
    return await backup.exited;
  };
  const { code } = await endWith('SIGTERM');
  assert.deepEqual([code, await readdir(target)], [130, []], 'a signal that can be caught leaves nothing');
  await endWith('SIGKILL');
  const archives = (await readdir(target)).filter((name) => !name.startsWith('.'));
  assert.deepEqual(archives, []);
  assert.ok((await readdir(home)).some((name) => name.startsWith('.backup-')));
  await truncate(large, 5);
  const again = await runHeadgate(['backup', target, '--home', home]);
  assert.equal(again.code, 0, again.stderr);
  assert.ok(!(await readdir(home)).some((name) => name.startsWith('.backup-')));
});

test('without room, a backup leaves nothing behind', smallDisks, async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-backup-'));
  const home = await usedHome(folder.path);
  using disk = mountSmallDisk(1);
  disk.fill();
  const { code, stderr } = await runHeadgate(['backup', disk.folder, '--home', home]);
  assert.deepEqual(
    [code, stderr],
    [1, `headgate: ${home} could not be backed up: the disk is full. No archive was written.\n`],
  );
  assert.deepEqual(await readdir(disk.folder), ['ballast']);
});

test(
  'a home that cannot be written is not backed up, and a full one not restored: one line says why',
  smallDisks,
  async () => {
    await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-backup-'));
    using disk = mountSmallDisk(1);
    const home = await usedHome(disk.folder);
    const archive = path.join(folder.path, 'a.tar.gz');
    assert.equal((await runHeadgate(['backup', archive, '--home', home])).code, 0);
    const checked = JSON.parse((await runHeadgate(['restore', archive, '--check', '--json'])).stdout);
    const [{ bytes }] = checked.manifest.files; // of the database
    const pages = Math.ceil(bytes / 4_096); // with some more, there is room for the files, but not for changing the database
    const other = path.join(disk.folder, 'other');
    for (const room of [0, 10, pages + 7]) {
      disk.fill();
      await truncate(
        path.join(disk.folder, 'ballast'),
        (await stat(path.join(disk.folder, 'ballast'))).size - room * 4_096,
      );
      const { code, stderr } = await runHeadgate(['restore', archive, '--home', other]);
      assert.deepEqual([code, stderr.split('\n').length], [1, 2], stderr);
      assert.match(stderr, /^headgate: .*(is full|could not be unpacked).*\n$/);
      disk.free();
      const left = (await readdir(other)).filter((name) => name.startsWith('.restore-'));
      assert.deepEqual(left, [], `with ${room} pages`);
    }
    execFileSync('mount', ['-o', 'remount,ro', disk.folder]);
    const { code, stderr } = await runHeadgate(['backup', path.join(folder.path, 'b.tar.gz'), '--home', home]);
    assert.equal(code, 1);
    assert.match(stderr, /^headgate: .* could not be backed up: EROFS.*\. No archive was written\.\n$/);
    assert.deepEqual(await readdir(folder.path), ['a.tar.gz']);
  },
);
