import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { pause, within } from '../support/deadline.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { closeCrew, crewScene, startPair, tokenOfUser } from './crew.ts';

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

test('a workstream of a worker is deleted by the active daemon', installed, async () => {
  await using pair = await startPair();
  const { lead, wsId } = pair;
  const client = await lead.client();
  assert.deepEqual(await client.call('workstream.delete', { wsId }), { deleted: true });
  assert.equal((await lead.get(`/v1/api/workstreams/${wsId}/history`)).status, 404);
  await assert.rejects(client.call('workstream.delete', { wsId }), { code: 'NOT_FOUND' });
  const { sessions } = await client.call('sessions.list', {});
  const main = sessions.find(({ key }) => key === 'main');
  await assert.rejects(
    client.call('workstream.delete', { wsId: main?.sessionId ?? '' }),
    /Cannot delete the main session/,
  );
});

test(
  'a workstream of a worker that becomes private ends for others, and the change is recorded',
  installed,
  async () => {
    await using pair = await startPair();
    const { lead, wsId } = pair;
    const operator = await lead.client();
    const token = await tokenOfUser(operator, 'bob', { role: 'builtin-operator', scopes: ['read', 'write'] });
    await using his = await lead.sse(wsId, { token });
    await using all = await lead.sse('/v1/api/events/global', { token });
    await using own = await lead.sse(wsId);
    await his.until('history');
    const before = (await operator.call('audit.list', { action: 'workstream.share' })).total;
    await lead.post('/v1/api/command', { ws_id: wsId, command: '/share private' });
    await within(his.ended, 30_000, () => 'his stream ends');
    await all.until(({ data }) => data.type === 'ws_closed' && data.ws_id === wsId);
    const asked = await lead.fetch(`/v1/api/workstreams/${wsId}/history`, {
      headers: { authorization: `Bearer ${token}` },
    });
    assert.equal(asked.status, 404);
    await assert.rejects(lead.sse(wsId, { token }), /status 404/);
    const { model } = await crewScene();
    model.when('a secret', say('Kept.'));
    await lead.post('/v1/api/send', { ws_id: wsId, message: 'a secret' });
    await own.until(({ data }) => data.type === 'ws_state' && data.run?.status === 'ok');
    assert.doesNotMatch(JSON.stringify([his.frames, all.frames]), /a secret|Kept/);
    const records = await operator.call('audit.list', { action: 'workstream.share' });
    assert.deepEqual([records.total - before, records.events[0]?.resourceId], [1, wsId]);
    assert.equal((await operator.call('audit.verify', {})).ok, true);
  },
);

test(
  'a record that a worker writes names its user as that is called now, and is signed within seconds',
  installed,
  async () => {
    await using pair = await startPair();
    const { lead, wsId } = pair;
    const operator = await lead.client();
    const token = await tokenOfUser(operator, 'ada', { role: 'builtin-admin', scopes: ['approve'] });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const share = async (how: string) => {
      const body = JSON.stringify({ ws_id: wsId, command: `/share ${how}` });
      const answer = await lead.fetch('/v1/api/command', { method: 'POST', headers, body });
      assert.equal(answer.status, 200, await answer.text());
    };
    const latest = async () => (await operator.call('audit.list', { action: 'workstream.share' })).events[0];
    let isPrivate = false;
    await until(async () => {
      isPrivate = !isPrivate;
      await share(isPrivate ? 'private' : 'shared');
      return (await latest())?.username === 'ada';
    }, 'the worker knows the new user');
    /** The number of the record that was signed last; 0: none by this daemon. */
    const signed = async () => {
      const head = await readFile(path.join(lead.home, 'audit-head.json'), 'utf8').catch(() => '{"seq":0}');
      return Number(JSON.parse(head).seq);
    };
    const isSigned = async () => (await signed()) >= ((await latest())?.seq ?? Number.POSITIVE_INFINITY);
    await until(isSigned, 'all records so far are signed');
    await share(isPrivate ? 'shared' : 'private');
    await until(isSigned, 'the record that only the worker has made is signed');
  },
);

/** Resolves when it is so. */
async function until(isSo: () => Promise<boolean>, what: string): Promise<void> {
  const again = async (): Promise<void> => {
    if (await isSo()) return;
    await pause(100);
    return again();
  };
  await within(again(), 10_000, () => what);
}
