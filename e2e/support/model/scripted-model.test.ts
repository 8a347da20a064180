import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startScriptedModel } from './scripted-model.ts';
import { callTools, pause, say, stall } from './scripted-steps.ts';

const ask = (url: string, messages: { role: string; content: string }[], signal?: AbortSignal) =>
  fetch(`${url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'scripted', messages }),
    ...(signal && { signal }),
  });

const user = (content: string) => ({ role: 'user', content });

/** The `data:` lines of an answer: deltas and finish reasons. */
async function linesOf(response: Response): Promise<string[]> {
  const text = await response.text();
  return text.split('\n\n').flatMap((line) => {
    if (!line.startsWith('data: {')) return line ? [line] : [];
    const [choice] = JSON.parse(line.slice(6)).choices;
    return [choice ? JSON.stringify([choice.delta, choice.finish_reason]) : 'usage'];
  });
}

test('answers come in the order of the script, and each ends automatically', async () => {
  await using model = await startScriptedModel();
  model.script(say('a', 'b'), [pause(1), say('c')]);
  assert.deepEqual(await linesOf(await ask(model.url, [user('x')])), [
    '[{"content":"a"},null]',
    '[{"content":"b"},null]',
    '[{},"stop"]',
    'usage',
    'data: [DONE]',
  ]);
  assert.match((await linesOf(await ask(model.url, [user('x')]))).join(), /"c"/);
});

test('parallel calls arrive in fragments that alternate', async () => {
  await using model = await startScriptedModel();
  model.script(callTools({ name: 'a', arguments: { long: 'text' } }, { name: 'b', arguments: '{' }));
  const lines = await linesOf(await ask(model.url, [user('x')]));
  assert.deepEqual(
    lines.map((line) => /"index":(\d)/.exec(line)?.[1] ?? line),
    ['0', '1', '0', '1', '0', '0', '[{},"tool_calls"]', 'usage', 'data: [DONE]'],
  );
});

test('a rule answers according to the last user message, one step for each request', async () => {
  await using model = await startScriptedModel();
  model.when('list', [callTools({ name: 'ls', arguments: {} })], [say('listed')]);
  model.when('hello', say('hi'));
  const first = await linesOf(await ask(model.url, [user('please list')]));
  const second = await linesOf(
    await ask(model.url, [user('please list'), { role: 'assistant', content: '' }, { role: 'tool', content: 'x' }]),
  );
  const other = await linesOf(await ask(model.url, [user('hello')]));
  assert.deepEqual(
    [/ls/.test(first.join()), /listed/.test(second.join()), /hi/.test(other.join())],
    [true, true, true],
  );
});

test('a request without a script gets an error that says so', async () => {
  await using model = await startScriptedModel();
  const response = await ask(model.url, [user('x')]);
  assert.deepEqual(
    [response.status, await response.json()],
    [400, { error: { message: 'Nothing is scripted for request 0.' } }],
  );
});

test('requests are recorded with the way their connection ended', async () => {
  await using model = await startScriptedModel();
  const hold = stall();
  model.script([say('a'), hold], say('b'));
  const arrived = model.request(0);
  const abort = new AbortController();
  await ask(model.url, [user('one')], abort.signal);
  await hold.reached;
  abort.abort();
  const { body, closed } = await arrived;
  await (await ask(model.url, [user('two')])).text();
  const second = await model.request(1);
  assert.deepEqual(
    [body.messages, await closed, await second.closed],
    [[user('one')], { whole: false }, { whole: true }],
  );
});

test('a key is required if one is configured', async () => {
  await using model = await startScriptedModel({ key: 'k' });
  const refused = await fetch(`${model.url}/models`);
  const allowed = await fetch(`${model.url}/models`, { headers: { authorization: 'Bearer k' } });
  assert.deepEqual([refused.status, allowed.status, model.others], [401, 200, ['GET /v1/models Bearer k']]);
});
