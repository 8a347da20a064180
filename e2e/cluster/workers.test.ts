import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { closeCrew, crewScene, startPair } from './crew.ts';

const installed = await needs('postgresql', 'nats-server');

after(closeCrew);

test('a worker runs a workstream for clients of the active daemon, and of any other', installed, async () => {
  const { model } = await crewScene();
  await using pair = await startPair();
  const { lead, worker, wsId } = pair;
  await using stream = await lead.sse(wsId);
  model.when(
    'count it',
    [say('I count.'), callTools({ name: 'bash', arguments: { command: 'echo one >> counted; cat counted' } })],
    say('It is one.'),
  );
  const sent = await worker.post('/v1/api/send', { ws_id: wsId, message: 'count it' });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  const { data: asked } = await stream.until('approve_request');
  assert.equal(asked.items[0].subject, 'echo one >> counted; cat counted');
  const client = await lead.client();
  const pending = await client.call('approval.list', {});
  assert.deepEqual(
    pending.approvals.map(({ approvalId }) => approvalId),
    [asked.approval_id],
  );
  await client.call('approval.resolve', { approvalId: asked.approval_id, approved: true });
  const { data: result } = await stream.until('tool_result');
  assert.deepEqual([result.outcome, result.output], ['done', 'one\n']);
  await stream.until(({ data }) => data.type === 'ws_state' && data.run?.status === 'ok');
  const { messages } = (await lead.get(`/v1/api/workstreams/${wsId}/history`)).body;
  assert.equal(messages.at(-1).content, 'It is one.');
  const listed = (await lead.get('/v1/api/workstreams')).body.workstreams;
  assert.ok(listed.some((row: { ws_id: string }) => row.ws_id === wsId));
});
