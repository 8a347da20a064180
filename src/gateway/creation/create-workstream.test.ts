import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calling } from '../testing/puppet-model.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';

const ID = '0123456789abcdef0123456789abcdef';

test('a workstream is created under the id that the caller chose, which no other has or had', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', { wsId: ID });
  assert.equal(wsId, ID);
  const taken = { code: 'CONFLICT', message: 'Workstream already exists' };
  assert.deepEqual(await gateway.refusal('workstream.create', { wsId: ID }), taken);
  await gateway.call('workstream.send', { wsId: ID, message: 'uses tokens' });
  await gateway.isIdle(ID);
  await gateway.call('workstream.delete', { wsId: ID });
  assert.deepEqual(await gateway.refusal('workstream.create', { wsId: ID }), taken, 'its usage is still counted');
  for (const odd of ['x', ID.toUpperCase(), ID.slice(1), 'main'])
    assert.equal((await gateway.refusal('workstream.create', { wsId: odd })).code, 'INVALID_REQUEST', odd);
});

test('of many creations with one id at once, exactly one succeeds', async () => {
  await using gateway = await wholeGateway();
  const ends = await Promise.all(
    Array.from({ length: 5 }, () =>
      gateway.call('workstream.create', { wsId: ID }).then(
        () => 'made',
        ({ code }: { code: string }) => code,
      ),
    ),
  );
  assert.deepEqual(ends.sort(), ['CONFLICT', 'CONFLICT', 'CONFLICT', 'CONFLICT', 'made']);
});

test('the first message is sent at once, and repeating the key sends it once', async () => {
  await using gateway = await wholeGateway();
  const asked = { initialMessage: ' hello ', idempotencyKey: 'key-1' };
  const created = await gateway.call('workstream.create', asked);
  assert.deepEqual(created.initialMessage, { status: 'ok', runId: 'key-1' });
  assert.deepEqual(await gateway.call('workstream.create', asked), created);
  await gateway.isIdle(created.wsId);
  const { messages } = await gateway.call('workstream.history', { wsId: created.wsId });
  assert.deepEqual(
    messages.map(({ role, content }) => [role, content]),
    [
      ['user', 'hello'],
      ['assistant', 'ok'],
    ],
  );
});

test('a first message that is refused leaves no workstream behind', async () => {
  await using gateway = await wholeGateway();
  const before = await gateway.call('workstream.list', {});
  gateway.disk.fails = ({ statements = [] }) => statements.some(({ sql }) => /insert into runs/i.test(sql));
  const refused = await gateway.refusal('workstream.create', { wsId: ID, initialMessage: 'hello' });
  gateway.disk.fails = undefined;
  assert.equal(refused.code, 'UNAVAILABLE');
  assert.deepEqual(await gateway.call('workstream.list', {}), before);
  assert.equal((await gateway.call('workstream.create', { wsId: ID, initialMessage: 'hello' })).wsId, ID);
});

test('the first message of a resumed workstream waits for the run in progress', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', { name: 'garden' });
  const held = Promise.withResolvers<void>();
  gateway.puppet.turn(held.promise, 'first');
  await gateway.call('workstream.send', { wsId, message: 'one' });
  const resumed = await gateway.call('workstream.create', { resumeWs: 'garden', initialMessage: 'two' });
  assert.deepEqual([resumed.resumed, resumed.initialMessage?.status], [true, 'queued']);
  held.resolve();
  await gateway.isIdle(wsId);
});

test('chosen tools run without asking, others ask, and it needs the approve scope', async () => {
  await using gateway = await wholeGateway();
  const refused = await gateway.refusal('workstream.create', { autoApproveTools: ['touch'] }, { scope: 'write' });
  assert.equal(refused.code, 'FORBIDDEN');
  const { wsId } = await gateway.call('workstream.create', { autoApproveTools: ['touch', 'touch'] });
  gateway.puppet.turn(calling('touch', { text: 'a' }));
  await gateway.call('workstream.send', { wsId, message: 'touch it' });
  await gateway.isIdle(wsId);
  const { snapshot } = await gateway.call('workstream.get', { wsId });
  const shown = [snapshot.autoApproveTools, snapshot.workstream.skipPermissions, snapshot.messages.at(-1)?.content];
  assert.deepEqual(shown, [['touch'], false, 'ok']);
  const other = await gateway.call('workstream.create', { autoApproveTools: ['look'] });
  gateway.puppet.turn(calling('touch', { text: 'b' }));
  await gateway.call('workstream.send', { wsId: other.wsId, message: 'touch it' });
  await gateway.reaches(other.wsId, 'approve_request');
});

test('chosen tools survive a restart, and end after the time of auto-approve', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', { autoApproveTools: ['touch'] });
  await gateway.restart();
  assert.deepEqual((await gateway.call('workstream.get', { wsId })).snapshot.autoApproveTools, ['touch']);
  gateway.clock.jump(9 * 3_600_000);
  gateway.puppet.turn(calling('touch', { text: 'late' }));
  await gateway.call('workstream.send', { wsId, message: 'touch it' });
  await gateway.reaches(wsId, 'approve_request');
});

test('a judge model is stored, and an unknown one is refused', async () => {
  await using gateway = await wholeGateway();
  assert.equal((await gateway.refusal('workstream.create', { judgeModel: 'nobody' })).code, 'INVALID_REQUEST');
  const { wsId } = await gateway.call('workstream.create', { judgeModel: 'other' });
  await gateway.restart();
  assert.equal((await gateway.call('workstream.get', { wsId })).snapshot.judgeModel, 'other');
});

test('labels that this machine has are stored once each, shown, and kept by copies and restarts', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', { machineLabels: ['desk', 'desk'], initialMessage: 'hi' });
  await gateway.isIdle(wsId);
  const labelsOf = async (id: string) => (await gateway.call('workstream.get', { wsId: id })).snapshot.machineLabels;
  const { wsId: copy } = await gateway.call('workstream.fork', { wsId });
  await gateway.restart();
  assert.deepEqual([await labelsOf(wsId), await labelsOf(copy)], [['desk'], ['desk']]);
  const { wsId: other } = await gateway.call('workstream.create', { machineLabels: [] });
  assert.equal(await labelsOf(other), undefined);
  const { resumed } = await gateway.call('workstream.create', { resumeWs: wsId, machineLabels: ['gpu'] });
  assert.deepEqual([resumed, await labelsOf(wsId)], [true, ['desk']], 'labels are those of its creation');
});

test('labels that no machine has are refused, and nothing is created', async () => {
  await using gateway = await wholeGateway();
  const before = await gateway.call('workstream.list', {});
  const refused = { code: 'UNAVAILABLE', message: /has the label "gpu"\. There are: node \(desk\)\.$/ };
  for (const asked of [{}, { workdir: gateway.dir }, { idempotencyKey: 'key-1', initialMessage: 'hi' }])
    await assert.rejects(gateway.call('workstream.create', { ...asked, machineLabels: ['gpu'] }), refused);
  const tied = { code: 'CONFLICT', message: 'node does not have the label "gpu".' };
  for (const asked of [{ nodeId: 'node' }, { kind: 'coordinator' as const }])
    await assert.rejects(gateway.call('workstream.create', { ...asked, machineLabels: ['desk', 'gpu'] }), tied);
  assert.deepEqual(await gateway.call('workstream.list', {}), before);
  const again = { idempotencyKey: 'key-1', machineLabels: ['desk'] };
  assert.ok((await gateway.call('workstream.create', again)).wsId, 'the refusal is not kept for the key');
});

test('a label has the form of a label, and a workstream needs at most 16', async () => {
  await using gateway = await wholeGateway();
  const many = Array.from({ length: 1_000 }, (_, n) => `l${n}`);
  for (const machineLabels of [['GPU'], [''], ['-gpu'], ['gpu.'], ['a,b'], ['a b'], ['ü'], ['a'.repeat(33)], many]) {
    const refused = await gateway.refusal('workstream.create', { machineLabels });
    assert.deepEqual([refused.code, /machineLabels/.test(refused.message)], ['INVALID_REQUEST', true], refused.message);
  }
});

test('files of somebody else, and files with resume_ws, are refused', async () => {
  await using gateway = await wholeGateway();
  const { staged: files } = gateway.parts.attachments;
  const bytes = async function* () {
    yield Buffer.from('text');
  };
  const staged = await files.stage('eve', { fileName: 'a.txt', bytes: bytes() });
  const fileIds = [staged.attachment_id];
  assert.deepEqual(await gateway.refusal('workstream.create', { fileIds }), {
    code: 'INVALID_REQUEST',
    message: 'Unknown file',
  });
  assert.equal((await gateway.refusal('workstream.create', { fileIds, resumeWs: 'main' })).code, 'INVALID_REQUEST');
  await files.release(fileIds);
  assert.equal((await gateway.refusal('workstream.create', { fileIds }, { id: 'eve' })).message, 'Unknown file');
});
