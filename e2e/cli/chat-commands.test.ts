import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { has, isQuiet, openChat, withoutTimes } from '../support/clients/chat-terminal.ts';
import { openTerminal } from '../support/clients/terminal.ts';
import { openStage } from '../support/daemon/stage.ts';
import { fail, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

type Chat = Awaited<ReturnType<typeof openChat>>;

/** Types a line, and waits until its answer is complete. */
async function ask(chat: Chat, line: string, answer: string): Promise<string[]> {
  chat.type(`${line}\r`);
  return chat.until((rows) => has(answer)(rows) && isQuiet(rows), answer);
}

test('/effort and /model are completed with Tab, and show and set what applies', async () => {
  await using chat = await openChat(daemon);
  await ask(chat, '/effort', 'Effort: medium');
  chat.type('/effort h');
  await chat.until(has('  high'), 'the suggestion');
  chat.type('\t\r');
  await chat.until((rows) => has('Effort: high')(rows) && isQuiet(rows), 'the effort');
  const client = await daemon.client();
  const { snapshot } = await client.call('workstream.get', { wsId: chat.wsId });
  assert.equal(snapshot.effort, 'high');
  await ask(chat, '/effort extreme', 'Unknown effort "extreme". Usage: /effort [low | medium | high]');

  const alias = snapshot.workstream.modelAlias;
  chat.type('/model\r');
  await chat.until(has(`▸ ${alias}  openai-compatible/`), 'the list of models');
  chat.type('\x1b');
  await chat.until(isQuiet, 'the prompt again');
  chat.type('/model ');
  await chat.until((seen) => seen.some((row) => row.startsWith(`  ${alias}  `)), 'the models');
  chat.type('\t');
  await chat.until((seen) => seen.at(-1) === `› /model ${alias}`, 'the completed line');
  chat.type('\r');
  await chat.until(has(`Model: ${alias}`), 'the choice');
});

/** What the conversation has now. */
async function saidIn({ wsId }: Chat): Promise<(string | null)[]> {
  const { messages } = await (await daemon.client()).call('workstream.history', { wsId });
  return messages.map(({ content }) => content);
}

test('/messages numbers the messages, and /fork, /retry, /edit and /remove accept the numbers', async () => {
  await using chat = await openChat(daemon);
  model.when('tulip', say('Red.'));
  await ask(chat, 'a tulip', 'Red.');
  model.when('poison', fail(400, { message: 'no such thing' }));
  await ask(chat, 'poison', '(not answered, and no longer sent to the model)');
  model.when('daisy', say('White.'));
  await ask(chat, 'a daisy', 'White.');
  const listed = await ask(chat, '/messages', '✖ not answered:  poison');
  const lines = listed.filter((row) => /^#\d/.test(row)).map((row) => row.replace(/\d\d:\d\d/, 'HH:MM'));
  assert.deepEqual(lines, ['#1  HH:MM  a tulip', '#3  HH:MM  ✖ not answered:  poison', '#4  HH:MM  a daisy']);

  await ask(chat, '/fork #1 tulips', 'The conversation was copied to tulips');
  const client = await daemon.client();
  const copy = (await client.call('workstream.list', {})).workstreams.find(({ name }) => name === 'tulips');
  const { messages } = await client.call('workstream.history', { wsId: copy?.wsId ?? '' });
  assert.deepEqual(
    messages.map(({ content }) => content),
    ['a tulip', 'Red.'],
  );

  const before = await saidIn(chat);
  await ask(chat, '/edit #2 a rose', 'Message 2 is not a message of a person.');
  await ask(chat, '/retry #9', 'This conversation has no message 9.');
  await ask(chat, '/remove #4', 'Message 4 has not failed.');
  assert.deepEqual(await saidIn(chat), before);

  model.when('poison', say('Harmless now.'));
  await ask(chat, '/retry #3', 'Harmless now.');
  assert.deepEqual(await saidIn(chat), ['a tulip', 'Red.', 'poison', 'Harmless now.']);
  model.when('rose', say('Pink.'));
  await ask(chat, '/edit #1 a rose', 'Pink.');
  assert.deepEqual(await saidIn(chat), ['a rose', 'Pink.']);
});

test('messages and answers have their times, and answers what they took, also after the chat was reopened', async () => {
  const shape = (rows: string[]) => {
    const from = rows.findIndex((row) => row.startsWith('› a clock'));
    const shown = rows.slice(from, from + 4).map((row) => row.replaceAll(/\d\d:\d\d/g, 'HH:MM'));
    return shown.map((row) => row.replace(/ · [\d.]+ m?s · \S+ · [\d,]+ tokens$/, ' · COST'));
  };
  const expected = ['› a clock · HH:MM', '', 'Tick.', 'HH:MM · COST'];
  await using chat = await openChat(daemon);
  model.when('clock', say('Tick.'));
  const rows = await ask(chat, 'a clock', 'Tick.');
  assert.deepEqual(shape(rows), expected);
  await using again = openTerminal({ args: ['chat', '--ws', chat.wsId], env: { HEADGATE_HOME: daemon.home } });
  assert.deepEqual(shape(await again.until(has('Tick.'), 'the history')), expected);
  assert.deepEqual(withoutTimes(shape(rows).map((row) => row.replaceAll('HH:MM', '12:34'))), [
    '› a clock',
    '',
    'Tick.',
  ]);
});

test('/copy sends the Markdown of an answer to the clipboard; over pipes it is an error', async () => {
  await using chat = await openChat(daemon);
  model.when('loud', say('It is **bold**.'));
  await ask(chat, 'say it loud', 'It is bold.');
  model.when('soft', say('It is *soft*.'));
  await ask(chat, 'say it soft', 'It is soft.');
  await ask(chat, '/copy', 'The last answer (13 bytes) was sent to the clipboard of the terminal.');
  assert.equal(chat.clipboard(), 'It is *soft*.');
  await ask(chat, '/copy 2', 'Answer 2 from the end (15 bytes)');
  assert.equal(chat.clipboard(), 'It is **bold**.');
  chat.type('/copy 3\r');
  await chat.until(has('There are fewer than 3 answers.'), 'the refusal');
  assert.equal(chat.clipboard(), 'It is **bold**.');
  await chat.until(isQuiet, 'an empty prompt');

  const piped = await overPipes(chat.wsId, '/messages 1\n/copy\n');
  assert.match(piped.stdout, /^#3 {2}\d\d:\d\d {2}say it soft\n$/);
  assert.match(piped.stderr, /^headgate: \/copy needs a terminal, but stdin or stdout is a pipe or a file\./);
  assert.equal(piped.code, 2);
});

async function overPipes(wsId: string, input: string) {
  const child = spawn(process.execPath, ['bin/headgate.js', 'chat', '--ws', wsId], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { PATH: process.env.PATH, HEADGATE_HOME: daemon.home },
  });
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { stdout, stderr, code: await closed };
}

test('/import makes a workstream from an exported file, and names its id', async () => {
  await using chat = await openChat(daemon);
  model.when('seed', say('A bean.'));
  await ask(chat, 'a seed', 'A bean.');
  const file = path.join(daemon.home, 'seed.json');
  await ask(chat, `/export ${file}`, 'The conversation was written to');
  const rows = await ask(chat, `/import ${file}`, 'Imported 2 messages as');
  const [wsId = ''] = /(?<=--ws )[0-9a-f]{32}/.exec(rows.join('')) ?? [];
  const { messages } = await (await daemon.client()).call('workstream.history', { wsId });
  assert.deepEqual(
    messages.map(({ content }) => content),
    ['a seed', 'A bean.'],
  );
  chat.type('/import /nowhere/at.all\r');
  await chat.until(has('/nowhere/at.all cannot be read: it does not exist'), 'the refusal');
});

test('/summary shows what the model reads in place of earlier messages, also in a reopened chat', async () => {
  await using chat = await openChat(daemon);
  await ask(chat, '/summary', '(No messages have been summarized.');
  model.onRequest(({ messages }) => {
    if (JSON.stringify(messages[0]).includes('You summarize')) return say('Three *trees* were named.');
    return JSON.stringify(messages.at(-1)).includes('tree') ? say(`${'Well. '.repeat(200)}Noted.`) : undefined;
  });
  for (const [index, plant] of ['oak', 'elm', 'ash'].entries()) {
    chat.type(`the ${plant} tree\r`);
    await chat.until((rows) => rows.filter((row) => row.endsWith('Noted.')).length > index && isQuiet(rows), plant);
  }
  await ask(chat, '/compact', 'summarized for the model; /summary shows the text');
  await ask(chat, '/summary', 'Three trees were named.');
  await using again = openTerminal({ args: ['chat', '--ws', chat.wsId], env: { HEADGATE_HOME: daemon.home } });
  await again.until(
    (rows) => has('summarized for the model; /summary shows the text')(rows) && rows.at(-1) === '›',
    'the history',
  );
  again.type('/summary\r');
  const rows = await again.until(has('Three trees were named.'), 'the summary');
  assert.ok(
    rows.some((row) => /^Summary of \d messages, /.test(row)),
    rows.join('\n'),
  );
});
