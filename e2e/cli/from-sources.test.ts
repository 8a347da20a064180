import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runHeadgate } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

// `npm test` runs the daemon and the commands of this file from their sources, so that coverage counts them.

const { model, daemon } = await openStage();
const here = { HEADGATE_HOME: daemon.home };

test('a daemon answers, runs a command, and stops; the commands print what it has done', async () => {
  model.when('from the sources', callTools({ name: 'bash', arguments: { command: 'echo here' } }), say('It is here.'));
  const run = await runHeadgate(['run', '--json', 'from the sources'], here);
  assert.deepEqual([run.code, run.stdout.includes('It is here.')], [0, true], run.stderr);
  const { code, stdout, stderr } = await runHeadgate(['call', 'workstream.list'], here);
  const { workstreams } = await (await daemon.client()).call('workstream.list', {});
  assert.deepEqual([code, JSON.parse(stdout), stderr], [0, { workstreams }, '']);
  const status = await runHeadgate(['status'], here);
  assert.deepEqual([status.code, status.stderr], [0, '']);
  await daemon.stop();
  assert.equal((await runHeadgate(['call', 'health'], here)).code, 3);
});
