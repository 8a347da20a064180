import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import { tempDir } from '../../src/testing/temp-store.ts';
import { has, isQuiet, openChat, STARTLED_MS, withoutTimes } from '../support/clients/chat-terminal.ts';
import { openStage } from '../support/daemon/stage.ts';
import { pause } from '../support/deadline.ts';
import { fail, say, useTokens } from '../support/model/scripted-steps.ts';

const folder = tempDir();
after(() => folder[Symbol.dispose]());
const { model, daemon } = await openStage({ args: ['--workdir', folder.path] });

type Chat = Awaited<ReturnType<typeof openChat>>;

/** Types a line, and waits until its answer is complete. */
async function ask(chat: Chat, line: string, answer: string): Promise<string[]> {
  chat.type(`${line}\r`);
  return chat.until((rows) => has(answer)(rows) && isQuiet(rows), answer);
}

/** What the conversation has now. */
async function saidIn({ wsId }: Chat): Promise<(string | null)[]> {
  const { messages } = await (await daemon.client()).call('workstream.history', { wsId });
  return messages.map(({ content }) => content);
}

test('/retry, /edit, /rewind and /remove take back what they say, and the screen shows where', async () => {
  await using chat = await openChat(daemon);
  model.when('colour', say('Red.'));
  await ask(chat, 'a colour', 'Red.');
  model.when('colour', say('Blue.'));
  const retried = await ask(chat, '/retry', 'Blue.');
  const cut = retried.findIndex((row) => row.includes('the last message again'));
  assert.ok(cut > retried.indexOf('Red.') && cut < retried.indexOf('Blue.'), retried.join('\n'));
  assert.deepEqual(await saidIn(chat), ['a colour', 'Blue.']);

  model.when('number', say('Seven.'));
  const edited = await ask(chat, '/edit a number', 'Seven.');
  assert.ok(has('in place of an earlier message')(edited) && withoutTimes(edited).includes('› a number'));
  assert.ok(!has('from another client')(edited));
  assert.deepEqual(await saidIn(chat), ['a number', 'Seven.']);

  model.when('poison', fail(400, { message: 'no such thing' }));
  await ask(chat, 'poison', '(not answered, and no longer sent to the model)');
  await ask(chat, '/remove', 'the failed message was removed');
  assert.deepEqual(await saidIn(chat), ['a number', 'Seven.']);
  await ask(chat, '/remove', 'No message of this conversation has failed.');

  await ask(chat, '/rewind 1', '2 messages were taken back. Files were not changed.');
  assert.deepEqual(await saidIn(chat), []);
  await ask(chat, '/rewind 1', 'This conversation has no message of a person yet.');
});

test('/fork continues in a copy, and /export writes the conversation as Markdown', async () => {
  await using chat = await openChat(daemon);
  model.when('fable', say('A *fox*.'));
  await ask(chat, 'a fable', 'A fox.');
  await ask(chat, '/fork fable-copy', 'The conversation was copied to fable-copy');
  const client = await daemon.client();
  const { workstreams } = await client.call('workstream.list', {});
  const copy = workstreams.find(({ name }) => name === 'fable-copy');
  const { messages } = await client.call('workstream.history', { wsId: copy?.wsId ?? '' });
  assert.deepEqual(
    messages.map(({ content }) => content),
    ['a fable', 'A *fox*.'],
  );
  const file = path.join(folder.path, 'fable.md');
  await ask(chat, `/export ${file}`, 'The conversation was written to');
  assert.match(await readFile(file, 'utf8'), /a fable[\s\S]*A \*fox\*\./);
  await ask(chat, '/export', 'Usage: /export FILE');
});

test('a budget set by /budget asks in the terminal when it is used up: n stops, y spends more', async () => {
  await using chat = await openChat(daemon);
  model.when('expensive', [useTokens({ prompt: 490_000, completion: 10_000 }), say('Costly.')]);
  await ask(chat, 'expensive', 'Costly.');
  await ask(chat, '/budget', 'No budget holds for this workstream. /budget 200000 or /budget $2 sets one.');
  chat.type('/budget a lot\r');
  await chat.until(has('Usage: /budget'), 'how it is used');
  chat.type('\x03');
  await ask(chat, '/budget 500,000', 'The budget of this workstream (500,000 tokens): 500,000 tokens used.');
  model.when('one more', say('Cheap.'));
  chat.type('one more\r');
  const rows = await chat.until(has('y spend more · n stop'), 'the question');
  assert.ok(has('is used up: 500')(rows), rows.join('\n'));
  await pause(STARTLED_MS);
  chat.type('n');
  await chat.until(
    (seen) => has('Stopped at the budget')(seen) && seen.at(-1) === '›' && !has('y spend more')(seen.slice(-4)),
    'the end',
  );
  assert.ok(!has('Cheap.')(chat.rows()));
  chat.type('one more, please\r');
  await chat.until((seen) => has('y spend more · n stop')(seen.slice(-4)), 'the question again');
  await pause(STARTLED_MS);
  chat.type('y');
  await chat.until((seen) => has('Cheap.')(seen) && isQuiet(seen), 'the answer');
});

test('instructions of a folder that is not trusted are asked about in the terminal, and the answer counts', async () => {
  const system = () => String(model.requests.at(-1)?.body.messages[0]?.content);
  for (const [key, word] of [
    ['y', 'Used'],
    ['n', 'Not used'],
  ] as const) {
    const workdir = path.join(folder.path, word.replace(' ', '-'));
    await mkdir(workdir);
    await writeFile(path.join(workdir, 'AGENTS.md'), 'Answer in rhymes.');
    await using chat = await openChat(daemon, { workdir });
    model.when('hello', say('Hi there.'));
    chat.type('hello\r');
    const rows = await chat.until(has('y follow them · n ignore them'), 'the question');
    assert.ok(has('AGENTS.md')(rows) && has('Answer in rhymes.')(rows), rows.join('\n'));
    await pause(STARTLED_MS);
    chat.type(key);
    const end = await chat.until((seen) => has('Hi there.')(seen) && isQuiet(seen), 'the answer');
    assert.ok(has(`${word}: instructions`)(end), end.join('\n'));
    assert.equal(system().includes('Answer in rhymes.'), key === 'y');
  }
});
