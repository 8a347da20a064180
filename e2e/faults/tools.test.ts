import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { commandLinesWith } from '../../src/testing/command-lines.ts';
import { needs } from '../../src/testing/needs.ts';
import { type Conversation, openConversation } from '../support/clients/conversation.ts';
import { openStage } from '../support/daemon/stage.ts';
import { type Watched, watchDaemon } from '../support/daemon/watch-daemon.ts';
import { pause } from '../support/deadline.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const MIB = 1024 * 1024;
/** The memory limit of a daemon whose commands print more than that: its use at rest, plus garbage. */
const MAX_RSS = 300 * MIB;

const sandboxed = await needs('bubblewrap');
const UNSANDBOXED = new URL('../support/daemon/unsandboxed-daemon.ts', import.meta.url);
const { model, daemon } = await openStage();
/** Starts the daemon anew, with low limits; `missing`: on a machine without bubblewrap. */
async function restartWith(sandbox: 'required' | 'missing'): Promise<void> {
  const tools = { sandbox: sandbox === 'required' ? 'required' : 'auto', limits: { memoryMb: 512, tmpMb: 64 } };
  await writeFile(path.join(daemon.home, 'config.json'), JSON.stringify({ tools }));
  await daemon.restart(sandbox === 'missing' ? { entry: UNSANDBOXED } : {});
}

/** A sleep time that nothing else on this machine uses, to identify a process. */
let naps = 0;
const newNap = (): string => `61.${process.pid}${++naps}`;

/** Lets the model run a command, and approves it. */
async function start(talk: Conversation, name: string, command: string) {
  const asking = { command: `touch it; ${command}` }; // it asks, because it changes something
  model.when(name, callTools({ name: 'bash', arguments: asking }), say('done'));
  const question = await talk.ask(name);
  const { approval_id: approvalId } = await talk.until('approve_request');
  await talk.decide(approvalId, { approved: true });
  return question;
}

/** A bound against a daemon that hangs; how quick it is, the benchmark measures. */
const ANSWERS_WITHIN_MS = 2_000;

function assertWell({ peakBytes, healthP90Ms, bareP90Ms }: Watched): void {
  assert.ok(peakBytes < MAX_RSS, `${Math.round(peakBytes / MIB)} MiB`);
  assert.ok(
    healthP90Ms <= ANSWERS_WITHIN_MS + 5 * bareP90Ms,
    `/health took ${healthP90Ms} ms, nothing at all ${bareP90Ms} ms`,
  );
}

/** Commands that end on their own, and the output that the model reads. */
const ENDING: Record<string, { command: string; reads: RegExp }> = {
  'prints more than the daemon may use': {
    command: 'yes | head -c 400M',
    reads: /^(y\n)+\[\.\.\. \d+ lines \(\d+ bytes\) left out here; its first 67108864 bytes are stored for people/,
  },
  'prints a line of 100 MB': {
    command: "head -c 100M /dev/zero | tr '\\0' x",
    reads: /^x+\n\[\.\.\. 0 lines \(\d+ bytes\) left out here/,
  },
  'prints binary data': { command: 'head -c 4M /dev/urandom', reads: /left out here/ },
  'reads its input': { command: 'cat; read -r line; echo "read: $line"', reads: /^read: \n$/ },
  'closes its output and keeps running': {
    command: 'echo up; exec >&- 2>&-; sleep 0.3; exit 3',
    reads: /^up\n\[exit code: 3\]$/,
  },
  'leaves a child that holds the output': { command: 'sleep 60 & echo done', reads: /^done\n$/ },
  'leaves a daemon that holds the output': { command: '(setsid sleep 60 &); echo done', reads: /^done\n$/ },
  'ends while output is in flight': {
    command: 'head -c 60000 /dev/zero | tr "\\0" z; echo; echo end; exit 7',
    reads: /^z{60000}\nend\n\[exit code: 7\]$/,
  },
  'writes a large file to its folder': {
    command: 'head -c 400M /dev/zero > big && stat -c %s big; rm -f big',
    reads: /^419430400\n$/,
  },
};

for (const [what, { command, reads }] of Object.entries(ENDING)) {
  test(`a command that ${what} gets a result, and the daemon stays healthy`, async (t) => {
    await using talk = await openConversation(daemon);
    const question = await start(talk, what, command);
    const { result, ...watched } = await watchDaemon(daemon, question.answer);
    t.diagnostic(JSON.stringify(watched));
    await talk.ended(question);
    const { messages } = await talk.agree();
    const output = messages.flatMap((message) => (message.role === 'tool' ? [message.output] : [])).join('');
    assert.deepEqual(result, { runId: question.runId, status: 'ok', summary: 'completed' });
    assert.match(output.slice(0, 140_000), reads);
    assertWell(watched);
  });
}

/** Commands that use more than they may, and what the model reads about it. */
const GREEDY: Record<string, { command: string; reads: RegExp }> = {
  'forks without end': {
    command: ':(){ :|:& };:; sleep 60',
    reads: /\[no more than 512 processes at once for one command; some could not be started, or all were ended\]$/,
  },
  'takes ten gigabytes of memory': {
    command: 'head -c 10G /dev/zero | tail',
    reads: /\[ended because of the limit of 512 MiB of memory for one command\]$/,
  },
  'fills /tmp': {
    command: 'head -c 10G /dev/zero > /tmp/full; stat -c %s /tmp/full',
    reads: /No space left on device\n67108864\n$/,
  },
};

test(
  'a command that uses more than it may gets a result that says so, and the daemon stays healthy',
  sandboxed,
  async (t) => {
    await restartWith('required');
    for (const [what, { command, reads }] of Object.entries(GREEDY)) {
      await using talk = await openConversation(daemon);
      const question = await start(talk, what, command);
      const { result, ...watched } = await watchDaemon(daemon, question.answer);
      t.diagnostic(`${what}: ${JSON.stringify(watched)}`);
      await talk.ended(question);
      const { messages } = await talk.agree();
      const output = messages.flatMap((message) => (message.role === 'tool' ? [message.output] : [])).join('');
      assert.deepEqual(result, { runId: question.runId, status: 'ok', summary: 'completed' });
      assert.match(output, reads);
      assertWell(watched);
    }
  },
);

/** Commands that do not end, each with its own sleep time to identify leftover processes. */
const ENDLESS: Record<string, (nap: string) => string> = {
  'ignores SIGTERM': (nap) => `trap '' TERM; echo up; while :; do sleep ${nap}; done`,
  'stops itself': (nap) => `echo up; sleep ${nap} & kill -STOP $$; wait`,
  'has children of children': (nap) => `echo up; (sleep ${nap} & (sleep ${nap} & wait) & wait) & wait`,
  'leaves its session': (nap) => `echo up; setsid bash -c 'trap "" TERM; sleep ${nap}; sleep ${nap}' & wait`,
  'becomes a daemon': (nap) =>
    `(setsid bash -c 'trap "" TERM HUP; sleep ${nap}; sleep ${nap}' &) ; echo up; sleep ${nap}`,
  'forks three hundred times': (nap) => `for n in $(seq 300); do sleep ${nap} & done; echo up; wait`,
  'prints forever': (nap) => `sleep ${nap} & yes`,
};

for (const [sandbox, options] of [
  ['required', sandboxed],
  ['missing', {}],
] as const) {
  test(`sandbox ${sandbox}: a cancel stops any command and leaves no process`, options, async () => {
    await restartWith(sandbox);
    for (const [what, commandOf] of Object.entries(ENDLESS)) {
      await using talk = await openConversation(daemon);
      const nap = newNap();
      const question = await start(talk, `${sandbox} ${what}`, commandOf(nap));
      question.answer.catch(() => undefined); // cancelled
      await talk.until('tool_output_chunk');
      assert.notDeepEqual(await commandLinesWith(nap), [], what);
      const { dropped } = await talk.client.call('workstream.cancel', { wsId: talk.wsId });
      assert.deepEqual(dropped.stoppedTools, ['bash'], what);
      assert.deepEqual(await commandLinesWith(nap), [], what);
      await talk.ended(question);
      const { runs } = await talk.agree();
      assert.deepEqual(
        runs.map(({ run }) => run.status),
        ['cancelled'],
        what,
      );
    }
  });
}

/** A process that has left its parent, group and session, and ignores signals. */
const DAEMON = 'becomes a daemon';

/** Lets a command start a daemon process, then kills Headgate's daemon. */
async function dieBeside(sandbox: 'required' | 'missing'): Promise<string> {
  await restartWith(sandbox);
  await using talk = await openConversation(daemon);
  const nap = newNap();
  const question = await start(talk, `${sandbox}, killed`, ENDLESS[DAEMON]?.(nap) ?? '');
  question.answer.catch(() => undefined); // the connection is lost
  await talk.until('tool_output_chunk');
  await daemon.kill9();
  return nap;
}

test('with the sandbox no process survives the kill of the daemon', sandboxed, async () => {
  const nap = await dieBeside('required');
  // The kernel ends them with a delay.
  for (let tries = 0; tries < 300 && (await commandLinesWith(nap)).length > 0; tries += 1) await pause(100);
  assert.deepEqual(await commandLinesWith(nap), []);
});

test('without the sandbox no process survives it either, at the latest until the next start accepts requests', async () => {
  const nap = await dieBeside('missing');
  for (let tries = 0; tries < 50 && (await commandLinesWith(nap)).length > 0; tries += 1) await pause(100);
  await daemon.restart();
  assert.deepEqual(await commandLinesWith(nap), []);
});
