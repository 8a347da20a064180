import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { speechOf } from '../support/daemon/ledger.ts';
import { integrityOf, mountSmallDisk, storeIs } from '../support/faults/full-disk.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const smallDisks = await needs('small disks');

test(
  'a command whose output fills the disk counts as run, its output is dropped, and the daemon recovers automatically',
  smallDisks,
  async () => {
    using disk = mountSmallDisk(16);
    await using model = await startScriptedModel();
    await using daemon = await startDaemon({ home: path.join(disk.folder, 'home'), model: model.url });
    const command = 'touch it; yes "a line of some length, again and again" | head -c 40000000; echo the end';
    model.when('print a lot', callTools({ name: 'bash', arguments: { command } }), say('That was a lot.'));
    await using conversation = await openConversation(daemon);
    const run = await conversation.ask('print a lot');
    const { approval_id: approvalId } = await conversation.until('approve_request');
    await conversation.decide(approvalId ?? '', { approved: true });
    const { output, is_error } = await conversation.until('tool_result');
    assert.deepEqual([/the whole output could not be stored \(ENOSPC\)/.test(output), is_error], [true, false]);
    assert.match(output, /the end$/m);
    await storeIs(daemon, 'ok');
    await conversation.ended(run);
    await conversation.agree();
    assert.deepEqual(await readdir(path.join(daemon.home, 'outputs')), []);
  },
);

for (const how of ['SIGTERM', 'SIGKILL'] as const) {
  test(
    `after ${how}, a start on a full disk reports this and changes nothing; once there is room, all data is there`,
    smallDisks,
    async () => {
      using disk = mountSmallDisk(8);
      await using model = await startScriptedModel();
      model.when('hello', say('Good day.'));
      await using daemon = await startDaemon({ home: path.join(disk.folder, 'home'), model: model.url });
      await using conversation = await openConversation(daemon);
      await conversation.ended(await conversation.ask('hello'));
      const files = (await readdir(daemon.home)).filter((name) => name !== 'daemon.json');
      await daemon.stop(how);
      disk.fill();
      assert.deepEqual(await startAgain(daemon.home), { code: 1, told: noRoomIn(daemon.home) });
      disk.free();
      await daemon.restart();
      await conversation.reconnect();
      assert.deepEqual(speechOf(await conversation.agree()), ['user: hello', 'assistant: Good day.']);
      const later = (await readdir(daemon.home)).filter((name) => name !== 'daemon.json');
      assert.deepEqual(
        later.filter((name) => !files.includes(name)),
        [],
      );
      assert.equal(integrityOf(daemon.home), 'ok');
    },
  );
}

test(
  'a first start on a full disk reports this, and a later start with room behaves like a first one',
  smallDisks,
  async () => {
    using disk = mountSmallDisk(8);
    disk.fill();
    const home = path.join(disk.folder, 'home');
    assert.deepEqual(await startAgain(home), { code: 1, told: noRoomIn(home) });
    disk.free();
    await using daemon = await startDaemon({ home });
    assert.equal((await daemon.get('/health')).body.status, 'ok');
  },
);

async function startAgain(home: string) {
  const env = { HOME: path.dirname(home), HEADGATE_MODEL: 'demo' };
  const { code, stdout, stderr } = await runHeadgate(['start', '--home', home, '--port', '0'], env);
  assert.equal(stdout, '');
  const told = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{"level"'));
  return { code, told: told.join('\n') };
}

const noRoomIn = (home: string): string =>
  `headgate: The disk of ${home} is full, so nothing can be stored. No data is lost: free some space and start again.`;
