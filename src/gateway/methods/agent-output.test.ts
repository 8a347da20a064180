import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callerOf, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

const outputSchema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
const ASK = { message: 'give me data', idempotencyKey: 'k1', outputSchema };
const FINAL = { runId: 'k1', status: 'ok', summary: 'completed', output: { a: 'b' } };
const SUMMARY = "The answer does not fit the JSON Schema of the request: must have required property 'a'.";
const ERRORS = [{ path: '', message: "must have required property 'a'" }];

const refusalOf = (gateway: WholeGateway, params: object = ASK) =>
  Promise.resolve(gateway.gateway.dispatch('agent', params, callerOf())).then(
    () => assert.fail('it was not refused'),
    ({ code, message, details, payload }) => ({ code, message, details, payload }),
  );

/** Checks run in a thread, so turns of the event loop cannot be counted. */
async function reallyReaches(gateway: WholeGateway, type: string): Promise<void> {
  const main = await gateway.main();
  while (!(await gateway.events(main)).some((event) => event.type === type)) await new Promise(setImmediate);
}

test('`agent` answers with data that fits, also to a repeat after a restart; `agent.wait` has it, too', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn('Sure: no.');
  gateway.puppet.turn('```json\n{"a": "b"}\n```');
  assert.deepEqual(await gateway.call('agent', ASK), FINAL);
  for (let round = 0; round < 2; round += 1) {
    const { status, output } = await gateway.call('agent.wait', { runId: 'k1', timeoutMs: 0 });
    assert.deepEqual([status, output], ['ok', { a: 'b' }]);
    assert.deepEqual(await gateway.call('agent', ASK), FINAL);
    await gateway.restart();
  }
  assert.equal(gateway.puppet.requests.length, 2);
  const main = await gateway.main();
  const ended = (await gateway.events(main)).findLast((event) => event.type === 'ws_state');
  assert.deepEqual(ended?.type === 'ws_state' && ended.run, { run_id: 'k1', status: 'ok', output: { a: 'b' } });
});

test('people do not see what the model is told of the schema', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn('{"a": "b"}');
  await gateway.call('agent', ASK);
  const { messages } = await gateway.call('workstream.history', { wsId: await gateway.main() });
  assert.deepEqual(
    messages.map(({ content }) => content),
    ['give me data', '{"a": "b"}'],
  );
  const [told] = gateway.puppet.requests;
  assert.match(JSON.stringify(told?.messages.at(-1)), /fits this JSON Schema/);
});

test('a run that never fits is answered OUTPUT_MISMATCH with its errors, also after a restart', async () => {
  await using gateway = await wholeGateway();
  for (let n = 0; n < 3; n += 1) gateway.puppet.turn('{}');
  const refused = {
    code: 'OUTPUT_MISMATCH',
    message: SUMMARY,
    details: { errors: ERRORS },
    payload: { runId: 'k1', status: 'error', summary: SUMMARY },
  };
  for (let round = 0; round < 2; round += 1) {
    assert.deepEqual(await refusalOf(gateway), refused);
    const { status, error, outputErrors } = await gateway.call('agent.wait', { runId: 'k1', timeoutMs: 0 });
    assert.deepEqual([status, error, outputErrors], ['error', SUMMARY, ERRORS]);
    await gateway.restart();
  }
  assert.equal(gateway.puppet.requests.length, 3);
});

test('after a restart in the middle, the answer still has to fit, and refusals count on', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn('{}');
  gateway.puppet.turn('half an ans', new Promise(() => undefined));
  gateway.puppet.turn('{"wrong": 1}');
  gateway.puppet.turn('{"a": "b"}');
  const cut = gateway.call('agent', ASK).catch(() => undefined);
  await reallyReaches(gateway, 'info');
  await gateway.restart();
  void cut;
  assert.deepEqual(await gateway.call('agent', ASK), FINAL);
  const told = gateway.puppet.requests.at(-1)?.messages ?? [];
  assert.equal(told.filter((message) => message.role === 'user' && message.content.includes('<schema>')).length, 1);
});

test('the schema of a request that failed is left out with it; what was said before stays as it was', async () => {
  await using gateway = await wholeGateway();
  await gateway.call('agent', { message: 'hello', idempotencyKey: 'k0' });
  gateway.puppet.turn(new Error('the server answered 400'));
  await refusalOf(gateway, ASK);
  await gateway.call('agent', { message: 'tell me a joke', idempotencyKey: 'k2' });
  const [first, failed, next] = gateway.puppet.requests;
  assert.deepEqual(
    failed?.messages.map(({ role }) => role),
    ['user', 'assistant', 'user', 'user'],
  );
  assert.deepEqual(next?.messages.slice(0, 1), first?.messages);
  assert.deepEqual(
    next?.messages.map((message) => 'content' in message && message.content),
    ['hello', 'ok', 'tell me a joke'],
  );
  assert.deepEqual([next?.system, next?.tools], [first?.system, first?.tools]);
});

test('two runs at once have to fit their own schemas', async () => {
  await using gateway = await wholeGateway();
  const hold = Promise.withResolvers<void>();
  gateway.puppet.turn(hold.promise, '{"a": "b"}');
  gateway.puppet.turn('17');
  await gateway.call('chat.send', { ...ASK, sessionKey: 'main' });
  const second = { message: 'a number', idempotencyKey: 'k2', outputSchema: { type: 'integer' } };
  await gateway.call('chat.send', { ...second, sessionKey: 'main' }); // it waits
  hold.resolve();
  const both = [await gateway.call('agent.wait', { runId: 'k1' }), await gateway.call('agent.wait', { runId: 'k2' })];
  assert.deepEqual(
    both.map(({ output }) => output),
    [{ a: 'b' }, 17],
  );
});

test('`chat.send` takes a schema, too; the next message is answered in words again', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn('null');
  gateway.puppet.turn('in words');
  const schema = { type: 'null' };
  await gateway.call('chat.send', {
    sessionKey: 'main',
    message: 'nothing',
    idempotencyKey: 's1',
    outputSchema: schema,
  });
  const sent = await gateway.call('agent.wait', { runId: 's1' });
  assert.deepEqual([sent.status, sent.output], ['ok', null]);
  assert.deepEqual(await gateway.call('agent', { message: 'hello', idempotencyKey: 's2' }), {
    ...{ runId: 's2', status: 'ok', summary: 'completed' },
  });
});

test('an unusable schema is refused before anything is created', async () => {
  await using gateway = await wholeGateway();
  const deep = Array(5_000)
    .fill('not')
    .reduce((inner, key) => ({ [key]: inner }), {});
  const cases: [object, RegExp][] = [
    [{ type: 'strang' }, /^outputSchema cannot be used: schema is invalid: data\/type must be/],
    [{ $ref: 'http://127.0.0.1:1/x' }, /^outputSchema cannot be used: can't resolve reference/],
    [deep, /must be nested at most 24 levels deep/],
  ];
  for (const [index, [given, reason]] of cases.entries()) {
    const asked = { sessionKey: 'new', message: 'hi', outputSchema: given };
    const { code, message } = await refusalOf(gateway, { ...asked, idempotencyKey: `agent ${index}` });
    assert.equal(code, 'INVALID_REQUEST', message);
    assert.match(message, reason);
    const sent = await gateway.refusal('chat.send', { ...asked, idempotencyKey: `send ${index}` });
    assert.equal(sent.code, 'INVALID_REQUEST');
  }
  const { workstreams } = await gateway.call('workstream.list', {});
  assert.ok(!workstreams.some(({ name }) => name === 'new'));
});

test('a message with a schema cannot be given to a run in progress', async () => {
  await using gateway = await wholeGateway();
  const hold = Promise.withResolvers<void>();
  gateway.puppet.turn(hold.promise, 'done');
  await gateway.call('chat.send', { sessionKey: 'main', message: 'first', idempotencyKey: 'q1' });
  await gateway.call('chat.send', { sessionKey: 'main', message: 'data', idempotencyKey: 'q2', outputSchema });
  const steer = { wsId: await gateway.main(), runId: 'q2' };
  const { code, message } = await gateway.refusal('queue.steer', steer);
  assert.equal(code, 'CONFLICT');
  assert.match(message, /outputSchema cannot steer a run/);
  hold.resolve();
});
