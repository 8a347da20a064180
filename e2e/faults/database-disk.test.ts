import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { startPostgres } from '../../src/testing/postgres-server.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { pause } from '../support/deadline.ts';
import { mountSmallDisk, storeIs } from '../support/faults/full-disk.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { say, stall } from '../support/model/scripted-steps.ts';

const machine = await needs('postgresql', 'small disks');

test(
  'while the disk of PostgreSQL is full, the store stays degraded, and a run ends once there is room',
  machine,
  async () => {
    using disk = mountSmallDisk(100);
    const server = await startPostgres({ parent: disk.folder });
    await using after = new AsyncDisposableStack();
    after.defer(() => server.close());
    const url = await server.createDatabase();
    await using model = await startScriptedModel();
    await using daemon = await startDaemon({ model: model.url, config: { store: { url } } });
    await using conversation = await openConversation(daemon);
    const held = stall();
    model.when('much', held, say(...Array<string>(300).fill('x'.repeat(6_000))));
    const run = await conversation.ask('much');
    run.answer.catch(() => undefined); // it cannot be stored
    await held.reached;
    disk.fill();
    held.release();
    await storeIs(daemon, 'degraded', 20_000);
    for (let looks = 0; looks < 60; looks += 1) {
      const { body } = await daemon.get('/health');
      assert.equal(body.store.status, 'degraded', `look ${looks}: ${daemon.output().stderr}`);
      await pause(50);
    }
    disk.free();
    await storeIs(daemon, 'ok');
    await conversation.ended(run);
  },
);
