import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ToolDefinition } from '../../agent/providers/model.ts';
import { calling } from '../testing/puppet-model.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

const tool = (name: string, description: string, parameters = {}): ToolDefinition => ({
  name,
  description,
  parameters,
});
const OLD = [tool('look', 'Looks.'), tool('touch', 'Touches.\nCarefully.')];
const NEW = [tool('look', 'Looks well.'), tool('listen', `Listens. ${'x'.repeat(200)}`)];

/** A gateway whose tools a test replaces, as an update does. */
async function withTools() {
  const tools = { present: OLD };
  const gateway = await wholeGateway({
    toolbox: {
      definitions: () => tools.present,
      prepare: async ({ arguments: canonicalArguments }) => ({
        ...{ kind: 'refused', reason: 'no', subject: '', canonicalArguments },
      }),
    },
  });
  return Object.assign(gateway, { tools });
}

async function say(gateway: WholeGateway, message: string): Promise<void> {
  const handle = await gateway.accept(message);
  await handle?.ended;
}

/** What the command told. */
async function told(gateway: WholeGateway, command: string): Promise<string> {
  const wsId = await gateway.main();
  await gateway.call('workstream.command', { wsId, command }, { scope: 'write' });
  const last = (await gateway.events(wsId)).at(-1);
  return last?.type === 'info' || last?.type === 'error' ? last.message : assert.fail('nothing told');
}

const latest = ({ puppet }: WholeGateway) => puppet.requests.at(-1) ?? assert.fail();
const cutsOf = ({ store }: WholeGateway) =>
  store.db.selectFrom('cuts').select(['kind', 'after_seq', 'to_seq']).execute();

test('/tools lists the tools of the conversation, and what has changed since', async () => {
  await using gateway = await withTools();
  const list = '  look   Looks.\n  touch  Touches.';
  assert.equal(await told(gateway, '/tools'), `The next message begins with these tools:\n${list}`);
  await say(gateway, 'hello');
  const present = `The model has these tools in this conversation:\n${list}`;
  assert.equal(await told(gateway, '/tools'), `${present}\nThey have not changed since the conversation began.`);
  gateway.tools.present = NEW;
  assert.equal(
    await told(gateway, '/tools'),
    `${present}
Since then, this has changed:
  touch: no longer available
  look: is described in other words
  listen: new
With /tools accept, the model has the present tools from the next message on.`,
  );
  assert.equal(await told(gateway, '/tools all'), 'Command error: Usage: /tools [accept]');
});

test('/tools accept is a cut: later requests have the present tools and a new beginning, also after a restart', async () => {
  await using gateway = await withTools();
  await say(gateway, 'hello');
  const before = latest(gateway);
  gateway.tools.present = NEW;
  await say(gateway, 'and?');
  assert.deepEqual([latest(gateway).tools, latest(gateway).messages.length], [before.tools, 4]);
  assert.equal(
    await told(gateway, '/tools accept'),
    'The model has the present tools from the next message on. ' +
      'What has changed: touch (no longer available), look (is described in other words), listen (new).',
  );
  assert.deepEqual(await cutsOf(gateway), [{ kind: 'tools', after_seq: 0, to_seq: 5 }]);
  const wsId = await gateway.main();
  const { snapshot } = await gateway.call('workstream.get', { wsId });
  assert.equal(snapshot.status?.total_tokens, 100, 'the messages still take as much room');
  await gateway.crash();
  await say(gateway, 'so?');
  const next = latest(gateway);
  assert.deepEqual(next.tools, NEW);
  assert.notEqual(next.conversation, before.conversation);
  assert.deepEqual(
    next.messages.map(({ role }) => role),
    ['user', 'assistant', 'user', 'assistant', 'user'],
    'the new beginning says what the message about the changes said',
  );
  await say(gateway, 'and on');
  assert.equal(latest(gateway).conversation, next.conversation);
  assert.equal((await gateway.call('workstream.history', { wsId })).messages.length, 8);
});

test('/tools accept makes no cut if nothing was sent yet, or nothing has changed', async () => {
  await using gateway = await withTools();
  assert.match(await told(gateway, '/tools accept'), /^There is nothing to accept: the next message begins/);
  await say(gateway, 'hello');
  assert.match(await told(gateway, '/tools accept'), /^There is nothing to accept: the tools have not changed/);
  assert.deepEqual(await cutsOf(gateway), []);
});

test('while a run is in progress, /tools lists, and /tools accept is refused', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  gateway.puppet.turn(calling('touch'));
  await gateway.accept('go');
  await gateway.reaches(wsId, 'approve_request');
  assert.match(await told(gateway, '/tools'), /^The model has these tools in this conversation:/);
  assert.equal(
    await told(gateway, '/tools accept'),
    'Command error: An answer is in progress. Wait for its end, or cancel it.',
  );
  assert.deepEqual(await cutsOf(gateway), []);
});

test('a rewind to before the cut keeps the present tools', async () => {
  await using gateway = await withTools();
  await say(gateway, 'hello');
  gateway.tools.present = NEW;
  await told(gateway, '/tools accept');
  await say(gateway, 'and?');
  const { conversation } = latest(gateway);
  await told(gateway, '/rewind');
  await say(gateway, 'so?');
  assert.deepEqual([latest(gateway).conversation, latest(gateway).tools], [conversation, NEW]);
});
