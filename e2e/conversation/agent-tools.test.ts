import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { access, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { toPdf } from '../../src/agent/tools/documents/pdf-fixture.ts';
import { commandLinesWith } from '../../src/testing/command-lines.ts';
import { needs } from '../../src/testing/needs.ts';
import { untilTrue } from '../../src/testing/until-true.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const sandboxed = await needs('bubblewrap');
const diagnostics = [{ files: '*.{note,memo}', command: 'echo "$@" token=$(cat "$1"); touch left; exit 3' }];
const secret = ['ghp', 'A1b2C3d4E5f6A1b2C3d4E5f6A1b2C3d4E5f6'].join('_');
const tools = ['bash'];
const hooks = [
  {
    at: 'before_tool',
    tools,
    command: `input=$(cat); echo careful >&2
case $input in
  *'rm -rf'*) echo '{"decision": "block", "reason": "not ${secret}"}';;
  *linger*) [ -e lingers ] || { touch lingers; exec sleep 98765; };;
  *) echo "$input" > before.json;;
esac`,
  },
  { at: 'after_tool', tools, command: `cat > after.json; echo '{"context": "it was ${secret}"}'` },
  { at: 'after_tool', tools, command: 'echo oops; exit 7' },
  { at: 'attention', command: 'cat > asked.json' },
  { at: 'run_end', command: 'input=$(cat); case $input in *walked*) echo "$input" > end.json; exit 9;; esac' },
];
const { model, daemon } = await openStage({ config: { tools: { diagnostics }, hooks } });

const workFile = (name: string) => path.join(daemon.home, 'workspace', name);

/** The results of tools in the last request to the model. */
const resultsHeard = () =>
  (model.requests.at(-1)?.body.messages ?? []).flatMap(({ role, content }) => (role === 'tool' ? [content] : []));

test('files are found by a pattern, and changed together by several edits and by a patch', async () => {
  await using talk = await openConversation(daemon);
  await writeFile(workFile('north.poem'), 'snow falls\nice grows\n');
  await writeFile(workFile('south.poem'), 'sun burns\n');
  const read = (path: string) => ({ name: 'read_file', arguments: { path } });
  const edits = [
    { old_string: 'snow', new_string: 'rain' },
    { old_string: 'ice', new_string: 'moss' },
  ];
  const patch = [
    ...['*** Begin Patch', '*** Update File: north.poem', '@@', '-rain falls', '+rain stops', ' moss grows'],
    ...['*** Update File: south.poem', '*** Move to: poems/south.poem', '-sun burns', '+sun sets', '*** End Patch'],
  ].join('\n');
  model.when(
    'change the poems',
    callTools({ name: 'glob', arguments: { pattern: '*.poem' } }),
    callTools(read('north.poem'), read('south.poem')),
    callTools({ name: 'edit_file', arguments: { path: 'north.poem', edits } }),
    callTools({ name: 'apply_patch', arguments: { patch: patch.replace('-sun burns', '-sun shines') } }),
    callTools({ name: 'apply_patch', arguments: { patch } }),
    say('done'),
  );
  const { answer } = await talk.ask('change the poems');
  for (const tool of ['edit_file', 'apply_patch']) {
    const asked = await talk.until('approve_request', ({ items }) => items[0]?.func_name === tool);
    await talk.decide(asked.approval_id, { approved: true });
  }
  await answer;
  assert.equal(await readFile(workFile('north.poem'), 'utf8'), 'rain stops\nmoss grows\n');
  assert.equal(await readFile(workFile('poems/south.poem'), 'utf8'), 'sun sets\n');
  await assert.rejects(access(workFile('south.poem')));
  const results = resultsHeard().map((text) => String(text).split('\n'));
  assert.deepEqual(
    [results[0]?.toSorted(), ...results.slice(3)],
    [
      ['north.poem', 'south.poem'],
      ['Replaced north.poem (2 lines).'],
      [
        'The patch was not applied.',
        'south.poem: Hunk 1 (line 9 of the patch): its first line "sun shines" was not found.',
      ],
      ['Changed north.poem (2 lines).', 'Deleted south.poem.', 'Created poems/south.poem (1 line).'],
    ],
  );
  const { approvals } = await talk.agree();
  assert.equal(approvals.length, 2);
});

test('the checklist of the agent reaches clients with each call, is in snapshots until it is cleared', async () => {
  await using talk = await openConversation(daemon);
  const todo = (...items: { text: string; status: string }[]) => callTools({ name: 'todo', arguments: { items } });
  const open = [
    { text: 'sow', status: 'in_progress' as const },
    { text: 'reap', status: 'pending' as const },
  ];
  const sown = [{ text: 'sow', status: 'done' as const }, open[1]];
  model.when(
    'plan the year',
    todo(...open),
    callTools({ name: 'todo', arguments: { items: [{ text: '' }] } }),
    todo({ text: 'sow', status: 'done' }, { text: 'reap', status: 'pending' }),
    say('ready'),
  );
  await (await talk.ask('plan the year')).answer;
  const results = talk.seen.flatMap(({ event }) => (event.type === 'tool_result' ? [event.todo] : []));
  assert.deepEqual(results, [open, undefined, sown]);
  const { snapshot } = await talk.client.call('workstream.get', { wsId: talk.wsId });
  assert.deepEqual(snapshot.todo, sown);
  await talk.agree();
  await talk.client.call('workstream.command', { wsId: talk.wsId, command: '/clear' });
  const cleared = await talk.client.call('workstream.get', { wsId: talk.wsId });
  assert.equal(cleared.snapshot.todo, undefined);
});

test('the text of a PDF is read, and a cell of a notebook replaced', async () => {
  await using talk = await openConversation(daemon);
  await writeFile(workFile('letter.pdf'), toPdf(['Dear all', 'Yours']));
  const cells = [{ cell_type: 'code', metadata: {}, source: 'x = 1', outputs: [], execution_count: 1 }];
  await writeFile(workFile('sums.ipynb'), JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 4 }));
  model.when(
    'read the letter',
    callTools({ name: 'read_file', arguments: { path: 'letter.pdf', pages: '2' } }),
    callTools({ name: 'read_file', arguments: { path: 'sums.ipynb' } }),
    callTools({
      name: 'edit_notebook',
      arguments: { path: 'sums.ipynb', action: 'replace', cell: 1, source: 'x = 2' },
    }),
    say('done'),
  );
  const { answer } = await talk.ask('read the letter');
  const { approval_id: approvalId, items } = await talk.until('approve_request');
  assert.deepEqual(
    items.map(({ header, preview_type }) => [header, preview_type]),
    [['edit_notebook: sums.ipynb', 'diff']],
  );
  await talk.decide(approvalId, { approved: true });
  await answer;
  assert.deepEqual(resultsHeard(), [
    '--- page 2 ---\nYours\n[page 2 of 2]',
    '--- cell 1, code ---\nx = 1\n\n[cells 1 to 1 of 1]',
    'Replaced sums.ipynb (1 line).',
  ]);
  assert.deepEqual(JSON.parse(await readFile(workFile('sums.ipynb'), 'utf8')).cells[0].source, ['x = 2']);
  await talk.agree();
});

test(
  'after a change, the agent reads what the configured commands say, guarded and without traces',
  sandboxed,
  async () => {
    await using talk = await openConversation(daemon);
    model.when(
      'note this',
      callTools({ name: 'write_file', arguments: { path: 'a.note', content: `${secret}\n` } }),
      say('done'),
    );
    const { answer } = await talk.ask('note this');
    const { approval_id: approvalId } = await talk.until('approve_request');
    await talk.decide(approvalId, { approved: true });
    await answer;
    const [written] = resultsHeard();
    assert.equal(
      written,
      `Created a.note (1 line).\n\n[diagnostics: ${diagnostics[0]?.command}: exit code 3]\na.note token=[REDACTED:api_key]\ntouch: cannot touch 'left': Read-only file system`,
    );
    await assert.rejects(access(workFile('left')));
    await talk.agree();
  },
);

test('an image that a tool has read reaches the model after the results, also after a restart', async () => {
  await using talk = await openConversation(daemon);
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  await writeFile(workFile('dot.png'), png);
  await writeFile(workFile('dots.txt'), 'one dot\n');
  model.when(
    'look at the dot',
    callTools(
      { name: 'read_file', arguments: { path: 'dot.png' } },
      { name: 'read_file', arguments: { path: 'dots.txt' } },
    ),
  );
  model.when('that read_file has read', say('I see a dot.'));
  model.when('and now', say('Still a dot.'));
  await (await talk.ask('look at the dot')).answer;
  const shown = [
    { role: 'tool', content: `[image dot.png, image/png, ${png.length} bytes]` },
    { role: 'tool', content: '     1\tone dot' },
    {
      role: 'user',
      content: [
        { type: 'text', text: `[The image "dot.png" (image/png, ${png.length} bytes) that read_file has read:]` },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${png.toString('base64')}` } },
      ],
    },
  ];
  const heard = () =>
    (model.requests.at(-1)?.body.messages ?? []).slice(3, 6).map(({ role, content }) => ({ role, content }));
  assert.deepEqual(heard(), shown);
  await daemon.restart();
  await talk.reconnect();
  await (await talk.ask('and now')).answer;
  assert.deepEqual(heard(), shown);
  await talk.agree();
});

test(
  'hooks see calls and questions, block a call, and add to a result; one that fails is reported',
  sandboxed,
  async () => {
    await using talk = await openConversation(daemon);
    const bash = (command: string) => ({ name: 'bash', arguments: { command } });
    model.when(
      'take a walk',
      callTools(bash(`touch walk # ${secret}`), bash('touch kept; rm -rf walk')),
      say('walked'),
    );
    const question = await talk.ask('take a walk');
    const { approval_id: approvalId } = await talk.until('approve_request');
    await talk.decide(approvalId, { approved: true });
    await question.answer;
    await talk.until('info', ({ message }) => message.includes('run_end'));
    const results = talk.seen.flatMap(({ event }) => (event.type === 'tool_result' ? [event] : []));
    const byName = results.toSorted((a, b) => a.outcome.localeCompare(b.outcome));
    assert.deepEqual(
      byName.map(({ outcome, output }) => [outcome, output]),
      [
        ['blocked', 'Blocked by a hook: not [REDACTED:api_key]'],
        [
          'done',
          `[no output]\n\n[hook: cat > after.json; echo '{"context": "it was [REDACTED:api_key]]\nit was [REDACTED:api_key]`,
        ],
      ],
    );
    await access(workFile('walk'));
    await assert.rejects(access(workFile('kept')));
    const readHook = async (name: string) => JSON.parse(await readFile(workFile(name), 'utf8'));
    const [blocked, done] = byName;
    const common = {
      version: 1,
      workstream: talk.wsId,
      run: question.runId,
      folder: path.join(daemon.home, 'workspace'),
    };
    const call = {
      ...{ ...common, call: done?.call_id, tool: 'bash' },
      arguments: { command: 'touch walk # [REDACTED:api_key]' },
    };
    assert.deepEqual(await readHook('before.json'), { ...call, moment: 'before_tool' });
    const result = { outcome: 'done', exit_code: 0, output: '[no output]', output_bytes: 11 };
    assert.deepEqual(await readHook('after.json'), { ...call, ...result, moment: 'after_tool' });
    assert.deepEqual(await readHook('asked.json'), {
      ...{ ...common, moment: 'attention', approval: approvalId, kind: 'tools' },
      calls: [
        { call: done?.call_id, tool: 'bash', subject: 'touch walk # [REDACTED:api_key]' },
        { call: blocked?.call_id, tool: 'bash', subject: 'touch kept; rm -rf walk' },
      ],
    });
    assert.deepEqual(await readHook('end.json'), { ...common, moment: 'run_end', status: 'ok', summary: 'walked' });
    const notices = talk.seen.flatMap(({ event }) => (event.type === 'info' ? [event.message] : []));
    assert.deepEqual(notices, [
      'The hook “echo oops; exit 7” (after_tool) did not answer: exit code 7. It printed: oops',
      `The hook “${hooks[4]?.command.slice(0, 80)}” (run_end) did not answer: exit code 9.`,
    ]);
    const { messages } = await talk.client.call('workstream.history', { wsId: talk.wsId });
    const rulings = messages.flatMap((message) => (message.role === 'tool' ? [[message.outcome, message.ruling]] : []));
    assert.deepEqual(Object.fromEntries(rulings).blocked, { verdict: 'block', reason: 'hook' });
    await talk.agree();
  },
);

test(
  'a kill and a cancel end a hook that runs; after a restart its call starts, without an unknown outcome',
  sandboxed,
  async () => {
    await using talk = await openConversation(daemon);
    model.when('linger', callTools({ name: 'bash', arguments: { command: 'echo linger' } }), say('gone'));
    const { answer, runId } = await talk.ask('linger');
    answer.catch(() => undefined); // the connection is lost
    await untilTrue(() => existsSync(workFile('lingers')));
    await daemon.kill9();
    await daemon.restart();
    await talk.reconnect();
    await talk.ended({ runId });
    const results = talk.seen.flatMap(({ event }) => (event.type === 'tool_result' ? [event.outcome] : []));
    assert.deepEqual([results, await commandLinesWith('sleep 98765')], [['done'], []]);
    await rm(workFile('lingers'));
    model.when('wait here', callTools({ name: 'bash', arguments: { command: 'echo linger' } }));
    const waiting = await talk.ask('wait here');
    await untilTrue(() => existsSync(workFile('lingers')));
    await talk.client.call('workstream.cancel', { wsId: talk.wsId });
    await assert.rejects(waiting.answer, /cancelled/);
    await talk.ended(waiting);
    const ends = talk.seen.flatMap(({ event }) => (event.type === 'tool_result' ? [event.outcome] : []));
    const notices = talk.seen.filter(({ event }) => event.type === 'info' && event.message.includes('before_tool'));
    assert.deepEqual([ends, notices, await commandLinesWith('sleep 98765')], [['done', 'cancelled'], [], []]);
  },
);
