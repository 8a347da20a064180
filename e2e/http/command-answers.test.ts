import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStage } from '../support/daemon/stage.ts';
import { say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

test('`POST /v1/api/command` answers ok, with the reason if the command did nothing', async () => {
  const { ws_id } = (await daemon.post('/v1/api/workstreams/new', {})).body;
  const run = (command: string) => daemon.post('/v1/api/command', { ws_id, command });
  const ok = { status: 'ok', ws_id };
  const answers: [command: string, error: string | undefined][] = [
    ['/name garden', undefined],
    ['/name', 'Usage: /name NAME'],
    ['/nmae garden', 'Unknown command: /nmae. Did you mean /name? Type /help for a list.'],
    ['/resume nobody', 'No saved conversation that everyone here sees is called nobody'],
  ];
  for (const [command, error] of answers) {
    const { status, body } = await run(command);
    assert.deepEqual([status, body], [200, { ...ok, ...(error !== undefined && { error }) }], command);
  }
  const hold = stall();
  model.when('think on', [hold, say('done')]);
  await using stream = await daemon.sse(ws_id);
  await daemon.post('/v1/api/send', { ws_id, message: 'think on' });
  await stream.until(({ data }) => data.state === 'thinking');
  const error = '/clear is not possible while an answer is in progress. Wait for its end, or cancel it.';
  assert.deepEqual((await run('/clear')).body, { ...ok, error });
  hold.release();
});

test('a wrong limit of saved workstreams is refused with its name', async () => {
  for (const limit of ['abc', '0', '501', '1.5']) {
    const { status, body } = await daemon.get(`/v1/api/workstreams/saved?limit=${limit}`);
    assert.equal(status, 400, limit);
    assert.match(body.error, /^limit: /, limit);
  }
  assert.equal((await daemon.get('/v1/api/workstreams/saved?limit=1')).status, 200);
});
