import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionLostError, NotConnectedError } from '../../../protocol/client/request-error.ts';
import { settled } from '../../../protocol/client/testing/fake-timers.ts';
import { openFakeChat, THINKING } from './interactive-chat-fixture.ts';

const ESCAPE = { name: 'escape' };

test('Escape stops the run and keeps the draft; without a run it does nothing', async () => {
  const { press, type, tell, calls, rows } = openFakeChat();
  press(ESCAPE);
  tell(THINKING);
  type('next');
  press(ESCAPE);
  await settled();
  assert.deepEqual(calls, [['workstream.cancel', { wsId: 'w', force: false }]]);
  assert.deepEqual(rows().at(-1), '› next');
});

test('a cancel whose answer was lost is not repeated, because another run may have begun, and a line says so', async () => {
  const { press, tell, calls, rows } = openFakeChat(() => {
    throw new ConnectionLostError('gone');
  });
  tell(THINKING);
  press(ESCAPE);
  await settled();
  assert.deepEqual(calls, [['workstream.cancel', { wsId: 'w', force: false }]]);
  assert.match(rows().join(), /may have been carried out/);
});

test('a cancel without a connection says so, and is not sent later', async () => {
  const { press, tell, rows } = openFakeChat(() => {
    throw new NotConnectedError('there is no connection to the gateway');
  });
  tell(THINKING);
  press(ESCAPE);
  await settled();
  assert.match(rows().join(), /there is no connection to the gateway/);
  assert.doesNotMatch(rows().join(), /may have been carried out/);
});

test('Ctrl-O opens the list of calls, in which no key is typed, and keeps the draft', () => {
  const { press, type, tell, printed, rows } = openFakeChat();
  press({ name: 'o', ctrl: true });
  assert.equal(rows().at(-2), 'No call has ended yet.');
  const output = Array.from({ length: 40 }, (_, line) => `line ${line}`).join('\n');
  tell({ type: 'tool_result', call_id: 'c', name: 'bash', output, outcome: 'done', is_error: false });
  assert.ok(!printed().includes('line 0\n'));
  type('next');
  press({ name: 'o', ctrl: true });
  assert.deepEqual(rows().slice(0, 2), ['Calls of this conversation (1)', '› ▸ ✔ bash (40 lines)']);
  press({ name: 'right' });
  assert.ok(rows().includes('    line 0'));
  type('jk');
  press({ name: 'escape' });
  assert.equal(rows().at(-1), '› next');
});

test('Ctrl-R finds earlier input and brings it into the prompt', () => {
  const { press, type, enter, rows, calls } = openFakeChat();
  press({ name: 'r', ctrl: true });
  type('bfr');
  assert.deepEqual(rows(), [
    'Earlier input',
    '▸ before',
    'Up, Down choose · Enter takes it · Esc goes back',
    'find › bfr',
  ]);
  enter();
  assert.deepEqual([rows(), calls], [['› before'], []]);
});

test('/model without a name opens the list of models, and Enter switches to the chosen one', async () => {
  const models = [
    { id: 'fast', name: 'f-1', provider: 'openai', isDefault: true },
    { id: 'thorough', name: '', provider: 'anthropic' },
  ];
  const { press, type, enter, rows, calls } = openFakeChat((method) =>
    method === 'models.list' ? { models } : { status: 'ok' },
  );
  type('/model');
  enter();
  await settled();
  assert.deepEqual(rows().slice(1, 3), ['▸ fast  openai/f-1, default', '  thorough  anthropic']);
  press({ name: 'down' });
  enter();
  await settled();
  assert.deepEqual(calls.at(-1), ['workstream.command', { wsId: 'w', command: '/model thorough' }]);
});

test('a list that cannot be read, or is empty, is a line instead', async () => {
  const { type, enter, rows } = openFakeChat(() => ({ skills: [] }));
  type('/skill');
  enter();
  await settled();
  assert.deepEqual(rows(), ['Skill that this conversation follows: there is nothing to choose.', '› ']);
});

test('/resume opens the chosen conversation in a tab, /open one by its name', async () => {
  const stored = { wsId: 'w2000', name: 'garden', title: 'Roses', workdir: '/src', messageCount: 4 };
  const row = { wsId: 'w3000', sessionKey: 'k', name: 'kitchen' };
  const { type, enter, rows, opened } = openFakeChat((method) => {
    if (method === 'workstream.list') return { workstreams: [{ ...row, wsId: 'w2000', sessionKey: 's' }, row] };
    return method === 'workstream.saved' ? { workstreams: [stored] } : {};
  });
  type('/resume');
  enter();
  await settled();
  assert.deepEqual(rows()[1], '▸ garden: Roses  4 messages · /src · w2000');
  enter();
  await settled();
  type('/open w3000');
  enter();
  await settled();
  assert.deepEqual(opened, ['w2000', 'w3000']);
});

test('a tab that does not exist, and closing the only tab, are refused in one line', async () => {
  const { press, type, enter, rows } = openFakeChat();
  press({ name: '4', meta: true });
  await settled();
  assert.match(rows()[0] ?? '', /^Usage: \/tab N/);
  type('/close');
  enter();
  await settled();
  assert.deepEqual(rows(), ['This is the only tab. /quit leaves the chat.', '› ']);
});
