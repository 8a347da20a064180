import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type ReceivedSpan, startSpanReceiver } from '../support/daemon/span-receiver.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const receiver = await startSpanReceiver();
after(() => receiver[Symbol.asyncDispose]());
const { model, daemon } = await openStage({ config: { otel: { endpoint: receiver.url } } });

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const post = (route: string, body: object, headers: Record<string, string> = {}) =>
  daemon.fetch(route, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const ofTrace = (traceId: string) => receiver.spans.filter((span) => span.traceId === traceId);
const named = (spans: readonly ReceivedSpan[], name: string) =>
  spans.find((span) => span.name === name) ??
  assert.fail(`there is no span ${name}: ${spans.map((span) => span.name)}`);

test('A request must continue the trace of its `traceparent`: call, run, requests to the model and tools', async () => {
  const { ws_id } = (await daemon.post('/v1/api/workstreams/new', {})).body;
  model.when('canary-message', callTools({ name: 'list_directory', arguments: { path: '.' } }), say('canary-answer'));
  const headers = { traceparent: `00-${TRACE}-${PARENT}-01`, 'X-Request-Id': 'traced-1' };
  const sent = await post('/v1/api/send', { ws_id, message: 'canary-message' }, headers);
  const { run_id } = (await sent.json()) as { run_id: string };
  await receiver.find(({ name, traceId }) => traceId === TRACE && name.startsWith('invoke_agent'));
  const spans = ofTrace(TRACE);
  const call = named(spans, 'workstream.send');
  const run = named(spans, 'invoke_agent headgate');
  const tool = named(spans, 'execute_tool list_directory');
  const requests = spans.filter(({ name }) => name.startsWith('chat '));
  assert.deepEqual(
    [call, run, tool, ...requests].map(({ parentSpanId, kind, status }) => [parentSpanId, kind, status]),
    [
      [PARENT, 2, 0],
      [call.spanId, 1, 0],
      [run.spanId, 1, 0],
      [run.spanId, 3, 0],
      [run.spanId, 3, 0],
    ],
  );
  assert.equal(spans.length, 5);
  assert.deepEqual(call.attributes, { 'rpc.method': 'workstream.send', 'headgate.request.id': 'traced-1' });
  const conversation = { 'gen_ai.conversation.id': ws_id, 'headgate.run.id': run_id };
  assert.deepEqual(run.attributes, {
    ...conversation,
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'headgate',
    'headgate.run.source': 'person',
    'headgate.run.status': 'ok',
  });
  assert.deepEqual(tool.attributes, {
    ...conversation,
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'list_directory',
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': 'call_0',
    'headgate.tool.outcome': 'done',
  });
  assert.deepEqual(
    requests.map(({ attributes }) => attributes['gen_ai.response.finish_reasons']),
    [['tool_calls'], ['stop']],
  );
  const [first] = requests;
  const { 'gen_ai.usage.input_tokens': input, 'gen_ai.request.model': asked } = first?.attributes ?? {};
  assert.ok(typeof input === 'number' && first?.name === `chat ${asked}`);
  assert.equal(first.attributes['gen_ai.operation.name'], 'chat');
  const [resource] = receiver.resources;
  assert.equal(resource?.['service.name'], 'headgate');
  for (const secret of ['canary', daemon.token, 'workspace'])
    assert.ok(!receiver.bodies.join().includes(secret), `${secret} is in the spans`);
});

test('a call over WebSocket begins a trace of its own; a malformed traceparent is ignored, and one that is not sampled is kept', async () => {
  const client = await daemon.client();
  await assert.rejects(client.call('sessions.resolve', { key: 'nobody-knows-it' }));
  const refused = await receiver.find(({ name }) => name === 'sessions.resolve');
  assert.deepEqual(
    [refused.parentSpanId ?? '', refused.status, refused.attributes['error.type']],
    ['', 2, refused.attributes['error.type']],
  );
  assert.equal(typeof refused.attributes['headgate.connection.id'], 'string');
  assert.equal(typeof refused.attributes['headgate.frame.id'], 'string');
  const unsampled = '0af7651916cd43dd8448eb211c80319c';
  await daemon.fetch('/v1/api/skills', { headers: { traceparent: `00-${unsampled}-${PARENT}-00` } });
  await daemon.fetch('/v1/api/templates', { headers: { traceparent: `00-${'0'.repeat(32)}-${PARENT}-01` } });
  const own = await receiver.find(({ name }) => name === 'template.list');
  assert.equal(own.parentSpanId ?? '', '');
  assert.deepEqual(ofTrace(unsampled), []);
});

test('a collector that refuses or hangs costs its spans only: calls are answered, and the log says it once', async () => {
  const lines = () =>
    daemon
      .output()
      .stderr.split('\n')
      .filter((line) => line.includes('spans can'));
  receiver.become('refuse');
  for (let batch = 0; batch < 2; batch += 1) {
    const arrived = receiver.more(1);
    assert.equal((await daemon.get('/v1/api/workstreams')).status, 200);
    await arrived;
  }
  receiver.become('hang');
  const arrived = receiver.more(1);
  assert.equal((await daemon.get('/v1/api/workstreams')).status, 200);
  await arrived;
  assert.equal((await daemon.get('/health')).status, 200);
  assert.deepEqual(
    lines().map((line) => /"msg":"([^"]*)"/.exec(line)?.[1]),
    ['spans cannot be sent; they are dropped until that works again'],
  );
  assert.ok(!lines().join().includes(daemon.token));
  const { code } = await daemon.stop(); // although the collector hangs
  assert.equal(code, 0);
});
