import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { commandLinesWith } from '../../src/testing/command-lines.ts';
import { needs } from '../../src/testing/needs.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { runHeadgate } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { allowedMs, pause, within } from '../support/deadline.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { backgroundTalk } from './background-talk.ts';

const sandboxed = await needs('bubblewrap');
const fileOf = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const EVERYTHING = fileOf('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const FAKE = fileOf('src/agent/mcp/misbehaving-server.ts');
const ASKING = fileOf('src/agent/mcp/asking/asking-server.ts');
const node = process.execPath;
/** The sandbox has a /tmp of its own, and this repository may be below it. */
const folders = [fileOf('.')];
const servers = {
  everything: { command: node, args: [EVERYTHING, 'stdio'], network: ['example.com'], folders },
  dies: { command: node, args: [FAKE, 'dies'], folders },
  asks: { command: node, args: [ASKING, 'form'], folders },
  modern: { command: node, args: [ASKING, 'modern'], folders },
  stays: { command: node, args: [FAKE, 'stays'], sandbox: false },
  silent: { command: node, args: [FAKE, 'silent'], enabled: false },
};
const { model, daemon } = await openStage({ config: { mcp: { servers }, server: { maxWorkstreams: 100 } } });
const { call } = backgroundTalk(model);

const inner = (output: string): string => output.split('\n').slice(1, -1).join('\n');
const running = () => commandLinesWith(EVERYTHING);
const outside = async () => [
  ...(await commandLinesWith(`${FAKE} stays`)),
  ...(await commandLinesWith(`${FAKE}-child`)),
];
/** The outermost process of each; a sandbox has several with the same words. */
const serversRunning = async (): Promise<number> => {
  const found = await running();
  const parents = await Promise.all(
    found.map(async ({ pid }) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    }),
  );
  const pids = new Set(found.map(({ pid }) => pid));
  return parents.filter((parent) => !pids.has(parent)).length;
};

test(
  'a tool of a server asks, and its answer is data: text, an image, structured content, progress and errors',
  sandboxed,
  async () => {
    await using talk = await openConversation(daemon);
    model.when(
      'say hello',
      callTools({ name: 'mcp__everything__echo', arguments: { message: 'hello' } }),
      say('It did.'),
    );
    const question = await talk.ask('say hello');
    const { approval_id: approvalId, items } = await talk.until('approve_request');
    assert.deepEqual(
      items.map(({ func_name, preview }) => [func_name, preview]),
      [['mcp__everything__echo', 'echo of everything\n{\n  "message": "hello"\n}']],
    );
    await talk.decide(approvalId, { approved: true });
    await question.answer;
    const { output, outcome } = await talk.until('tool_result');
    assert.deepEqual([inner(output), outcome], ['Echo: hello', 'done']);
    await talk.agree();
  },
);

test('images, structured content, progress and wrong arguments arrive', sandboxed, async () => {
  await using talk = await openConversation(daemon, { autoApprove: true });
  const image = await call(talk, 'mcp__everything__get-tiny-image', {});
  assert.match(image.output, /\[image image-1\.png, image\/png, \d+ bytes\]/);
  const structured = await call(talk, 'mcp__everything__get-structured-content', { location: 'Chicago' });
  assert.deepEqual(Object.keys(JSON.parse(inner(structured.output))), ['temperature', 'conditions', 'humidity']);
  const long = await call(talk, 'mcp__everything__trigger-long-running-operation', { duration: 0.2, steps: 2 });
  assert.equal(long.outcome, 'done');
  assert.ok(talk.seen.some(({ event }) => event.type === 'tool_output_chunk' && event.chunk === '1/2\n'));
  const wrong = await call(talk, 'mcp__everything__echo', { message: 5 });
  assert.equal(wrong.outcome, 'failed');
  const dead = await call(talk, 'mcp__dies__greet', {});
  assert.deepEqual(
    [dead.outcome, dead.output.split('. ')[0]],
    ['unknown', 'The tool server dies ended with exit code 3'],
  );
  const network = await call(talk, 'mcp__everything__get-env', {});
  assert.match(network.output, /"HTTPS_PROXY": "http:\/\/127\.0\.0\.1:\d+"/);
  assert.doesNotMatch(network.output, /HEADGATE_(HOME|TOKEN)|OPENAI/);
  await talk.agree();
});

test('the state of servers is listed, for people and as JSON; a server can be asked again', sandboxed, async () => {
  const client = await daemon.client();
  const { servers: listed } = await client.call('mcp.list', {});
  assert.deepEqual(
    listed.map(({ name, state }) => [name, state]),
    [
      ['asks', 'connected'],
      ['dies', 'failed'],
      ['everything', 'connected'],
      ['modern', 'connected'],
      ['silent', 'disabled'],
      ['stays', 'connected'],
    ],
  );
  const refreshed = await client.call('mcp.refresh', { name: 'dies' });
  assert.deepEqual([refreshed.state, refreshed.tools.map(({ name }) => name)], ['connected', ['mcp__dies__greet']]);
  await assert.rejects(client.call('mcp.refresh', { name: 'silent' }), { code: 'NOT_FOUND' });
  const mcp = async (...words: string[]) => {
    const { stdout, stderr } = await runHeadgate(['mcp', ...words], { HEADGATE_HOME: daemon.home });
    return `${stdout}${stderr}`;
  };
  assert.match(
    await mcp(),
    /^NAME +FROM +STATE +TOOLS +COMMAND OR ADDRESS\nasks +config +connected +1 .*\ndies +config +connected +1 /,
  );
  assert.match(await mcp('tools', 'dies'), /^mcp__dies__greet\n {2}Greets somebody\.\n$/);
  assert.match(await mcp('refresh', 'dies'), /^dies has 1 tools\.\n$/);
  assert.match(await mcp('accept', 'dies'), /^Accepted\. /);
  assert.match(await mcp('tools', 'other'), /No tool server is called other\. "headgate mcp" lists them\./);
});

test('resources and prompts of a server are listed and read', sandboxed, async () => {
  await using talk = await openConversation(daemon, { autoApprove: true });
  const listed = await call(talk, 'list_resources', { server: 'everything' });
  const uri = /^(demo:\/\/resource\/static\S+)/m.exec(listed.output)?.[1];
  assert.ok(uri, listed.output);
  assert.match(listed.output, /^demo:\/\/resource\/dynamic\/text\/\{\w+\} \(a template\)/m);
  const read = await call(talk, 'read_resource', { server: 'everything', uri });
  assert.deepEqual([read.outcome, inner(read.output).split('\n')[0]], ['done', `[resource ${uri}]`]);
  const none = await call(talk, 'read_resource', { server: 'everything', uri: 'file:///etc/hostname' });
  assert.equal(none.outcome, 'failed');
  assert.match((await call(talk, 'list_prompts', { server: 'everything' })).output, /^simple-prompt /m);
  const prompt = await call(talk, 'use_prompt', { server: 'everything', name: 'simple-prompt' });
  assert.match(prompt.output, /\[user:\]\nThis is a simple prompt/);
  await talk.agree();
});

test(
  'a question of a server is answered like one of the agent, and auto-approve does not answer it',
  sandboxed,
  async () => {
    await using talk = await openConversation(daemon, { autoApprove: true });
    model.when('ask me', callTools({ id: 'asked_1', name: 'mcp__asks__act', arguments: {} }), say('Thanks.'));
    const question = await talk.ask('ask me');
    const given = ['0', '8080', 'green'];
    const texts: string[] = [];
    const seen = new Set<string>();
    for (const answer of given) {
      const asked = await talk.until('approve_request', ({ approval_id: id }) => !seen.has(id));
      seen.add(asked.approval_id);
      texts.push(asked.items[0]?.question?.text.split('\n')[2] ?? '');
      const decisions = { asked_1: { approved: true, answer } };
      await talk.client.call('approval.resolve', { approvalId: asked.approval_id, approved: true, decisions });
    }
    assert.deepEqual(texts, ['Port (1 of 2)', 'At least 1.', 'color (2 of 2)']);
    const { output } = await talk.until('tool_result', ({ call_id: id }) => id === 'asked_1');
    assert.equal(inner(output), '{"action":"accept","content":{"port":8080,"color":"g"}}');
    await talk.ended(question);
    await talk.agree();
  },
);

test(
  'a question of a server survives kill -9 where its protocol lets it, and is withdrawn where not',
  sandboxed,
  async () => {
    await using modern = await openConversation(daemon, { autoApprove: true });
    await using older = await openConversation(daemon, { autoApprove: true });
    const ask = async (talk: typeof modern, id: string, name: string) => {
      model.when(`${id} please`, callTools({ id, name, arguments: {} }), say('Thanks.'));
      const question = await talk.ask(`${id} please`);
      question.answer.catch(() => undefined); // the connection is lost
      return { question, asked: await talk.until('approve_request') };
    };
    const first = await ask(modern, 'modern_1', 'mcp__modern__act');
    const second = await ask(older, 'older_1', 'mcp__asks__act');
    await daemon.kill9();
    await daemon.restart();
    await modern.reconnect();
    await older.reconnect();
    const again = await older.until('approve_request', ({ kind }) => kind === 'outcome');
    const withdrawn = await older.until('approval_resolved');
    assert.deepEqual([withdrawn.approval_id, withdrawn.by], [second.asked.approval_id, { kind: 'cancel' }]);
    await older.decide(again.approval_id, { approved: false });
    await older.ended(second.question);
    const [pending] = await modern.pending();
    assert.equal(pending?.approvalId, first.asked.approval_id);
    const decisions = { modern_1: { approved: true, answer: '8080' } };
    await modern.client.call('approval.resolve', { approvalId: pending.approvalId, approved: true, decisions });
    const { output } = await modern.until('tool_result', ({ call_id: id }) => id === 'modern_1');
    assert.equal(
      inner(output),
      '{"inputResponses":{"port":{"action":"accept","content":{"port":8080}}},"requestState":"state-1"}',
    );
    await modern.ended(first.question);
    await modern.agree();
    await older.agree();
  },
);

test(
  'fifty conversations at once share one process of a server; none outlives a daemon that is killed',
  sandboxed,
  async () => {
    const client = await daemon.client();
    const asked = Array.from({ length: 50 }, async (_, index) => {
      const message = `count ${index}.`;
      const args = { a: index, b: 1 };
      model.when(message, callTools({ name: 'mcp__everything__get-sum', arguments: args }), say(`${index}`));
      const { wsId } = await client.call('workstream.create', { name: `sum ${index}`, autoApprove: true });
      const params = { message, sessionKey: wsId, idempotencyKey: `sum-${index}` };
      const { status } = await client.call('agent', params, { timeoutMs: 60_000 });
      return status;
    });
    assert.deepEqual(new Set(await Promise.all(asked)), new Set(['ok']));
    assert.equal(await serversRunning(), 1);
    await using talk = await openConversation(daemon, { autoApprove: true });
    await call(talk, 'mcp__stays__greet', {});
    assert.equal((await outside()).length, 4, 'a server that ignores signals, and children in sessions of their own');
    await call(talk, 'mcp__everything__echo', { message: 'before' });
    const before = model.requests.at(-1)?.body;
    await daemon.kill9();
    const isOver = async () => {
      while ((await running()).length > 0 || (await outside()).length > 0) await pause(20);
    };
    await within(isOver(), allowedMs(2_000), () => 'the end of its servers with it');
    await daemon.restart();
    await talk.reconnect();
    assert.equal(await serversRunning(), 0, 'a server starts when it is needed');
    await call(talk, 'mcp__everything__echo', { message: 'after' });
    const after = model.requests.at(-1)?.body;
    assert.deepEqual(
      [after?.tools, after?.messages[0]],
      [before?.tools, before?.messages[0]],
      'the prefix is the same',
    );
    assert.equal(await serversRunning(), 1);
  },
);
