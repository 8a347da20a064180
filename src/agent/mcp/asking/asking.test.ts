import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { StopReason } from '../../stop-reason.ts';
import type { AskedInput, GivenInput, InputDesk } from '../../tools/person/asked-input.ts';
import { recordRun } from '../../tools/tool-fixture.ts';
import { fakeServer, openServers } from '../servers-fixture.ts';

const ASKING = fileURLToPath(new URL('asking-server.ts', import.meta.url));
const asking = (way: string) => fakeServer('', { args: [ASKING, way] });
const inner = (output: string): string => output.split('\n').slice(1, -1).join('\n');

/** A person who answers the questions in order, and then waits. */
function person(...given: (GivenInput | string)[]) {
  const asked: AskedInput[] = [];
  const withdrawn: string[] = [];
  const inputs: InputDesk = {
    resumed: undefined,
    ask(question, signal) {
      asked.push(question);
      const next = given.shift();
      if (next !== undefined)
        return Promise.resolve(typeof next === 'string' ? { kind: 'answered', answer: { text: next } } : next);
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          withdrawn.push(question.question.text.split('\n')[0] ?? '');
          reject(signal.reason);
        });
      });
    },
  };
  return { asked, withdrawn, inputs };
}

async function open(t: Parameters<typeof openServers>[0], way: string, more = {}) {
  const it = await openServers(t, { s: { ...asking(way), ...more } });
  await it.ready();
  const call = (inputs: InputDesk, signal?: AbortSignal, wsId?: string) =>
    it.call('mcp__s__act', {}, { ...recordRun(signal), inputs, ...(wsId !== undefined && { wsId }) });
  return { ...it, ask: call };
}

test('a form is asked field by field; entries that do not fit are asked for again', async (t) => {
  const it = await open(t, 'form');
  const ada = person('many', '70000', '8080', 'GREEN');
  const { output, outcome } = await it.ask(ada.inputs);
  assert.deepEqual([inner(output), outcome], ['{"action":"accept","content":{"port":8080,"color":"g"}}', 'done']);
  const where = 'Your answer goes to that server, and stays in this conversation. Do not enter passwords or keys.';
  assert.deepEqual(ada.asked[0], {
    from: 'the tool server s asks',
    question: {
      text: `The tool server s asks: Which port?\n\nPort (1 of 2)\nAn answer is needed.\n${where}`,
      choices: [],
    },
    round: 0,
  });
  const lines = ada.asked.map(({ question }) => question.text.split('\n')[2]);
  assert.deepEqual(lines, ['Port (1 of 2)', 'A number is needed.', 'At most 65535.', 'color (2 of 2)']);
  assert.deepEqual(ada.asked[3]?.question.choices, [{ label: 'red' }, { label: 'green' }]);
});

test('what is left empty has its default; a refusal declines the form; without anybody it is cancelled', async (t) => {
  const it = await open(t, 'defaults');
  const said = async (...given: (GivenInput | string)[]) => inner((await it.ask(person(...given).inputs)).output);
  assert.equal(
    await said('', { kind: 'answered', answer: {} }),
    '{"action":"accept","content":{"name":"Ada","sure":true}}',
  );
  assert.equal(
    await said('Bo', { kind: 'answered', answer: { choice: 'no' } }),
    '{"action":"accept","content":{"name":"Bo","sure":false}}',
  );
  assert.equal(await said('Bo', { kind: 'denied' }), '{"action":"decline"}');
  assert.equal(await said({ kind: 'left' }), '{"action":"cancel"}');
  const { output } = await it.call('mcp__s__act'); // where nobody can be asked
  assert.equal(inner(output), '{"action":"cancel"}');
});

test('nobody is asked for passwords, for ten thousand fields, or to open a file', async (t) => {
  const why = {
    secret: 'it asks for a password, a key or the like, which no form may do',
    wide: 'its form has 10000 fields, more than 12',
    file: 'its address does not begin with https://',
  };
  for (const [way, reason] of Object.entries(why)) {
    const it = await open(t, way);
    const { asked, inputs } = person();
    const { output, outcome } = await it.ask(inputs);
    const note = `[A question of the server was not shown to the person: ${reason}.]`;
    assert.deepEqual([inner(output), outcome, asked], [`{"action":"decline"}\n${note}`, 'done', []]);
  }
});

test('patterns are never run, and characters that deceive are written out', async (t) => {
  const hostile = await open(t, 'hostile');
  const word = `${'a'.repeat(60)}!`;
  assert.equal(
    inner((await hostile.ask(person(word).inputs)).output),
    `{"action":"accept","content":{"word":"${word}"}}`,
  );
  const odd = await open(t, 'odd');
  const { asked, inputs } = person('x');
  assert.equal(inner((await odd.ask(inputs)).output), '{"action":"accept","content":{"odd":"x"}}');
  assert.deepEqual(asked[0]?.question.text.split('\n').slice(0, 3), [
    'The tool server s asks: Odd \\u202e\\u0007 message',
    '',
    'A\\nB',
  ]);
});

test('a page to open is shown with its host', async (t) => {
  const it = await open(t, 'url');
  const { asked, inputs } = person({ kind: 'answered', answer: { choice: 'I have opened it' } });
  assert.equal(inner((await it.ask(inputs)).output), '{"action":"accept"}');
  assert.deepEqual(asked[0]?.question, {
    text: [
      'The tool server s asks you to open a page of login.example: Please log in.',
      '',
      'https://login.example/start?x=1',
      'Open it only if you know login.example and expected this. Headgate has not looked at the page.',
    ].join('\n'),
    choices: [{ label: 'I have opened it' }],
  });
});

test('one call asks at most twenty questions', async (t) => {
  const it = await open(t, 'endless');
  const { asked, inputs } = person(...Array.from({ length: 50 }, () => 'yes'));
  const { output } = await it.ask(inputs);
  assert.equal(asked.length, 20);
  assert.match(
    output,
    /"action":"cancel".*\n\[A question of the server was not shown to the person: it was more than the 20 /,
  );
});

test('a question ends with its call, with its server, and when the server or a person takes the call back', async (t) => {
  for (const [way, result] of [
    ['leaves', /"left":true/],
    ['withdraws', /"withdrawn":true/],
    ['dies', /ended with exit code 3/],
  ] as const) {
    const it = await open(t, way);
    const { withdrawn, inputs } = person();
    assert.match((await it.ask(inputs)).output, result);
    assert.ok(withdrawn.length <= 1, way);
    if (way !== 'leaves') assert.deepEqual(withdrawn, ['The tool server s asks: Still there?']);
  }
  const it = await open(t, 'form');
  const { asked, withdrawn, inputs } = person();
  const cancel = new AbortController();
  const running = it.ask(inputs, cancel.signal);
  while (asked.length === 0) await new Promise(setImmediate);
  cancel.abort(new StopReason('cancel', 'by a person'));
  assert.deepEqual([(await running).outcome, withdrawn.length], ['cancelled', 1]);
});

test('a question does not reach another conversation that uses the server at the same time', async (t) => {
  const it = await open(t, 'defaults');
  const [first, second] = [person(), person()];
  const running = it.ask(first.inputs);
  while (first.asked.length === 0) await new Promise(setImmediate);
  const cancelled = await it.ask(second.inputs, undefined, 'ws-2');
  assert.deepEqual([inner(cancelled.output), second.asked], ['{"action":"cancel"}', []]);
  assert.match(cancelled.chunks.join(''), /nobody knows whose it is/);
  await it.pool.close();
  assert.equal((await running).outcome, 'unknown');
});

test('without sessions, a question is an answer: the call goes on with what was said, also after a restart', async (t) => {
  const it = await open(t, 'modern');
  const ada = person('8080');
  const { output } = await it.ask(ada.inputs);
  const answered = '{"inputResponses":{"port":{"action":"accept","content":{"port":8080}}},"requestState":"state-1"}';
  assert.equal(inner(output), answered);
  const [{ resume, round } = { resume: '' }] = ada.asked;
  assert.equal(round, 0);
  assert.match(resume ?? '', /"state":"state-1"/);
  const later = person('8080');
  const resumed = { ...later.inputs, resumed: { round: 0, resume: resume ?? '' } };
  assert.equal(inner((await it.ask(resumed)).output), answered);
});

test('a stop of the daemon leaves such a call open, and other requests of servers are refused', async (t) => {
  const it = await open(t, 'modern');
  const { asked, inputs } = person();
  const stop = new AbortController();
  const running = it.ask(inputs, stop.signal);
  const left = assert.rejects(running, { name: 'CallInterrupted' });
  while (asked.length === 0) await new Promise(setImmediate);
  stop.abort(new StopReason('shutdown', 'the daemon stops'));
  await left;
  const roots = await open(t, 'modern-roots');
  assert.equal(inner((await roots.ask(person().inputs)).output), 'Error: asks for roots/list, which is refused');
  const circle = await open(t, 'modern-circle');
  assert.equal(inner((await circle.ask(person().inputs)).output), 'Error: still asks after 10 rounds of answers');
});
