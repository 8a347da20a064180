import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, fail, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

const here = { HEADGATE_HOME: daemon.home };
const run = (...args: string[]) => runHeadgate(['run', ...args], here);

/** Started, and not waited for. */
function begin(args: readonly string[], stdin = '') {
  const child = spawn(process.execPath, ['bin/headgate.js', 'run', ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...here },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.end(stdin);
  const ended = Promise.all([text(child.stdout), once(child, 'close')]).then(([stdout, [code]]) => ({ stdout, code }));
  return { ended, interrupt: () => child.kill('SIGINT') };
}

test('stdout gets only the answer', async () => {
  model.when('just say', say('The *answer*.'));
  assert.deepEqual(await run('just say it'), { code: 0, stdout: 'The *answer*.\n', stderr: '' });
});

test('--resume and --continue go on with a conversation that was closed', async () => {
  model.onRequest(({ messages }) => {
    const asked = messages.filter(({ role }) => role === 'user').map(({ content }) => String(content));
    return asked.at(-1)?.includes('sunflower') ? say(`heard ${asked.length}`) : undefined;
  });
  const begun = await run('--ws', 'goes-on', '--workdir', ROOT, 'one sunflower');
  assert.equal(begun.stdout, 'heard 1\n');
  const client = await daemon.client();
  const { workstreams } = await client.call('workstream.saved', { search: 'goes-on' });
  await client.call('workstream.close', { wsId: workstreams[0]?.wsId ?? '' });
  assert.equal((await run('--resume', 'goes-on', 'two sunflowers')).stdout, 'heard 2\n');
  assert.equal((await run('--continue', 'three sunflowers')).stdout, 'heard 3\n');
  assert.deepEqual((await run('--resume', 'nobody', 'a sunflower')).code, 1);
});

test('a prompt can be piped in, alone or in addition to arguments', async () => {
  model.onRequest(({ messages }) => {
    const last = String(messages.at(-1)?.content);
    return last.includes('piped words') ? say(`heard: ${JSON.stringify(last)}`) : undefined;
  });
  assert.equal((await begin([], 'piped words\n').ended).stdout, 'heard: "piped words"\n');
  assert.equal((await begin(['review', '-'], 'piped words\n').ended).stdout, 'heard: "review\\n\\npiped words"\n');
});

test('--json prints the run, its events and the result, one object per line', async () => {
  model.when('in json', say('yes'));
  const { code, stdout } = await run('--json', 'in json');
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const [first, result] = [lines[0], lines.at(-1)];
  assert.deepEqual([code, first.type, lines[1].type], [0, 'run', 'user_turn']);
  const { status, answer, exit_code, ws_id, run_id, denied } = result;
  assert.deepEqual(
    { status, answer, exit_code, ws_id, run_id, denied },
    { status: 'ok', answer: 'yes', exit_code: 0, ws_id: first.ws_id, run_id: first.run_id, denied: 0 },
  );
});

test('a call that needs approval is denied without a terminal, with its own exit code', async () => {
  model.when('needs leave', callTools({ name: 'bash', arguments: { command: 'touch x' } }), say('I could not.'));
  const { code, stdout, stderr } = await run('needs leave');
  assert.deepEqual([code, stdout], [4, 'I could not.\n']);
  assert.match(stderr, /\? May the agent do this\?\n {2}bash touch x\n(?: {2}.*\n)*Denied: .*nobody can be asked/);
});

test('--approve all runs a call that needs approval', async () => {
  model.when('go ahead', callTools({ name: 'bash', arguments: { command: 'echo done > done.txt' } }), say('Done.'));
  const { code, stdout } = await run('--approve', 'all', 'go ahead');
  assert.deepEqual([code, stdout], [0, 'Done.\n']);
  assert.equal(await readFile(path.join(daemon.home, 'workspace/done.txt'), 'utf8'), 'done\n');
});

test('a question of the agent is answered by --answer, and denied with a hint without a terminal', async () => {
  const question = { question: 'Which colour?', choices: [{ label: 'red' }, { label: 'blue' }] };
  const asks = callTools({ name: 'ask_user', arguments: question });
  model.onRequest(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === 'user') return String(last.content).includes('pick a colour') ? asks : undefined;
    const heard = JSON.stringify(messages).includes('pick a colour') ? `heard ${String(last?.content)}` : undefined;
    return heard === undefined ? undefined : say(heard);
  });
  const answered = await run('--answer', '2', 'pick a colour');
  assert.deepEqual(
    [answered.code, JSON.parse(answered.stdout.replace('heard ', ''))],
    [0, { answer: 'blue', choice: 'blue' }],
  );
  const denied = await run('pick a colour again');
  assert.equal(denied.code, 4);
  assert.match(denied.stderr, /Nobody could answer\. Answer with --answer TEXT, or run in a terminal\./);
});

test('a failed run exits with 1, a timeout with 5, an interrupted run with 130', async () => {
  model.when('fail now', fail(400, { message: 'no such thing' }));
  const failed = await run('fail now');
  assert.deepEqual([failed.code, failed.stdout], [1, '']);
  assert.match(failed.stderr, /no such thing/);
  model.when('wait for ever', [say('and '), stall()]);
  const late = await run('--timeout', '0.3', 'wait for ever');
  assert.deepEqual(
    [late.code, late.stderr],
    [5, 'headgate: the run was stopped by --timeout before the answer was complete.\n'],
  );
  const waiting = stall();
  model.when('stop me', [say('and '), waiting]);
  const interrupted = begin(['stop me']);
  await waiting.reached;
  interrupted.interrupt();
  assert.deepEqual(await interrupted.ended, { code: 130, stdout: '' });
});

test('wrong usage exits with 2, no daemon with 3', async () => {
  for (const args of [['--timeout', 'soon', 'x'], ['--approve', 'perhaps', 'x'], ['  ']])
    assert.equal((await run(...args)).code, 2, args.join(' '));
  const { code, stderr } = await runHeadgate(['run', 'x', '--home', '/nowhere'], {});
  assert.equal(code, 3);
  assert.match(stderr, /^headgate: No daemon is running in \/nowhere\. Start one \(headgate start\)/);
});

test('the same key joins the same run, even after the run has ended', async () => {
  model.when('only once', say('once'));
  const before = model.requests.length;
  const all = [await run('--key', 'nightly', 'only once'), await run('--key', 'nightly', 'only once')];
  assert.deepEqual(
    all.map(({ code, stdout }) => [code, stdout]),
    [
      [0, 'once\n'],
      [0, 'once\n'],
    ],
  );
  assert.equal(model.requests.length, before + 1);
});

test('--output-schema, or --schema, prints the answer as data that fits, and fails if none does', async () => {
  const schema = { type: 'object', properties: { pears: { type: 'integer' } }, required: ['pears'] };
  await writeFile(path.join(daemon.home, 'pears.json'), JSON.stringify(schema));
  await writeFile(path.join(daemon.home, 'list.json'), '[]');
  await writeFile(path.join(daemon.home, 'strange.json'), '{"type": "strange"}');
  const inHome = (name: string) => ['--output-schema', path.join(daemon.home, name)];
  model.onRequest(({ messages }) => {
    const told = JSON.stringify(messages);
    if (!told.includes('count the pears')) return undefined;
    return told.includes('does not fit') ? say('```json\n{"pears": 3}\n```') : say('Three pears.');
  });
  const asText = await run(...inHome('pears.json'), 'count the pears');
  assert.deepEqual([asText.code, asText.stdout], [0, '{\n  "pears": 3\n}\n']);
  const asJson = await run(...inHome('pears.json'), '--json', '--key', 'pears', 'count the pears');
  assert.deepEqual(JSON.parse(asJson.stdout.trim().split('\n').at(-1) ?? '').output, { pears: 3 });
  const again = await run(...inHome('pears.json'), '--key', 'pears', 'count the pears');
  assert.deepEqual([again.code, again.stdout], [0, asText.stdout]);

  model.onRequest(({ messages }) =>
    JSON.stringify(messages).includes('no pears') ? say('{"pears": "no"}') : undefined,
  );
  const misfit = await run(...inHome('pears.json'), 'no pears');
  assert.deepEqual([misfit.code, misfit.stdout], [1, '']);
  assert.match(
    misfit.stderr,
    /headgate: The answer does not fit the JSON Schema of the request: \/pears must be integer\.\n$/,
  );

  for (const [name, reason] of [
    ['missing.json', /The schema .*missing\.json cannot be read/],
    ['list.json', /The schema .*list\.json must be a JSON object/],
  ] as const) {
    const { code, stderr } = await run(...inHome(name), 'x');
    assert.equal(code, 2);
    assert.match(stderr, reason);
  }
  const unusable = await run(...inHome('strange.json'), 'x');
  assert.equal(unusable.code, 1);
  assert.match(unusable.stderr, /outputSchema cannot be used: schema is invalid: data\/type must be/);
});

test('a daemon that is killed during an answer finishes the run after its restart', async () => {
  await using other = await startDaemon({ model: model.url });
  const waiting = stall();
  model.when('outlive it', [say('half'), waiting]);
  const child = begin(['--home', other.home, 'outlive it']);
  await waiting.reached;
  await other.kill9();
  model.when('outlive it', say('the whole answer'));
  await other.restart();
  assert.deepEqual(await child.ended, { code: 0, stdout: 'the whole answer\n' });
});

test('a message that another client lets steer the run in progress gets the answer of that run', async () => {
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', {});
  const held = stall();
  model.when('wander', [held, callTools({ name: 'list_directory', arguments: {} })]);
  model.when('turn left', say('Left.'));
  await client.call('workstream.send', { wsId, message: 'wander' });
  await held.reached;
  const child = begin(['--ws', wsId, 'turn left']);
  const waits = new Promise<string>((resolve) => {
    client.on('queue.changed', ({ messages }) => {
      if (messages[0]) resolve(messages[0].runId);
    });
  });
  const { messages } = await client.call('queue.list', { wsId });
  await client.call('queue.steer', { wsId, runId: messages[0]?.runId ?? (await waits) });
  held.release();
  assert.deepEqual(await child.ended, { code: 0, stdout: 'Left.\n' });
});
