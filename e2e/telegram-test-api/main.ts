import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempDisposable } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { closeServer, listen } from '../../src/listen.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { fillGaps } from './fill-gaps.ts';

const HELP = `npm run telegram-test-api

A second opinion about Telegram: a person talks to a daemon through the telegram-test-api package, which others wrote from the
documentation of the Bot API. It is installed from the npm registry into a temporary folder, because it brings 90 packages.
`;

const PACKAGE = 'telegram-test-api@4.2.1';
const TOKEN = '4242:second-opinion-of-the-bot-0123456';
const ADA = 101;
const PATIENCE_MS = 60_000;

/** What this test uses of the package. */
interface TestApi {
  start(): Promise<void>;
  stop(): Promise<unknown>;
  getClient(token: string, options: object): Person;
}

interface Person {
  makeMessage(text: string): object;
  sendMessage(message: object): Promise<unknown>;
  makeCallbackQuery(data: string, options: object): object;
  sendCallback(query: object): Promise<unknown>;
  /** Waits for messages that were not read yet. */
  getUpdates(): Promise<{ result: Arrived[] }>;
}

interface Arrived {
  messageId: number;
  message: { text: string; reply_markup?: { inline_keyboard?: { text: string; callback_data: string }[][] } };
}

const { values } = parseArgs({ options: { help: { type: 'boolean', default: false } } });
const print = (text: string) => process.stdout.write(text);

if (values.help) print(HELP);
else await talk();

async function talk(): Promise<void> {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-test-api-'));
  const server = await openTestApi(folder.path);
  await using model = await startScriptedModel();
  model.when('hello', say('Hello, Ada.'));
  model.when('look', callTools({ name: 'bash', arguments: { command: 'echo seen | tee seen' } }), say('Looked.'));
  model.when('again', say('I am back.'));
  const telegram = { botToken: TOKEN, apiRoot: server.root, allowFrom: [ADA], approvers: [ADA] };
  await using daemon = await startDaemon({ model: model.url, config: { channels: { telegram } } });
  const { person } = server;
  const told: string[] = [];
  const until = async (fits: (text: string) => boolean): Promise<Arrived> => {
    for (;;) {
      const { result } = await person.getUpdates();
      told.push(...result.map(({ message }) => message.text));
      const found = result.find(({ message }) => fits(message.text));
      if (found) return found;
    }
  };

  await person.sendMessage(person.makeMessage('hello'));
  await until((text) => text === 'Hello, Ada.');
  print('✔ a message is answered\n');

  await person.sendMessage(person.makeMessage('look'));
  const { messageId, message } = await until((text) => text.includes('May I do this?'));
  const approve = message.reply_markup?.inline_keyboard?.flat().find(({ text }) => text.includes('Approve'));
  assert.ok(approve, 'the question has no button to approve');
  const place = { message_id: messageId, chat: { id: ADA, type: 'private' } };
  await person.sendCallback(person.makeCallbackQuery(approve.callback_data, { message: place }));
  await until((text) => text === 'Looked.');
  print('✔ a button decides a question\n');

  await daemon.kill9();
  await person.sendMessage(person.makeMessage('again'));
  await daemon.restart();
  await until((text) => text === 'I am back.');
  for (const text of ['Hello, Ada.', 'Looked.', 'I am back.'])
    assert.equal(told.filter((one) => one === text).length, 1, `${text} came more than once`);
  print('✔ a message that came while the daemon was away is answered, and none twice\n');
  await server.stop();
}

async function openTestApi(folder: string): Promise<{ root: string; person: Person; stop(): Promise<void> }> {
  const install = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', PACKAGE];
  await promisify(execFile)('npm', install);
  const Server: new (config: object) => TestApi = createRequire(path.join(folder, 'index.js'))('telegram-test-api');
  const port = await freePort();
  const server = new Server({ port, host: '127.0.0.1' });
  await server.start();
  const before = await fillGaps(`http://127.0.0.1:${port}`);
  const about = { userId: ADA, chatId: ADA, firstName: 'Ada', timeout: PATIENCE_MS, interval: 50 };
  return {
    root: before.root,
    person: server.getClient(TOKEN, about),
    async stop() {
      await before.close();
      await server.stop();
    },
  };
}

/** The package cannot tell on which port it listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  await closeServer(server);
  return port;
}
