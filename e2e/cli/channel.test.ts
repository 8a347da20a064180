import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { startTelegramServer } from '../support/channels/telegram-server.ts';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { say } from '../support/model/scripted-steps.ts';

const TOKEN = '4242:scripted-bot-token-for-tests';

test('the lists of headgate channel are empty without a chat service, and say so', async () => {
  await using daemon = await startDaemon();
  const run = (...words: string[]) => runHeadgate(['channel', ...words], { HEADGATE_HOME: daemon.home });
  const lists = [
    [[], /^No chat service is set up\./],
    [['senders'], /^Nobody has asked to write yet\./],
    [['logs'], /^Nothing has been sent to a chat yet\./],
  ] as const;
  for (const [words, says] of lists) {
    const { code, stdout, stderr } = await run(...words);
    assert.deepEqual([code, stdout], [0, '']);
    assert.match(stderr, says);
  }
  assert.deepEqual(JSON.parse((await run('senders', '--json')).stdout), []);
});

test('headgate channel refuses what it does not know: 1 for a code or name, 2 for wrong words', async () => {
  await using daemon = await startDaemon();
  const cases = [
    [['pair', 'AAAAA-22222'], 1, /Unknown code/],
    [['revoke', 'nobody'], 1, /Unknown sender "nobody"/],
    [['restore', '77'], 0, /^Nothing changed: 77 is not revoked on telegram\./],
    [['logs', '--limit', '0'], 2, /--limit must be a number from 1 to 500/],
    [['dance'], 2, /unknown command 'dance'/],
  ] as const;
  for (const [words, expected, says] of cases) {
    const { code, stdout, stderr } = await runHeadgate(['channel', ...words], { HEADGATE_HOME: daemon.home });
    assert.deepEqual([code, stdout, stderr.split('\n').length], [expected, '', 2], `${words}: ${stderr}`);
    assert.match(stderr, says);
  }
});

test('headgate channel pairs a person by the code of the chat, shows what was sent, and revokes by name', async () => {
  await using telegram = await startTelegramServer({ token: TOKEN });
  const model = await startScriptedModel();
  await using daemon = await startDaemon({
    model: model.url,
    config: { channels: { telegram: { botToken: TOKEN, apiRoot: telegram.apiRoot } } },
  });
  const run = (...words: string[]) => runHeadgate(['channel', ...words], { HEADGATE_HOME: daemon.home });
  const eve = telegram.person({ name: 'Eve', id: 666 });
  eve.says('let me in');
  const [code = ''] = /[A-Z0-9]{5}-[A-Z0-9]{5}/.exec((await eve.chat.next()).text) ?? [];
  const paired = await run('pair', code.toLowerCase());
  assert.deepEqual([paired.code, paired.stderr], [0, 'Approved: Eve (666) may now write on telegram.\n']);
  model.when('hello', say('Welcome.'));
  eve.says('hello');
  await eve.chat.until(({ text }) => text === 'Welcome.');
  assert.match((await run('list')).stdout, /^CHANNEL .*\ntelegram {2}polling /);
  assert.match((await run('senders')).stdout, /\ntelegram {2}666 +Eve +approved /);
  const again = await run('pair', code);
  assert.equal(again.code, 1, 'a code counts once');
  await daemon.stop();
  await daemon.restart();
  const [sent] = JSON.parse((await run('logs', '--json')).stdout);
  assert.deepEqual([sent.channel, sent.to, sent.state], ['telegram', '666', 'accepted']);
  assert.equal((await run('revoke', 'Eve')).stderr, 'Revoked: 666 may no longer write on telegram.\n');
  assert.match((await run('senders')).stdout, / revoked /);
  assert.match((await run('restore', 'Eve')).stderr, /^Restored: 666 gets a code/);
  await model.close();
});

test('headgate channel login stores a token that Telegram accepts, and nothing shows it again', async () => {
  await using telegram = await startTelegramServer({ token: TOKEN });
  const config = { channels: { telegram: { botTokenEnv: 'NO_SUCH_VARIABLE', apiRoot: telegram.apiRoot } } };
  await using daemon = await startDaemon({ config });
  const file = path.join(daemon.home, 'config.json');
  const run = (words: string[], input = '') =>
    runHeadgate(['channel', ...words], { HEADGATE_HOME: daemon.home }, { input });
  const before = await readFile(file, 'utf8');
  assert.deepEqual([(await run(['test'])).code, (await run(['login'])).code], [1, 2], 'there is no token');
  const wrong = await run(['login'], '4242:another-token-of-nobody\n');
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /Telegram does not accept this token/);
  assert.doesNotMatch(wrong.stderr, /another-token/);
  assert.equal(await readFile(file, 'utf8'), before, 'nothing was stored');
  const stored = await run(['login'], `${TOKEN}\n`);
  assert.deepEqual([stored.code, stored.stdout], [0, '']);
  const { channels } = JSON.parse(await readFile(file, 'utf8'));
  assert.deepEqual(channels, { telegram: { apiRoot: telegram.apiRoot, botToken: TOKEN } });
  const shown = [stored, await run(['test']), await run(['list', '--json'])];
  assert.deepEqual(
    shown.map(({ code }) => code),
    [0, 0, 0],
  );
  const settings = await (await daemon.client()).call('config.get', {});
  assert.doesNotMatch(JSON.stringify([shown, settings]), /scripted-bot-token/);
  telegram.person({ name: 'Eve', id: 666 }).says('let me in');
  await telegram.untilAcknowledged();
});
