import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeGateway } from '../testing/whole-gateway.ts';

test('/template shows the templates and chooses the one of the next conversation', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const say = async (command: string) => {
    const { error } = await gateway.call('workstream.command', { wsId, command });
    const last = (await gateway.events(wsId)).findLast(({ type }) => type === 'info' || type === 'error');
    return error ?? (last?.type === 'info' ? last.message : assert.fail(command));
  };
  const opening = async () => {
    await (await gateway.accept('hello'))?.ended;
    return gateway.puppet.requests.at(-1)?.system.split('\n\n').at(-1);
  };
  assert.equal(await say('/template'), 'There are no templates.');
  await gateway.call('template.create', { name: 'usual', content: 'Usual.', isDefault: true });
  const { templateId } = await gateway.call('template.create', { name: 'brief', content: 'Be brief.' });
  assert.equal(await say('/template sums'), 'Template not found: sums');
  assert.equal(await say('/template brief'), 'This conversation begins with the template brief.');
  assert.equal(await opening(), 'Be brief.');
  assert.equal(
    await say('/template clear'),
    'The next conversation begins with the default templates: type /new or /clear. This one keeps its system prompt.',
  );
  assert.equal(await opening(), 'Be brief.');
  await say('/clear');
  assert.equal(await opening(), 'Usual.');
  await say('/template brief');
  assert.match(await say('/template'), /^\* brief {2}\(general\)\n {2}usual {2}\(general, default\)\n\* marks/);
  await gateway.call('template.delete', { templateId });
  assert.match(await say('/template'), /^\* brief {2}\(deleted since\)\n/);
});
