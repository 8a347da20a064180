import assert from 'node:assert/strict';
import { test } from 'node:test';
import { never } from '../../testing/puppet-model.ts';
import { wholeGateway } from '../../testing/whole-gateway.ts';
import { dropMessagesOf } from './drop-messages.ts';

test('what a person has asked for is cancelled: the answer in progress, and what waits; that of others is not', async () => {
  await using it = await wholeGateway();
  it.puppet.replies(() => [never()]);
  const workstream = it.mainWorkstream();
  const ask = (senderId: string) =>
    it.parts.runs.accept(workstream, {
      ...{ message: 'hello', principal: `telegram:${senderId}`, rights: 'write', source: 'person', request: {} },
    });
  const [first, waiting, other] = [await ask('7'), await ask('7'), await ask('8')];
  await dropMessagesOf({ channel: 'telegram', senderId: '7' }, it.parts.workstreams);
  const ends = await Promise.all([first.ended, waiting.ended]);
  assert.deepEqual(
    ends.map(({ status }) => status),
    ['cancelled', 'cancelled'],
  );
  const open = it.store.db.selectFrom('runs').select('run_id').where('status', 'in', ['queued', 'running']);
  assert.deepEqual(await open.execute(), [{ run_id: other.run.runId }]);
});
