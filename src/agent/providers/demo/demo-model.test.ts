import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import type { Message, ToolMessage } from '../../message.ts';
import type { ModelPart, ModelRequest } from '../model.ts';
import { createDemoModel } from './demo-model.ts';

const TOOLS = ['bash', 'read_file', 'write_file', 'edit_file', 'search', 'glob', 'list_directory'];

function request(messages: Message[], { typedByPerson = true } = {}): ModelRequest {
  const tools = TOOLS.map((name) => ({ name, description: '', parameters: {} }));
  return { system: '', messages, tools, effort: 'medium', typedByPerson };
}

const user = (content: string): Message => ({ role: 'user', content });

async function ask(asked: ModelRequest): Promise<{ parts: ModelPart[]; tookMs: number }> {
  const clock = fakeClock();
  const parts: ModelPart[] = [];
  const reading = (async () => {
    for await (const part of createDemoModel({ clock }).stream(asked, new AbortController().signal)) parts.push(part);
    return 'read';
  })();
  while ((await Promise.race([reading, clock.advance(5)])) !== 'read');
  return { parts, tookMs: clock.monotonic() };
}

const textOf = (parts: ModelPart[], type: 'content' | 'reasoning' = 'content') =>
  parts.map((part) => (part.type === type ? part.text : '')).join('');

const callsOf = (parts: ModelPart[]) =>
  parts.flatMap((part) => (part.type === 'tool_call' ? [[part.call.name, JSON.parse(part.call.arguments)]] : []));

test('text that the daemon adds to a message is not part of a command', async () => {
  const added = '\n\nSystem: [2026-11-21 04:44 UTC] Cron (error): why (not)\nSystem: [2026-11-21 04:45 UTC] more';
  const { parts } = await ask(request([user(`run ls${added}`)]));
  assert.deepEqual(callsOf(parts), [['bash', { command: 'ls' }]]);
  const typed = 'run echo a\n\nSystem: [x] y\necho b';
  assert.deepEqual(callsOf((await ask(request([user(typed)]))).parts), [['bash', { command: typed.slice(4) }]]);
});

test('help lists every command and says that it is a demo', async () => {
  const text = textOf((await ask(request([user('help')]))).parts);
  for (const word of [
    'demo',
    'say TEXT',
    'think',
    'run COMMAND',
    'two',
    'read',
    'write',
    'edit',
    'search',
    'list',
    'long N',
  ]) {
    assert.ok(text.includes(word), word);
  }
});

test('say streams word by word and ends with stop', async () => {
  const { parts } = await ask(request([user('say hello there')]));
  assert.deepEqual(parts.slice(0, 2), [
    { type: 'content', text: 'hello' },
    { type: 'content', text: ' there' },
  ]);
  const finish = parts.at(-1);
  assert.equal(finish?.type === 'finish' && finish.reason, 'stop');
});

test('think gives reasoning before content', async () => {
  const { parts } = await ask(request([user('think cats')]));
  assert.match(textOf(parts, 'reasoning'), /cats/);
  assert.equal(parts[0]?.type, 'reasoning');
  assert.match(textOf(parts), /cats/);
});

for (const [message, calls] of [
  ['run echo hi; ls', [['bash', { command: 'echo hi; ls' }]]],
  [
    'two ls && pwd',
    [
      ['bash', { command: 'ls' }],
      ['bash', { command: 'pwd' }],
    ],
  ],
  ['read src/a.ts', [['read_file', { path: 'src/a.ts' }]]],
  ['Write a.txt: one: two', [['write_file', { path: 'a.txt', content: 'one: two\n' }]]],
  ['edit a.txt: one => 1', [['edit_file', { path: 'a.txt', old_string: 'one', new_string: '1' }]]],
  ['search TODO|FIXME', [['search', { query: 'TODO|FIXME' }]]],
  ['glob src/*.ts', [['glob', { pattern: 'src/*.ts' }]]],
  ['list', [['list_directory', { path: '.' }]]],
  ['list src', [['list_directory', { path: 'src' }]]],
  ['What is in this folder?', [['list_directory', { path: '.' }]]],
  ['list the files here', [['list_directory', { path: '.' }]]],
  ['List all files.', [['list_directory', { path: '.' }]]],
  ['what is new here?', [['list_directory', { path: '.' }]]],
  ['Explain what this project does', [['list_directory', { path: '.' }]]],
] as const) {
  test(`"${message}" asks for its tools`, async () => {
    const { parts } = await ask(request([user(message)]));
    assert.deepEqual(callsOf(parts), calls);
    const finish = parts.at(-1);
    assert.equal(finish?.type === 'finish' && finish.reason, 'tool_calls');
  });
}

test('call ids are unique in the whole conversation', async () => {
  const earlier: Message = {
    role: 'assistant',
    content: '',
    toolCalls: [{ id: 'demo', name: 'bash', arguments: '{}' }],
  };
  const { parts } = await ask(request([user('run ls'), earlier, user('two ls && pwd')]));
  const ids = parts.flatMap((part) => (part.type === 'tool_call' ? [part.call.id] : []));
  assert.deepEqual(ids, ['demo_2', 'demo_3']);
});

test('results are summarised in the order of the calls', async () => {
  const result = (callId: string): Message => ({ role: 'tool', callId, name: 'bash', output: callId, outcome: 'done' });
  const toolCalls = ['first', 'second'].map((id) => ({ id, name: 'bash', arguments: '{}' }));
  const calls: Message = { role: 'assistant', content: '', toolCalls };
  const { parts } = await ask(request([user('two a && b'), calls, result('second'), result('first')]));
  const text = parts.flatMap((part) => (part.type === 'content' ? [part.text] : [])).join('');
  assert.match(text, /first.*second/s);
});

test('tool results are summarised: output, error, denial', async () => {
  const result = (output: string, outcome: ToolMessage['outcome']): Message => ({
    role: 'tool',
    callId: 'c',
    name: 'bash',
    output,
    outcome,
  });
  const call: Message = { role: 'assistant', content: '', toolCalls: [] };
  const long = Array.from({ length: 14 }, (_, n) => `row ${n}`).join('\n');
  const { parts } = await ask(
    request([
      user('run x'),
      call,
      result(long, 'done'),
      result('boom', 'failed'),
      result('Denied by user: not now', 'denied'),
    ]),
  );
  const text = textOf(parts);
  assert.match(text, /`bash` answered:\n\n {4}row 0\n/);
  assert.match(text, /and 4 more lines/);
  assert.match(text, /`bash` failed:\n\n {4}boom/);
  assert.match(text, /You did not allow `bash` \(Denied by user: not now\)/);
  assert.deepEqual(callsOf(parts), []);
});

test('an explanation reads the README, if there is one, and summarises it', async () => {
  const asked = user('Explain what this project does');
  const called: Message = { role: 'assistant', content: '', toolCalls: [] };
  const listed = (output: string): Message => ({
    ...{ role: 'tool', callId: 'a', name: 'list_directory', output, outcome: 'done' },
  });
  const next = await ask(request([asked, called, listed('src/\nREADME.md  1.2 KB\n')]));
  assert.deepEqual(callsOf(next.parts), [['read_file', { path: 'README.md' }]]);
  const without = await ask(request([asked, called, listed('src/\nnot-readme.mdx\n')]));
  assert.deepEqual(callsOf(without.parts), []);
  assert.match(textOf(without.parts), /`list_directory` answered/);
  const read: Message = { role: 'tool', callId: 'b', name: 'read_file', output: '1\tA garden', outcome: 'done' };
  const last = await ask(request([asked, called, listed('README.md'), called, read]));
  assert.deepEqual(callsOf(last.parts), []);
  assert.match(textOf(last.parts), /A garden/);
});

test('a message that only resembles a suggestion runs no tools', async () => {
  for (const text of ['list the files here and delete them', 'please list', 'explain this']) {
    const { parts } = await ask(request([user(text)]));
    assert.deepEqual(
      callsOf(parts).filter(([, args]) => args.path === '.'),
      [],
      text,
    );
  }
});

test('any other message is answered with what to configure', async () => {
  const text = textOf((await ask(request([user('help me fix my code')]))).parts);
  assert.match(text, /demo model/);
  assert.match(text, /OPENAI_BASE_URL/);
});

test('a command without its argument shows its usage', async () => {
  assert.match(textOf((await ask(request([user('edit a.txt')]))).parts), /edit PATH: OLD => NEW/);
});

test('an answer takes less than a second, unless a long one was requested', async () => {
  assert.ok((await ask(request([user('help')]))).tookMs < 1_000);
  const long = await ask(request([user('long 100')]));
  assert.equal(textOf(long.parts).split('\n').length, 100);
  assert.ok(long.tookMs >= 1_500);
});

test('an unattended run is refused with a note that this is the demo model', async () => {
  await assert.rejects(ask(request([user('run rm -rf x')], { typedByPerson: false })), {
    name: 'ProviderError',
    kind: 'refused',
    message: /built-in demo model/,
  });
});

test('aborting ends the answer with the reason', async () => {
  const clock = fakeClock();
  const abort = new AbortController();
  const parts = createDemoModel({ clock })
    .stream(request([user('long 10')]), abort.signal)
    [Symbol.asyncIterator]();
  const next = parts.next();
  abort.abort(new Error('enough'));
  await assert.rejects(next, { message: 'enough' });
});
