import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandLinesWith } from '../../testing/command-lines.ts';
import { StopReason } from '../stop-reason.ts';
import { recordRun, toShown } from '../tools/tool-fixture.ts';
import { FAKE, fakeServer, inner, openServers } from './servers-fixture.ts';

/** As in a shell. */
const variable = (name: string) => `\${${name}}`;

test('a tool of a server is offered by its name, asks, and answers between lines that the server cannot know', async (t) => {
  const it = await openServers(t, { fake: fakeServer('well') });
  assert.deepEqual(await it.ready(), [
    {
      name: 'mcp__fake__greet',
      description: '[greet of the tool server fake, described by its author] Greets somebody.',
      parameters: { type: 'object', properties: { who: { type: 'string' } } },
    },
  ]);
  const { tool: _, ...prepared } = await it.prepare('mcp__fake__greet', { who: 'Ada' });
  const shown = toShown(prepared);
  const bindTo = shown.kind === 'ready' ? shown.bindTo : undefined;
  assert.match(bindTo ?? '', /^[0-9a-f]{64} $/);
  assert.deepEqual(shown, {
    kind: 'ready',
    bindTo,
    canonicalArguments: '{"who":"Ada"}',
    subject: '{"who":"Ada"}',
    preview: 'greet of fake\n{\n  "who": "Ada"\n}',
    approvalLabel: 'mcp__fake__greet',
    needsApproval: true,
    effects: {
      list: [
        { kind: 'network', target: 'fake', certain: true },
        { kind: 'unknown', target: 'fake', certain: false },
      ],
    },
  });
  const { output, outcome } = await it.call('mcp__fake__greet', { who: 'Ada' });
  const [, mark] = /^\[answer ([0-9a-f]{12}) of the tool server fake: everything/.exec(output) ?? [];
  assert.deepEqual([inner(output), outcome], ['Hello, Ada', 'done']);
  assert.ok(output.endsWith(`\n[end of answer ${mark}]`));
  assert.deepEqual(it.starts, ['fake']);
});

test('a server that misbehaves fails its own call, is ended, and its next call works on', async (t) => {
  const ways = [
    'dies',
    'floods',
    'progress-flood',
    'chatters',
    'long-line',
    'odd-result',
    'refuses',
    'fails',
    'wrong-id',
    'asks',
  ];
  const it = await openServers(t, Object.fromEntries(ways.map((way) => [way, fakeServer(way)])));
  await it.ready();
  const results = await Promise.all(ways.map((way) => it.call(`mcp__${way}__greet`, { who: 'x' })));
  const said = Object.fromEntries(
    ways.map((way, index) => {
      const { output = '', outcome } = results[index] ?? {};
      return [way, [outcome, output.startsWith('[answer') ? inner(output) : output]];
    }),
  );
  const unknown = 'It is unknown what the call has done until then.';
  assert.deepEqual(said, {
    dies: [
      'unknown',
      `The tool server dies ended with exit code 3. It said: Segmentation fault, token [REDACTED:secret]. ${unknown}`,
    ],
    floods: ['unknown', `The tool server floods sent more messages than anybody asked for. ${unknown}`],
    'progress-flood': [
      'unknown',
      `The tool server progress-flood sent more messages than anybody asked for. ${unknown}`,
    ],
    chatters: ['unknown', `The tool server chatters writes text to its standard output that is no message. ${unknown}`],
    'long-line': ['unknown', `The tool server long-line sent a message of more than 16 MiB. ${unknown}`],
    'odd-result': said['odd-result'],
    refuses: ['failed', 'Error: who must be a name'],
    fails: ['failed', 'it is broken'],
    'wrong-id': ['done', 'Hello, x'],
    asks: ['done', '{"jsonrpc":"2.0","id":"q1","error":{"code":-32601,"message":"Method not found"}}'],
  });
  assert.match(String(said['odd-result']), /^failed,Error: /);
  await it.pool.close();
  assert.deepEqual(await commandLinesWith('misbehaving-server.ts'), []);
});

test('what a server has started ends with it, also in sessions of its own and if it ignores signals', async (t) => {
  const it = await openServers(t, { forks: fakeServer('forks') });
  await it.ready();
  assert.equal(inner((await it.call('mcp__forks__greet', { who: 'x' })).output), 'Hello, x');
  assert.equal((await commandLinesWith(`${FAKE}-child`)).length, 3);
  await it.pool.close();
  assert.deepEqual(await commandLinesWith(FAKE), []);
});

test('five hundred conversations with ten servers need ten processes', async (t) => {
  const names = Array.from({ length: 10 }, (_, index) => `s${index}`);
  const it = await openServers(t, Object.fromEntries(names.map((name) => [name, fakeServer('well')])));
  await it.ready();
  const calls = Array.from({ length: 500 }, (_, at) =>
    it.call(`mcp__s${at % 10}__greet`, { who: `${at}` }, { ...recordRun(), wsId: `ws-${at}` }),
  );
  const said = (await Promise.all(calls)).map(({ output }) => inner(output));
  assert.deepEqual(
    said,
    calls.map((_, at) => `Hello, ${at}`),
  );
  assert.deepEqual(it.starts.toSorted(), names);
  assert.equal((await commandLinesWith(FAKE)).length, 10);
});

test('a server that never answers, ends early or sends garbage is known by its state', async (t) => {
  const it = await openServers(t, {
    early: fakeServer('dies-early'),
    garbage: fakeServer('garbage'),
    missing: { ...fakeServer('well'), command: '/nowhere/server' },
    unset: fakeServer('well', { env: { TOKEN: variable('NOT_SET') } }),
    off: fakeServer('well', { enabled: false }),
    boxed: fakeServer('well', { sandbox: true }),
  });
  await it.ready();
  const states = Object.fromEntries(it.pool.list().map(({ name, state, problem }) => [name, [state, problem]]));
  assert.deepEqual(states, {
    boxed: ['failed', 'cannot run in the sandbox (a test); sandbox: false lets it run outside'],
    early: ['failed', 'ended with exit code 4'],
    garbage: ['connected', undefined],
    missing: states.missing,
    off: ['disabled', undefined],
    unset: ['failed', 'cannot be started: the environment of the daemon has no NOT_SET'],
  });
  assert.match(String(states.missing), /^failed,ended with exit code 12[67]/);
});

test('tools with odd names can be called, and what is no tool is left out', async (t) => {
  const it = await openServers(t, {
    odd: fakeServer('odd-names'),
    deep: fakeServer('deep'),
    pages: fakeServer('endless-pages'),
  });
  await it.ready();
  const [deep, odd, pages] = it.pool.list();
  assert.deepEqual(
    [deep?.tools.map(({ name }) => name), deep?.notes],
    [
      ['mcp__deep__greet', 'mcp__deep__half'],
      [
        'tool 2: the arguments of "bomb" are described with more than 24 levels or 4000 parts',
        'tool 3: it has no name',
      ],
    ],
  );
  assert.deepEqual(odd?.notes, ['tool 5: the name "greet" was used before']);
  assert.equal(pages?.tools.length, 50);
  for (const { name } of odd?.tools ?? []) assert.equal(inner((await it.call(name, { who: 'x' })).output), 'Hello, x');
});

test('with more than twenty tools, models get a search and a tool that calls; rules still see the name of the tool', async (t) => {
  const it = await openServers(t, { many: fakeServer('many') });
  const definitions = await it.ready();
  assert.deepEqual(
    definitions.map(({ name }) => name),
    ['find_tool', 'use_tool'],
  );
  const found = await it.call('find_tool', { query: 'tool17' });
  assert.match(
    found.output,
    /^\d+ of 30 tools fit\.\n\nmcp__many__tool17\n\[tool17 of the tool server many, described by its author\] Does 17\.\nArguments: \{"type":"object","properties"/,
  );
  assert.match(
    (await it.call('find_tool', { query: 'zebra' })).output,
    /^None of 30 tools fits\. There are tools of these servers: many\.$/,
  );
  const prepared = await it.prepare('use_tool', { name: 'mcp__many__tool17', arguments: { who: 'Bo' } });
  assert.equal(prepared.kind === 'ready' && prepared.approvalLabel, 'mcp__many__tool17');
  assert.equal(
    inner((await it.call('use_tool', { name: 'mcp__many__tool17', arguments: { who: 'Bo' } })).output),
    'Hello, Bo',
  );
  assert.deepEqual(
    await it.prepare('use_tool', { name: 'bash' }).then((one) => one.kind === 'refused' && one.reason),
    'Unknown tool: bash. Use find_tool to see which tools there are.',
  );
  assert.equal(prepared.kind === 'ready' && prepared.calls, 'mcp__many__tool17');
  // Conversations that began with fewer tools call them by their names.
  assert.equal(inner((await it.call('mcp__many__tool3', { who: 'Cy' })).output), 'Hello, Cy');
});

test('progress is shown line by line; a time limit and a cancel end the call at the server, too', async (t) => {
  const it = await openServers(t, { steps: fakeServer('progress'), hangs: fakeServer('hangs', { timeoutSecs: 1 }) });
  await it.ready();
  assert.deepEqual((await it.call('mcp__steps__greet', { who: 'x' })).chunks, [
    '1/3 step 1\n',
    '2/3 step 2\n',
    '3/3 step 3\n',
  ]);
  assert.deepEqual(await it.call('mcp__hangs__greet'), {
    output: '[timed out after 1 s] It is unknown what the call has done until then.',
    outcome: 'failed',
    chunks: [],
  });
  const cancel = new AbortController();
  const cancelled = it.call('mcp__hangs__greet', {}, recordRun(cancel.signal));
  setImmediate(() => cancel.abort(new StopReason('cancel', 'by a person')));
  assert.equal((await cancelled).outcome, 'cancelled');
});

test('a server gets its own variables and folder, and nothing secret of the daemon', async (t) => {
  const it = await openServers(t, { env: fakeServer('environment', { env: { MINE: `a-${variable('HOME')}` } }) });
  await it.ready();
  const { output } = await it.call('mcp__env__greet');
  const { MINE, CANARY, cwd } = JSON.parse(inner(output));
  assert.deepEqual([MINE, CANARY, cwd], ['a-/nowhere', undefined, `${it.home}/tool-servers/env`]);
});

test('a tool that is described in another way than before asks, until that is accepted', async (t) => {
  const it = await openServers(t, { fake: fakeServer('well', { autoApprove: true }) });
  await it.ready();
  const remembered = it.memory.data.servers.fake?.tools[0];
  assert.ok(remembered);
  remembered.digest = 'as it was accepted';
  remembered.description = 'Adds two numbers.';
  const ask = async () => {
    const prepared = await it.prepare('mcp__fake__greet');
    return (
      prepared.kind === 'ready' && [
        prepared.needsApproval,
        prepared.asksAnyhow,
        it.toolbox.definitions()[0]?.description,
      ]
    );
  };
  await it.pool.refresh('fake');
  const asItWas = '[greet of the tool server fake, described by its author] Adds two numbers.';
  assert.deepEqual(await ask(), [true, true, asItWas]);
  await it.pool.accept('fake');
  assert.deepEqual(await ask(), [
    false,
    undefined,
    '[greet of the tool server fake, described by its author] Greets somebody.',
  ]);
});
