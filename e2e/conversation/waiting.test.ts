import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { StreamEvent } from '../../protocol/stream-events.ts';
import { systemClock } from '../../src/clock.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { speechOf } from '../support/daemon/ledger.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, fail, reset, say } from '../support/model/scripted-steps.ts';

const model = await startScriptedModel();
const spare = await startScriptedModel();
/** Nothing answers at its address. */
const gone = await startScriptedModel();
await gone.close();
const server = (url: string, more: object = {}) => ({
  provider: 'openai-compatible',
  baseUrl: url,
  model: 'm',
  ...more,
});
const daemon = await startDaemon({
  config: {
    models: {
      main: server(model.url),
      guarded: server(model.url, { fallback: ['twin', 'spare'] }),
      twin: server(model.url, { model: 'twin' }),
      spare: server(spare.url),
      gone: server(gone.url),
    },
  },
  env: { HEADGATE_MODEL: 'guarded' },
});
after(async () => {
  await daemon[Symbol.asyncDispose]();
  await Promise.all([model.close(), spare.close()]);
});

const LONG = fail(429, { retryAfterSecs: 200 });

test('a client that attaches during a wait sees it, and can end it', async () => {
  await using talk = await openConversation(daemon, { model: 'main' });
  model.when('patience', LONG);
  const beforeMs = systemClock.now();
  const question = await talk.ask('patience');
  const sent: Extract<StreamEvent, { type: 'wait_start' }> & { ws_id?: string } = await talk.until('wait_start');
  const { ws_id: _, ...wait } = sent; // which only the stream adds
  const { until_ms: untilMs, message, ...facts } = wait;
  assert.deepEqual(facts, { type: 'wait_start', reason: 'rate_limited', attempt: 2, attempts: 6, model_alias: 'main' });
  assert.match(message, /answered 429: scripted 429$/);
  assert.ok(untilMs >= beforeMs + 200_000 && untilMs <= systemClock.now() + 200_000);

  const { client, wsId } = talk;
  const late = Promise.withResolvers<StreamEvent>();
  (await daemon.client()).subscribe(wsId, {
    onSnapshot: () => undefined,
    onEvent: (event) => event.type === 'wait_start' && late.resolve(event),
  });
  assert.deepEqual(await late.promise, wait);
  model.when('patience', say('at last'));
  assert.deepEqual(await (await daemon.client()).call('workstream.proceed', { wsId }), {
    status: 'ok',
    wasWaiting: true,
  });
  await question.answer;
  assert.deepEqual(await client.call('workstream.proceed', { wsId }), { status: 'ok', wasWaiting: false });
  assert.deepEqual(speechOf(await talk.agree()), ['user: patience', 'assistant: at last']);
  assert.deepEqual(talk.story().slice(2, 5), ['state thinking', 'wait_start', 'wait_stop']);
});

test('a run waits while its server is gone, and continues when the server is back', async () => {
  await using talk = await openConversation(daemon, { model: 'gone' });
  const question = await talk.ask('are you there');
  await talk.until('wait_start', ({ attempt }) => attempt === 4);
  const told = talk.seen.flatMap(({ event }) => (event.type === 'wait_start' ? [event] : []));
  for (const { reason, message, attempts } of told) {
    assert.deepEqual([reason, attempts], ['unreachable', 15]);
    assert.match(message, /^Could not reach openai-compatible at http:\/\/127\.0\.0\.1:\d+\/v1 \(ECONNREFUSED\)\.$/);
  }
  await using back = await startScriptedModel({ port: Number(new URL(gone.url).port) });
  back.when('are you there', say('back'));
  await question.answer;
  assert.deepEqual(speechOf(await talk.agree()), ['user: are you there', 'assistant: back']);
});

test('a run whose server stays away ends with the model, the server, the reason and a remedy', async () => {
  const config = { models: { lab: server(gone.url) }, answers: { retrySecs: 2 } };
  await using other = await startDaemon({ config, env: { HEADGATE_MODEL: 'lab' } });
  await using talk = await openConversation(other);
  const question = await talk.ask('anybody');
  await assert.rejects(question.answer);
  const { run } = await talk.until('ws_state', (event) => event.run !== undefined);
  // How many attempts fit into two seconds is a matter of chance: the pauses vary.
  assert.equal(
    run?.error?.replace(/ [2-4] times/, ' some times'),
    `Could not reach openai-compatible at ${gone.url} (ECONNREFUSED). The model lab was tried some times. Check that the server is running and that its address is correct, then try again.`,
  );
  assert.equal(run?.failed?.code, 'unreachable');
});

test('a job and a command whose model stays away end with its reason, and work again when it is back', async () => {
  const away = await startScriptedModel();
  await away.close();
  const config = { models: { lab: server(away.url) }, answers: { retrySecs: 1 } };
  await using other = await startDaemon({ config, env: { HEADGATE_MODEL: 'lab' } });
  const client = await other.client();
  const { id } = await client.call('cron.add', {
    schedule: { kind: 'every', everyMs: 86_400_000 },
    sessionTarget: 'isolated',
    wakeMode: 'now',
    payload: { kind: 'agentTurn', message: 'check the weather' },
  });
  const newest = async () => {
    await client.call('cron.run', { id, mode: 'force' });
    return (await client.call('cron.runs', { id })).entries.at(-1);
  };
  const ask = () => runHeadgate(['run', 'the weather, please'], { HEADGATE_HOME: other.home });
  const reason = /Could not reach openai-compatible at .* \(ECONNREFUSED\)\. .* Check that the server is running/;
  const failed = await newest();
  assert.equal(failed?.status, 'error');
  assert.match(failed?.error ?? '', reason);
  const refused = await ask();
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.match(refused.stderr, reason);

  await using back = await startScriptedModel({ port: Number(new URL(away.url).port) });
  back.when('weather', say('sunny'));
  const worked = await newest();
  assert.deepEqual([worked?.status, worked?.summary], ['ok', 'sunny']);
  assert.deepEqual(await ask(), { code: 0, stdout: 'sunny\n', stderr: '' });
});

test('a cancel ends a wait and its run', async () => {
  await using talk = await openConversation(daemon, { model: 'main' });
  model.when('never mind', LONG);
  const question = await talk.ask('never mind');
  await talk.until('wait_start');
  await talk.client.call('workstream.cancel', { wsId: talk.wsId });
  await assert.rejects(question.answer, { code: 'CONFLICT' });
  await talk.ended(question);
  assert.deepEqual(talk.story().slice(-5), [
    'wait_start',
    'wait_stop',
    'cancelled',
    'stream_end',
    'state idle (cancelled)',
  ]);
});

test('a wait that a kill interrupts is void, and the request is repeated', async () => {
  await using talk = await openConversation(daemon, { model: 'main' });
  model.when('killed', LONG);
  const question = await talk.ask('killed');
  question.answer.catch(() => undefined); // the connection is lost with the daemon
  await talk.until('wait_start');
  model.when('killed', say('still here'));
  await daemon.kill9();
  await daemon.restart();
  await talk.reconnect();
  await talk.ended(question);
  assert.deepEqual(speechOf(await talk.agree()), ['user: killed', 'assistant: still here']);
});

test('a model that cannot answer is replaced before its first word, within its server later in the run', async () => {
  await using talk = await openConversation(daemon);
  spare.script(
    callTools({ name: 'list_directory', arguments: { path: '.' } }),
    say('done by the spare'),
    say('and again'),
  );
  model.onRequest(({ messages, model: name }) => {
    const asked = messages.findLast(({ role }) => role === 'user')?.content;
    if (asked === 'first') return name === 'm' ? fail(401) : fail(529);
    if (asked !== 'second') return undefined;
    if (name === 'twin') return say('the twin goes on');
    return messages.at(-1)?.role === 'tool'
      ? fail(404)
      : callTools({ name: 'list_directory', arguments: { path: '.' } });
  });
  await (await talk.ask('first')).answer;
  const told = talk.story().filter((line) => line.startsWith('info'));
  assert.match(
    told.join('\n'),
    /^info: guarded cannot answer, so twin takes over for this run\. .* rejected the key|requires a key/,
  );
  assert.match(told[1] ?? '', /^info: twin cannot answer, so spare takes over for this run\. .* answered 529/);
  assert.equal(told.length, 2);
  await (await talk.ask('second')).answer;
  const speech = speechOf(await talk.agree()).filter((line) => line.startsWith('assistant'));
  assert.deepEqual(speech, [
    'assistant: ',
    'assistant: done by the spare',
    'assistant: ',
    'assistant: the twin goes on',
  ]);
  assert.equal(spare.requests.length, 2);
  model.onRequest(() => undefined);
});

test('a model whose server is gone is replaced in a job, too', async () => {
  const client = await daemon.client();
  model.when('check the weather', reset());
  spare.when('check the weather', say('sunny'));
  const { id } = await client.call('cron.add', {
    schedule: { kind: 'every', everyMs: 86_400_000 },
    sessionTarget: 'isolated',
    wakeMode: 'now',
    payload: { kind: 'agentTurn', message: 'check the weather' },
  });
  await client.call('cron.run', { id, mode: 'force' });
  const [run] = (await client.call('cron.runs', { id })).entries;
  assert.deepEqual([run?.status, run?.summary], ['ok', 'sunny']);
});
