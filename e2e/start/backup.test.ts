import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { readLedger } from '../support/daemon/ledger.ts';
import { commandsUnder, paste } from '../support/documented-commands.ts';

const sqlite = await needs('sqlite3');

for (const config of [undefined, { retentionDays: 9 }]) {
  const what = config ? 'with' : 'without';
  test(`the documented backup and restore work ${what} a config.json while the daemon runs`, sqlite, async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'headgate-backup-'));
    const [from, to] = [path.join(folder, 'from'), path.join(folder, 'to')];
    await mkdir(from);
    await mkdir(to);
    const [backup = '', restore = ''] = await commandsUnder('Backup and restore');
    await using daemon = await startDaemon({ home: path.join(from, '.headgate'), ...(config && { config }) });
    const client = await daemon.client();
    const send = { sessionKey: 'notes', message: 'say hello', idempotencyKey: 'k1' };
    await client.call('chat.send', send);
    await client.call('agent.wait', { runId: 'k1' });
    const { sessionId: wsId = '' } = await client.call('chat.history', { sessionKey: 'notes' });
    const { cursor } = await client.call('workstream.get', { wsId });

    await paste(backup, { home: from, cwd: folder });
    await paste(backup, { home: from, cwd: folder }); // the next night
    const copied = await stat(path.join(folder, 'headgate-backup', 'headgate.db'));
    assert.equal(copied.mode & 0o077, 0, 'only the owner may read the file');

    await client.call('chat.send', { ...send, idempotencyKey: 'k2' });
    await client.call('agent.wait', { runId: 'k2' });
    await daemon.stop();
    for (const home of [to, from]) await paste(restore, { home, cwd: folder }); // elsewhere, and in place
    const places = [path.join(to, '.headgate'), path.join(from, '.headgate')];
    for (const home of places) {
      await using restored = await startDaemon({ home });
      assert.equal(restored.token, daemon.token);
      assert.equal(readLedger(home, wsId).messages.length, 2, 'messages sent after the backup are gone');
      const reader = await restored.client();
      const again = await reader.call('events.subscribe', { wsId, after: cursor });
      assert.deepEqual([again.recovered, 'reason' in again && again.reason], [false, 'epoch']);
      assert.equal((await reader.call('config.get', {})).exists, config !== undefined);
      assert.equal((await reader.call('audit.verify', {})).ok, true, 'a restored trail is no changed one');
    }
    await rm(folder, { recursive: true, force: true });
  });
}
