import assert from 'node:assert/strict';
import { test } from 'node:test';
import { has } from '../support/clients/chat-terminal.ts';
import { openTerminal } from '../support/clients/terminal.ts';
import { runHeadgate } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();
const env = { HEADGATE_HOME: daemon.home };

test('top shows what waits: as lines, as JSON, and live until q', async () => {
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', { name: 'garden' });
  model.when('plant it', callTools({ name: 'bash', arguments: { command: 'touch rose' } }));
  await client.call('workstream.send', { wsId, message: 'plant it' });
  await using screen = openTerminal({ args: ['top', '--interval', '0.5'], env });
  const rows = await screen.until(has('bash: touch rose'), 'the call that waits');
  assert.ok(rows.some((row) => /^waits +garden +/.test(row)) && rows.every((row) => row.length <= 80));
  const { stdout } = await runHeadgate(['top'], env);
  assert.match(stdout, /1 wait, .*\nSTATE +NAME .*\nwaits +garden .*bash: touch rose\n/);
  const found = JSON.parse((await runHeadgate(['top', '--json'], env)).stdout);
  assert.deepEqual([found.workstreams[0].name, found.workstreams[0].state], ['garden', 'attention']);
  screen.type('q');
  assert.equal(await screen.exited, 0);
});

test('logs prints the last lines, and with -f goes on until Ctrl-C', async () => {
  const last = await runHeadgate(['logs', '-n', '3'], env);
  assert.match(last.stdout, /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \w+ .*\n){3}$/);
  await using screen = openTerminal({ args: ['logs', '-f', '-n', '3'], env });
  await screen.until((rows) => rows.length >= 3, 'the last lines');
  screen.type('\x03');
  assert.notEqual(await screen.exited, 1);
});

test('a wrong interval or number of lines is wrong usage', async () => {
  for (const args of [
    ['top', '--interval', '0'],
    ['logs', '--lines', 'many'],
  ])
    assert.equal((await runHeadgate(args, env)).code, 2);
});
