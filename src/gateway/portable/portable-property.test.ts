import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DAEMON } from '../sharing/perception.ts';
import { calling } from '../testing/puppet-model.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import { conversation, exported, imageOf } from './portable-fixture.ts';

test('any conversation is equal after importing and exporting it', async () => {
  await using gateway = await wholeGateway();
  await fc.assert(
    fc.asyncProperty(conversation, async (file) => {
      const { wsId, messageCount, name, ...rest } = await gateway.call('workstream.import', { conversation: file });
      assert.deepEqual([messageCount, name === (file.name ?? name)], [file.messages.length, true]);
      const lost = file.files.filter(({ base64 }) => base64 === undefined).map((one) => one.name);
      assert.deepEqual(rest, lost.length > 0 ? { missingFiles: lost } : {});
      assert.deepEqual(await exported(gateway, wsId), file);
      const { messages } = await gateway.call('workstream.history', { wsId, limit: 500 });
      assert.equal(messages.length, file.messages.length);
      await gateway.call('workstream.close', { wsId });
    }),
    { numRuns: 60 },
  );
});

type Step = 'say' | 'think' | 'call' | 'deny' | 'fail' | 'attach' | 'rewind' | 'remove' | 'note' | 'edit' | 'clear';

test('a conversation that was really held is equal after exporting, importing and exporting it', async () => {
  const steps = fc.constantFrom<Step>(
    'say',
    'think',
    'call',
    'deny',
    'fail',
    'attach',
    'rewind',
    'remove',
    'note',
    'edit',
    'clear',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 12 }), async (played) => {
      await using gateway = await wholeGateway();
      for (const [index, step] of ['say' as const, ...played].entries()) await play(gateway, step, index);
      const wsId = await gateway.main();
      const { messages: shown } = await gateway.call('workstream.history', { wsId, limit: 500 });
      if (shown.length === 0) return;
      const file = await exported(gateway, wsId);
      const copy = await gateway.call('workstream.import', { conversation: file });
      await gateway.crash();
      assert.deepEqual(await exported(gateway, copy.wsId), file);
      const history = await gateway.call('workstream.history', { wsId: copy.wsId, limit: 500 });
      assert.deepEqual(
        history.messages.map(({ role, content }) => [role, content]),
        shown.map(({ role, content }) => [role, content]),
      );
    }),
    { numRuns: 20 },
  );
});

async function play(gateway: WholeGateway, step: Step, index: number): Promise<void> {
  const wsId = await gateway.main();
  const { puppet } = gateway;
  const say = async () => {
    await (await gateway.accept(`message ${index}`))?.ended;
  };
  /** Refused when there is nothing to take back. */
  const tries = (command: string) => gateway.call('workstream.command', { wsId, command });
  switch (step) {
    case 'say':
      return say();
    case 'think':
      puppet.turn({ type: 'reasoning', text: 'hm' }, 'so');
      return say();
    case 'call':
      puppet.turn('Let me.', calling('look'), calling('look'));
      return say();
    case 'deny': {
      puppet.turn(calling('touch'));
      const run = await gateway.accept('touch it');
      await gateway.reaches(wsId, 'approve_request', (await asksIn(gateway, wsId)) + 1);
      await gateway.call('workstream.approve', { wsId, approved: false, feedback: 'not now' });
      await run?.ended;
      return;
    }
    case 'fail':
      puppet.turn(new Error('a defect'));
      return say();
    case 'attach':
      return attach(gateway, wsId, index);
    case 'edit':
      await tries(`/edit edited ${index}`);
      return gateway.isIdle(wsId);
    case 'note':
      await tries(`/name number ${index}`);
      return;
    case 'rewind':
    case 'remove':
    case 'clear':
      await tries(`/${step}`);
  }
}

const asksIn = async (gateway: WholeGateway, wsId: string): Promise<number> =>
  (await gateway.events(wsId)).filter(({ type }) => type === 'approval_resolved').length;

async function attach(gateway: WholeGateway, wsId: string, index: number): Promise<void> {
  const owner = { wsId, principal: 'ada' };
  const { attachments } = gateway.gateway;
  const image = await attachments.receive(
    { ...owner, viewer: DAEMON },
    { fileName: `${index}.png`, bytes: bytesOf(imageOf(`${index}`)) },
  );
  const text = await attachments.receive(
    { ...owner, viewer: DAEMON },
    { fileName: 'a.txt', bytes: bytesOf(Buffer.from('inside')) },
  );
  const attachmentIds = [image.attachment_id, text.attachment_id];
  await gateway.call('workstream.send', { wsId, message: 'look', attachmentIds });
  await gateway.isIdle(wsId);
}

async function* bytesOf(bytes: Buffer) {
  yield bytes;
}
